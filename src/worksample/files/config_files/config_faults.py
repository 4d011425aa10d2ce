"""Faults of a file, or of a folder of files, collected so that all are reported together."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice

from pydantic_core import PydanticCustomError

from worksample.errors import ManifestError

SHOWN = 200
"""Number of faults that a message lists; `FaultyManifest.faults` has all."""


SUGGESTING = 0.5
"""Seconds of processor time that one reading may spend on suggestions."""
CANDIDATES = 1000
"""Maximum number of words that are searched for a suggestion."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: its file and key, what is wrong, and what is allowed."""

    file: str
    key: str
    problem: str
    allowed: str = ""

    def __str__(self) -> str:
        at = f"{self.file}: {self.key}" if self.key else self.file
        return f"{at}: {self.problem}" + (f" (allowed: {self.allowed})" if self.allowed else "")


class FaultyManifest(ManifestError):
    """An error for a file, package or suite with faults; `faults` lists them in the order of the files."""

    def __init__(self, faults: Sequence[Fault], *, where: str, next: str) -> None:
        if len(faults) == 1 and faults[0].file == where:
            # The caller prints the place of the error.
            super().__init__(str(faults[0])[:2000].removeprefix(f"{where}: "), where=where, next=next)
            self.faults = tuple(faults)
            return
        count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
        lines = [f"  {str(f)[:2000]}" for f in faults[:SHOWN]]
        lines += [f"  and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
        super().__init__("\n".join([count, *lines]), where=where, next=next)
        self.faults = tuple(faults)


class _Patience:
    """Budget of processor time for suggestions. In a file with a hundred thousand unknown words only the first ones get
    suggestions.
    """

    def __init__(self) -> None:
        self._left = SUGGESTING

    def take(self, search: Callable[[], list[str]]) -> list[str]:
        """Return what `search` finds, or nothing if the budget is spent."""
        if self._left <= 0:
            return []
        began = time.thread_time()
        try:
            return search()
        finally:
            self._left -= time.thread_time() - began


_patience: ContextVar[_Patience | None] = ContextVar("worksample_suggestions", default=None)
"""The budget of the latest reading."""


class Faults:
    """A collector of faults while files are read."""

    def __init__(self) -> None:
        _patience.set(_Patience())
        self.found: list[Fault] = []
        self._places: set[tuple[str, str]] = set()

    def add(self, file: str, key: str, problem: str, allowed: str | Iterable[str] = "") -> None:
        """Add a fault; allowed: the allowed values, as words or as a list."""
        words = allowed if isinstance(allowed, str) else ", ".join(allowed)
        self.found.append(Fault(file, key, problem, words))
        self._places.add((file, key))

    def has(self, file: str, key: str) -> bool:
        """Return whether a fault was found at exactly this key."""
        return (file, key) in self._places

    def check(self, where: str, next: str) -> None:
        """Raise FaultyManifest if any fault was found."""
        if self.found:
            raise FaultyManifest(self.found, where=where, next=next)


def nearest(word: str, words: Iterable[str]) -> str:
    """Return `; did you mean X?` if a word is near another; "" if none is near or there are too many words."""
    known = [one[:100] for one in islice(words, CANDIDATES)]
    patience = _patience.get() or _Patience()
    near = patience.take(lambda: difflib.get_close_matches(word[:100], known, 1, 0.6))
    return f"; did you mean {near[0]!r}?" if near else ""


def exact_fault(problem: str, allowed: str = "") -> PydanticCustomError:
    """Return an error for a validator whose fault has exactly this text."""
    return PydanticCustomError("told", "{problem}", {"problem": problem, "allowed": allowed})


def value_fault(problem: str = "is not allowed") -> PydanticCustomError:
    """Return an error for a validator whose fault shows the value, and the allowed values of the field's type."""
    return PydanticCustomError("unfit", "{problem}", {"problem": problem})
