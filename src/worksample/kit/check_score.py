"""The `Check`: which share of a part of the work is right, and why."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from worksample.errors import Cause, GraderError
from worksample.records.pass_rules import is_full

REASON_LIMIT = 4_000
"""Maximum number of characters of a check's reason; a longer reason is cut."""


def fraction_of(value: Any, what: str) -> float:
    """Return `value` as a number from 0 to 1. Raises GraderError (`grader.malformed`) if `value` is NaN, infinite,
    outside that range, or not a number.

    what: the name of the value in the error message.
    """
    if hasattr(value, "item") and not isinstance(value, (int, float)):
        value = value.item()
    if not isinstance(value, (int, float)):
        raise GraderError(
            f"{what}: a value of type {type(value).__name__} is not a number from 0 to 1",
            cause=Cause.GRADER_MALFORMED,
            next="pass such a number, or True or False",
        )
    share = float(value)
    if not math.isfinite(share) or not -1e-9 <= share <= 1 + 1e-9:
        raise GraderError(
            f"{what}: {share} is not between 0 and 1",
            cause=Cause.GRADER_MALFORMED,
            next="pass the share of the points that was reached",
        )
    return min(1.0, max(0.0, share))


def shorten(reason: str) -> str:
    """Cut a reason to `REASON_LIMIT` characters and mark the cut.

    Lone surrogates are escaped, because no record can store them. They occur in file names and JSON that an agent
    wrote.
    """
    reason = reason.encode("utf-8", "backslashreplace").decode()
    return reason if len(reason) <= REASON_LIMIT else reason[: REASON_LIMIT - 12] + " ... (cut)"


@dataclass(frozen=True, slots=True)
class Check:
    """The share of a part of the work that is right, from 0 to 1, and the reason. A share outside that range and NaN
    raise GraderError.

    `at` is the time at which the work earned the share, such as the time of a message or request. The time must have a
    time zone. The report shows the trajectory step of that time.
    """

    fraction: float
    reason: str = ""
    at: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "fraction", fraction_of(self.fraction, "a check's fraction"))
        object.__setattr__(self, "reason", shorten(str(self.reason)))
        if self.at is not None:
            object.__setattr__(self, "at", _in_utc(self.at))

    @property
    def passed(self) -> bool:
        return bool(is_full(self.fraction))

    @classmethod
    def of(cls, passed: bool, reason: str = "", at: datetime | None = None) -> Check:
        """Return a check with the share 1 if `passed` is true, otherwise 0.

        The reason is stored only if the check failed. The time `at` is stored only if the check passed.
        """
        return cls(1.0, "", at) if passed else cls(0.0, reason)


def every(checks: Iterable[Check]) -> Check:
    """Return a check with the smallest share of several checks, and with the reasons of the checks below 1."""
    found = list(checks)
    if not found:
        raise GraderError("every() was given no checks", cause=Cause.GRADER_MALFORMED, next="pass one check or more")
    failed = [c.reason for c in found if not c.passed and c.reason]
    return Check(min(c.fraction for c in found), "; ".join(failed), _last(found))


def average(checks: Iterable[Check]) -> Check:
    """Return a check with the mean share of several checks, and with the reasons of the checks below 1."""
    found = list(checks)
    if not found:
        raise GraderError("average() was given no checks", cause=Cause.GRADER_MALFORMED, next="pass one check or more")
    failed = [c.reason for c in found if not c.passed and c.reason]
    return Check(math.fsum(c.fraction for c in found) / len(found), "; ".join(failed), _last(found))


def _last(checks: Iterable[Check]) -> datetime | None:
    """Return the latest time at which a check above 0 was earned. Returns None if a check above 0 has no time."""
    earned = [c.at for c in checks if c.fraction > 0]
    known = [at for at in earned if at is not None]
    return max(known) if known and len(known) == len(earned) else None


def _in_utc(at: datetime) -> datetime:
    if not isinstance(at, datetime) or at.tzinfo is None:
        raise GraderError(
            f"the time of a check, {at!r}, has no time zone",
            cause=Cause.GRADER_MALFORMED,
            next="pass a datetime with tzinfo, such as UTC",
        )
    return at.astimezone(UTC)
