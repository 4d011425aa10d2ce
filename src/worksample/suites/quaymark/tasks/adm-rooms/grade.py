"""The week's bookings, and who agreed to what, in which order."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.workplace import Message, Workplace

FILE = "office/rooms/bookings-2026-w12.csv"
WANTED = {
    "maren": ("tern", "14:00", "16:00"),
    "imani": ("gull", "13:00", "17:00"),
    "grace": ("heron", "10:00", "12:00"),
}


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    kept_lines = case.ref_json("kept.json")

    @cache
    def lines() -> list[str]:
        text = office.file(FILE)[:100_000].decode("utf-8-sig", "replace")
        return [line.strip() for line in text.splitlines()[1:] if line.strip()]

    @cache
    def fresh() -> list[tuple[str, ...]]:
        """What is no line of before that stays: room, day, from, to, who."""
        left = list(lines())
        for line in kept_lines:
            if line in left:
                left.remove(line)
        return [tuple(cell.strip().casefold() for cell in line.split(";"))[:5] for line in left]

    def put() -> datetime | None:
        return office.requested("files", "PUT", f"/{FILE}", by="jules")

    def agreed_at() -> datetime | None:
        grace, imani = (
            office.told("jules", "grace", "Heron", "I take it"),
            office.told("jules", "imani", "Gull suits me"),
        )
        return imani if grace is not None and imani is not None and grace <= imani else None

    def asked() -> Check:
        marks = {"imani": "nine people", "grace": "10:00 to 12:00", "viktor": "strike it"}
        at = {who: office.answered("jules", who, mark, news=_disposes) for who, mark in marks.items()}
        known = [one for one in at.values() if one is not None]
        missing = [who for who, one in at.items() if one is None]
        return Check(
            len(known) / 3, f"not asked: {', '.join(missing)}" if missing else "", max(known) if not missing else None
        )

    def agreed() -> Check:
        return Check.of(agreed_at() is not None, "Imani agreed to nothing, or before Grace did", at=agreed_at())

    def plan() -> Check:
        wrong = [
            who
            for who, (room, begins, ends) in WANTED.items()
            if (room, "thu", begins, ends, who) not in [tuple(_hour(cell) for cell in row) for row in fresh()]
        ]
        return Check(
            1 - len(wrong) / 3,
            f"without a right line: {', '.join(wrong)}" if wrong else "",
            put() if not wrong else None,
        )

    def kept() -> Check:
        if plan().fraction == 0:
            return Check(0.0, "nothing was booked")
        gone = [line for line in set(kept_lines) if lines().count(line) != kept_lines.count(line)]
        others = [row for row in fresh() if len(row) < 5 or row[4] not in WANTED]
        return Check.of(
            not gone and not others and len(fresh()) == 3,
            f"changed: {'; '.join(gone)[:200] or 'none'}; left of what was given up, or new: {len(fresh()) - 3}",
            at=put(),
        )

    def told() -> Check:
        for one in office.direct("jules", "maren"):
            said = one.stated.casefold()
            if (
                one.by == "jules"
                and "tern" in said
                and re.search(r"thursday|19", said)
                and re.search(r"14[:.h]|2 ?p\.?m", said)
            ):
                return Check.of(True, at=one.at)
        return Check(0.0, "Maren was not told room, day and time")

    def closed() -> Check:
        one = next(
            (issue for issue in office.issues("office") if issue.subject.startswith("A room for the board")), None
        )
        for note in one.notes if one is not None and one.status in ("Resolved", "Closed") else ():
            said = note.text.casefold()
            if note.by == "jules" and all(word in said for word in ("imani", "gull", "grace", "heron")):
                return Check.of(True, at=note.at)
        return Check(0.0, "no comment says who has moved where, or the issue is not Resolved")

    return checkpoints(case, asked=asked, agreed=agreed, plan=plan, kept=kept, told=told, closed=closed)


def _disposes(one: Message) -> bool:
    """Speaks of a room and asks nothing: whoever only hears what becomes of theirs, and objects or gives in, was not
    asked."""
    said = one.text.casefold()
    asks = re.search(r"\?|\b(what|which|whether|why|how|(could|can|would|do) you|let me know|tell me|say)\b", said)
    return not asks and bool(re.search(r"\b(tern|gull|heron|plover|wren|room|line|book(ed|ing)?)\b", said))


def _hour(cell: str) -> str:
    """`13h`, `13.00` and `13:00` alike."""
    found = re.fullmatch(r"(\d{1,2})(?:h|[:.](\d\d))", cell)
    return f"{int(found[1])}:{found[2] or '00'}" if found else cell
