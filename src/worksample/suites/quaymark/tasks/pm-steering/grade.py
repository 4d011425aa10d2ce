"""Calendars, the log of requests and the chat say who was asked, who moved what, and when the meeting is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import find_statement
from worksample.kit.workplace import Message, Workplace

BEGINS, ENDS = datetime(2026, 3, 18, 13, tzinfo=UTC), datetime(2026, 3, 18, 14, tzinfo=UTC)
THREE = ("helena", "idris", "bram")
SAID = {"helena": "14:30", "idris": "one-to-one", "bram": "never before 10:00"}


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    as_they_were = case.ref_json("calendars.json")

    @cache
    def untouched() -> str:
        for who in (*THREE, "pavel"):
            now = [[one.title, one.begins.isoformat(), one.ends.isoformat()] for one in office.events(who)]
            if sorted(now) != sorted(as_they_were[who]):
                return f"the calendar of {who} was changed"
        return ""

    def meetings() -> list:
        return [one for one in office.events("jules") if "steering" in one.title.casefold()]

    def looked() -> Check:
        seen = {}
        for who in THREE:
            for method in ("GET", "PROPFIND", "REPORT"):
                at = office.requested("calendar", method, f"/{who}/*", by="jules")
                if at is not None:
                    seen[who] = min(at, seen.get(who, at))
        missing = [who for who in THREE if who not in seen]
        if asked().fraction == 0 and not meetings():
            return Check(0.0, "nothing followed of it that the calendars were read")
        return Check.of(not missing, f"nobody looked at {', '.join(missing)}", at=max(seen.values(), default=None))

    def asked() -> Check:
        # Who is told a day and a time, and objects, was not asked.
        found = {who: office.answered("jules", who, mark, news=_settled) for who, mark in SAID.items()}
        known = [at for at in found.values() if at is not None]
        missing = [who for who, at in found.items() if at is None]
        at = max(known) if known else None
        return Check(len(known) / 3, f"not asked: {', '.join(missing)}" if missing else "", at if not missing else None)

    def negotiated() -> Check:
        pavel, idris = office.told("jules", "pavel", "Thursday"), office.told("jules", "idris", "is free for you")
        done = pavel is not None and idris is not None and pavel <= idris
        why = "Pavel did not agree to another time, or Idris was not told of it before he moved it"
        return Check.of(done, why, at=idris)

    def slot() -> Check:
        if untouched():
            return Check(0.0, untouched())
        found = [(one.begins, one.ends) for one in meetings()]
        at = office.requested("calendar", "PUT", "/jules/calendar/*", by="jules")
        return Check.of(found == [(BEGINS, ENDS)], f"the meetings are {[str(b) for b, _ in found]}", at=at)

    def invited() -> Check:
        found = {address.partition("@")[0] for one in meetings() for address in one.with_}
        at = office.requested("calendar", "PUT", "/jules/calendar/*", by="jules")
        return Check.of(set(THREE) <= found, f"invited are {', '.join(sorted(found)) or 'nobody'}", at=at)

    def told() -> Check:
        at = {
            who: find_statement(
                office.direct("jules", who),
                "jules",
                _says_when,
                about=lambda text: "steering" in text and _HOUR.search(text),
            )
            for who in THREE
        }
        known = [one for one in at.values() if one is not None]
        missing = [who for who, one in at.items() if one is None]
        return Check(
            1 - len(missing) / 3,
            f"not told: {', '.join(missing)}" if missing else "",
            max(known) if not missing else None,
        )

    return checkpoints(case, looked=looked, asked=asked, negotiated=negotiated, slot=slot, invited=invited, told=told)


_HOUR = re.compile(r"\b\d{1,2}([:.]\d\d| ?(p|a)\.?m\b| ?h\b| uhr)|\b\d{1,2} ?(-|to) ?\d{1,2}\b")


def _says_when(text: str) -> bool:
    """Wednesday or the 18th, at 13:00."""
    day = re.search(r"\bwed|(?<!\d)18(th|\.)?(?!\d|:)|2026-03-18", text)
    hour = re.search(r"(?<!\d)13(:00|\.00| ?h\b| uhr|00 utc| ?(-|to) ?14)|(?<!\d)1(:00)? ?(p\.?m|-2 ?p|to 2 ?p)", text)
    return bool(day and hour)


def _settled(one: Message) -> bool:
    """Day and hour of the meeting, whichever, and nothing that asks for another's."""
    said = one.text.casefold()
    asks = re.search(r"\?|\b(please|could|can|would|when|which|let me know|tell me)\b", said)
    return not asks and bool(re.search(r"(?<!\d)\d{1,2}(:|\.)\d\d|(?<!\d)\d{1,2} ?([ap]\.?m|h\b|uhr)", said))
