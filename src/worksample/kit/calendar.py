"""A reader of calendar events (iCalendar, RFC 5545), limited to the fields that graders need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

_LINES = 2_000
"""Maximum number of lines that are read of one event file; further lines are ignored."""
_STAMP = re.compile(r"(\d{8})(?:T(\d{6})(Z?))?")


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """A calendar event. Times without a time zone, or with a named time zone, are read as UTC. A whole-day event begins
    at midnight.
    """

    uid: str
    title: str
    begins: datetime
    ends: datetime
    place: str = ""
    text: str = ""
    with_: tuple[str, ...] = ()
    """Addresses of the invited people, without the prefix `mailto:`."""


def read_event(text: str) -> CalendarEvent | None:
    """Return the first event of an iCalendar text. Returns None if the first event has no valid start time, or if the
    text contains no event.
    """
    fields: dict[str, str] = {}
    invited: list[str] = []
    inside = False
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines()[:_LINES]:
        name, _, value = line.partition(":")
        name = name.partition(";")[0].upper()
        if line.upper() in ("BEGIN:VEVENT", "END:VEVENT"):
            if inside:
                break
            inside = True
        elif inside and name == "ATTENDEE":
            invited.append(value.removeprefix("mailto:"))
        elif inside:
            fields.setdefault(name, value)
    begins = _moment(fields.get("DTSTART", ""))
    if begins is None:
        return None
    return CalendarEvent(
        uid=fields.get("UID", ""),
        title=_plain(fields.get("SUMMARY", "")),
        begins=begins,
        ends=_moment(fields.get("DTEND", "")) or begins,
        place=_plain(fields.get("LOCATION", "")),
        text=_plain(fields.get("DESCRIPTION", "")),
        with_=tuple(invited),
    )


def _moment(text: str) -> datetime | None:
    found = _STAMP.fullmatch(text.strip())
    if found is None:
        return None
    try:
        return datetime.strptime(found[1] + (found[2] or "000000"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nN" else found[1], text)
