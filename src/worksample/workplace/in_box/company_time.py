"""The company's time in the services' box. A file holds the seconds by which it differs from the machine's.

The clock begins at the company's `today` when the services start, runs as any clock does, and is moved on when the
company's day goes on (`worksample.workplace.colleagues.company_clock`). Programs in C read it through libfaketime.
Python and Ruby read it themselves, because libfaketime breaks Python's `time.sleep` and cannot shift files' times.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from .ports import RUN

SHIFT = RUN / "clock"
STAMP = "workplace.json"
LINE = 1 << 16
FRESH = 0.2
"""Seconds for which a process keeps what it read from the file."""


class CompanyTime:
    """The clock of the services' box, as the supervisor sets it."""

    def begin(self, state: Path) -> None:
        """Set the clock to the beginning of a state: the company's `today`, or the last request in the state's log. A
        state of an older version names no day, and its services keep the machine's time.
        """
        today = _first_moment(state)
        if today is None:
            SHIFT.unlink(missing_ok=True)
        else:
            self.set(today)

    def advance(self, moment: float) -> bool:
        """Set the clock to a later moment (seconds since 1970). Return whether the moment was later."""
        later = SHIFT.exists() and moment > time.time() + _read_shift()
        if later:
            self.set(moment)
        return later

    def set(self, moment: float) -> None:
        """Set the clock to a moment."""
        fresh = SHIFT.with_suffix(".new")
        fresh.write_text(f"{moment - time.time():+.3f}\n", encoding="ascii")
        fresh.replace(SHIFT)


def _first_moment(state: Path) -> float | None:
    try:
        today = str(json.loads((state / STAMP).read_bytes())["today"])
    except (FileNotFoundError, KeyError):
        return None
    found = [datetime.fromisoformat(today)]
    log = state / "log" / "access.jsonl"
    if log.is_file():
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LINE))
            for line in file.read().splitlines()[-1:]:
                found.append(datetime.fromisoformat(json.loads(line)["at"]))
    return max(at if at.tzinfo is not None else at.replace(tzinfo=UTC) for at in found).timestamp()


def _read_shift() -> float:
    try:
        return float(SHIFT.read_text(encoding="ascii"))
    except FileNotFoundError:
        return 0.0


class _Shift:
    """The seconds in the file, read a few times a second."""

    def __init__(self) -> None:
        self._read, self._value = -FRESH, 0.0

    def __call__(self) -> float:
        if time.monotonic() - self._read >= FRESH:
            self._value, self._read = _read_shift(), time.monotonic()
        return self._value


_shift = _Shift()


def company_now() -> datetime:
    """Return the company's time."""
    return datetime.now(UTC) + timedelta(seconds=_shift())


def preload_variables() -> dict[str, str]:
    """Return the environment variables by which a program in C has the company's time."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    # The monotonic clock stays the machine's: waits must not end when the company's time is moved on.
    words = {"FAKETIME_TIMESTAMP_FILE": str(SHIFT), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return {"LD_PRELOAD": str(found[0]), **words} if found else {}


def shift_process() -> None:
    """Give this process the company's time, and see files' times in it, too. The kernel stamps files with the machine's
    time, and so do the people who upload them.
    """
    real = time.time
    time.time = lambda: real() + _shift()
    for name in ("stat", "lstat", "fstat"):
        setattr(os, name, _shift_times(getattr(os, name)))


def _shift_times(call: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
    def work(*words: Any, **named: Any) -> os.stat_result:
        found, by = call(*words, **named), _shift()
        seconds = {f"st_{one}": getattr(found, f"st_{one}") + by for one in ("atime", "mtime", "ctime")}
        exact = {f"{key}_ns": getattr(found, f"{key}_ns") + int(by * 1e9) for key in seconds}
        whole = [int(value) for value in seconds.values()]
        more = {"st_blksize": found.st_blksize, "st_blocks": found.st_blocks, "st_rdev": found.st_rdev}
        return os.stat_result((*tuple(found)[:7], *whole), {**seconds, **exact, **more})

    return work
