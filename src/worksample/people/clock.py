"""Time as microseconds since 1970 in UTC, from a clock that callers can replace."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], int]
SECOND = 1_000_000
MINUTE = 60 * SECOND


def now_in_microseconds() -> int:
    """Return the machine's time. Machines that share a database should agree to within a second."""
    return time.time_ns() // 1000


def moment(micros: int) -> datetime:
    """Convert microseconds to the datetime that records hold: UTC, to the millisecond."""
    return datetime.fromtimestamp(micros // 1000 / 1000, UTC)
