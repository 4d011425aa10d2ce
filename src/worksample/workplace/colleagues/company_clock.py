"""The clock of a simulated company. It starts at the company's `today`. It advances only when messages are sent, never
by itself.

A trial never waits for this clock. Each message that a colleague receives takes one minute. If the answer takes longer,
or if the colleague is not at work yet, the clock advances to the time of the answer before the next message is
received. So the same messages in the same order always have the same times.
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
"""Time by which a message advances the company's clock."""
_FURTHEST = 400
"""Maximum days ahead in which the next working time is searched."""

Hour = Annotated[
    str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), AllowedText('a time of the day such as "09:00", in UTC')
]


class WorkingHours(Frozen):
    """The working hours of a colleague, on the company's clock (UTC)."""

    days: Annotated[
        tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...], AllowedText(", ".join(DAYS))
    ] = ("mon", "tue", "wed", "thu", "fri")
    begin: Hour = "09:00"
    end: Hour = "17:00"
    away: Annotated[tuple[date, ...], AllowedText("a list of dates")] = ()
    """Dates on which the colleague does not work at all."""

    def works(self, day: date) -> bool:
        """Return whether the colleague works on a day."""
        return DAYS[day.weekday()] in self.days and day not in self.away

    def next(self, at: datetime) -> datetime | None:
        """Return the first moment at or after `at` at which the colleague works, or None if there is no such moment
        within about a year.
        """
        begin, end = time.fromisoformat(self.begin), time.fromisoformat(self.end)
        for number in range(_FURTHEST):
            day = at.date() + timedelta(days=number)
            opens, closes = datetime.combine(day, begin, UTC), datetime.combine(day, end, UTC)
            if self.works(day) and at < closes:
                return max(at, opens)
        return None


@dataclass
class CompanyClock:
    """The current time in a simulated company."""

    now: datetime

    def hear(self) -> datetime:
        """Return the time of a message that a colleague receives, and advance the clock by one minute."""
        at = self.now
        self.now += MESSAGE
        return at

    def advance_to(self, moment: datetime) -> None:
        """Advance the clock to a moment. If the moment is in the past, do nothing."""
        self.now = max(self.now, moment)


def answer_time(hours: WorkingHours | None, delay: float, heard: datetime) -> datetime | None:
    """Return the time at which a colleague answers a message received at `heard`, or None if the colleague never
    answers. `hours` are the colleague's working hours; `delay` is in minutes.
    """
    begun = heard if hours is None else hours.next(heard)
    if begun is None:
        return None
    ready = begun + timedelta(minutes=delay)
    return ready if hours is None else hours.next(ready)


def time_stamp(at: datetime) -> str:
    """Return the prefix with the company's time for a message that answers with a delay."""
    return f"[{at:%A}, {at.day} {at:%B}, {at:%H:%M}]"
