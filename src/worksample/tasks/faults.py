"""All faults of a package or a suite, collected before anything is said."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from worksample.errors import ManifestError


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: in which file, at which key, what is wrong, and what is allowed there."""

    file: str
    key: str
    problem: str
    allowed: str = ""

    def __str__(self) -> str:
        at = f"{self.file}: {self.key}" if self.key else self.file
        return f"{at}: {self.problem}" + (f" (allowed: {self.allowed})" if self.allowed else "")


class FaultyPackage(ManifestError):
    """A package or suite with faults; `faults` lists them, in the order of the files."""

    def __init__(self, faults: Sequence[Fault], *, where: str, next: str) -> None:
        count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
        super().__init__(f"{count}\n" + "\n".join(f"  {f}" for f in faults), where=where, next=next)
        self.faults = tuple(faults)


class Faults:
    """Takes faults while files are read."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def add(self, file: str, key: str, problem: str, allowed: str | Iterable[str] = "") -> None:
        """Notes a fault; `allowed` in words, or the values that are."""
        words = allowed if isinstance(allowed, str) else ", ".join(allowed)
        self.found.append(Fault(file, key, problem, words))

    def check(self, where: str, next: str) -> None:
        """FaultyPackage where any was noted."""
        if self.found:
            raise FaultyPackage(self.found, where=where, next=next)


def nearest(word: str, words: Iterable[str]) -> str:
    """`; did you mean X?` where a word is near another, else nothing."""
    near = difflib.get_close_matches(word, list(words), 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
