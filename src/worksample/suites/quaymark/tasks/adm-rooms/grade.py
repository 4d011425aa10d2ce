# ruff: noqa: E501
"""The week's bookings, and who agreed to what, in which order."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import check_closing, find_statement
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
        at = find_statement(
            office.direct("jules", "maren"), "jules",
            lambda text: (
                "tern" in text and re.search(r"\bthu|\b19\b|\b19(th|\.)", text)
                and re.search(r"\b14([:.h]|(?= ?[-u]| to| until))|\b2 ?(-|to|until)? ?(\d )?p\.?m|\b2 (to|until) 4", text)
            ),
            about=lambda text: re.search(r"\b(tern|gull|heron|plover|wren)\b", text),
        )  # fmt: skip
        return Check.of(at is not None, "Maren was not told room, day and time", at=at)

    def closed() -> Check:
        return check_closing(
            office, "office", "A room for the board", "jules", lambda text: _moved(text) == {"imani": "gull", "grace": "heron"},
            about=lambda text: re.search(r"\b(imani|grace)\b", text), lacks="no comment says who has moved where",
        )  # fmt: skip

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


def _moved(text: str) -> dict[str, str]:
    """Who has moved where: of the rooms that stand by a name, the one that is not what the person gave up."""
    before = {"imani": "tern", "grace": "gull"}
    found: dict[str, str] = {}
    for piece in re.split(r"[,;.\n]| and (?=imani|grace)| while ", re.sub(r"(?<=\d)[.:](?=\d)", "", text)):
        for who, old in before.items():
            rooms = re.findall(r"\b(?:gull|heron|plover|wren|tern)\b", piece)
            if who in piece and (new := [room for room in rooms if room != old]):
                found[who] = new[-1] if who not in found or found[who] == new[-1] else "several"
    return found
