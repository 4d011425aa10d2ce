"""The company's clock: it begins with the company's `today` and advances by messages, not by itself.

A trial never waits for it. Each message that a colleague hears takes a minute; if the answer takes time, or comes from
somebody who is not at work yet, the clock advances to that moment before anything else is heard. So the same messages
in the same order always have the same times.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import Field

from worksample.files.config_files import AllowedText
from worksample.records import Frozen

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MESSAGE = timedelta(minutes=1)
"""Time that a message takes."""
_FURTHEST = 400
"""Days within which the next working time is searched."""

Hour = Annotated[
    str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), AllowedText('a time of the day such as "09:00", in UTC')
]


class WorkingHours(Frozen):
    """The working hours of a colleague, by the company's clock (UTC)."""

    days: Annotated[
        tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...], AllowedText(", ".join(DAYS))
    ] = ("mon", "tue", "wed", "thu", "fri")
    begin: Hour = "09:00"
    end: Hour = "17:00"
    away: Annotated[tuple[date, ...], AllowedText("a list of dates")] = ()
    """Whole days off."""

    def works(self, day: date) -> bool:
        """Return whether a day is a working day."""
        return DAYS[day.weekday()] in self.days and day not in self.away

    def next(self, at: datetime) -> datetime | None:
        """Return the first moment of work that is not before `at`; None if there is none within a year."""
        begin, end = time.fromisoformat(self.begin), time.fromisoformat(self.end)
        for number in range(_FURTHEST):
            day = at.date() + timedelta(days=number)
            opens, closes = datetime.combine(day, begin, UTC), datetime.combine(day, end, UTC)
            if self.works(day) and at < closes:
                return max(at, opens)
        return None


@dataclass
class CompanyClock:
    """The current time in the company."""

    now: datetime

    def hear(self) -> datetime:
        """Return the time of a message, and advance by a minute."""
        at = self.now
        self.now += MESSAGE
        return at

    def advance_to(self, moment: datetime) -> None:
        """Advance to a moment; never go back."""
        self.now = max(self.now, moment)


def answer_time(hours: WorkingHours | None, delay: float, heard: datetime) -> datetime | None:
    """Return when a colleague with these hours, who takes `delay` minutes, answers; None for never."""
    begun = heard if hours is None else hours.next(heard)
    if begun is None:
        return None
    ready = begun + timedelta(minutes=delay)
    return ready if hours is None else hours.next(ready)


def time_stamp(at: datetime) -> str:
    """Return the prefix of a message that is sent later than it was asked for."""
    return f"[{at:%A}, {at.day} {at:%B}, {at:%H:%M}]"
