"""The clock that colleagues live by: it begins with the company's `today` and goes on by what is said, not by itself.

A trial never waits for it. Each message that a colleague hears takes a minute; where the answer takes a while, or comes
from somebody who is not at work yet, the clock goes on to that moment before anything else is heard. So the same
messages in the same order are always said at the same times.
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
"""That a message takes."""
_FURTHEST = 400
"""Days in which somebody is looked for at work."""

Hour = Annotated[
    str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), AllowedText('a time of the day such as "09:00", in UTC')
]


class WorkingHours(Frozen):
    """When a colleague works, by the company's clock (UTC)."""

    days: Annotated[
        tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...], AllowedText(", ".join(DAYS))
    ] = ("mon", "tue", "wed", "thu", "fri")
    begin: Hour = "09:00"
    end: Hour = "17:00"
    away: Annotated[tuple[date, ...], AllowedText("a list of dates")] = ()
    """Whole days off."""

    def works(self, day: date) -> bool:
        """Whether on this day at all."""
        return DAYS[day.weekday()] in self.days and day not in self.away

    def next(self, at: datetime) -> datetime | None:
        """The first moment at work that is not before `at`; None where there is none within a year."""
        begin, end = time.fromisoformat(self.begin), time.fromisoformat(self.end)
        for number in range(_FURTHEST):
            day = at.date() + timedelta(days=number)
            opens, closes = datetime.combine(day, begin, UTC), datetime.combine(day, end, UTC)
            if self.works(day) and at < closes:
                return max(at, opens)
        return None


@dataclass
class CompanyClock:
    """What time it is in the company."""

    now: datetime

    def heard(self) -> datetime:
        """When a message is heard; the next one is a minute later."""
        at = self.now
        self.now += MESSAGE
        return at

    def until(self, moment: datetime) -> None:
        """Go on to a moment; never back."""
        self.now = max(self.now, moment)


def answered_at(hours: WorkingHours | None, delay: float, heard: datetime) -> datetime | None:
    """When who works these hours, and takes `delay` minutes, answers; None where never."""
    begun = heard if hours is None else hours.next(heard)
    if begun is None:
        return None
    ready = begun + timedelta(minutes=delay)
    return ready if hours is None else hours.next(ready)


def stamp(at: datetime) -> str:
    """How a moment stands before what is said later than it was asked."""
    return f"[{at:%A}, {at.day} {at:%B}, {at:%H:%M}]"
