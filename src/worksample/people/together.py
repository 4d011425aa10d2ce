"""Jobs that come at the same time, done at once: a transaction and its two syncs of the disk for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

J = TypeVar("J")
R = TypeVar("R")
MOST = 64
"""Jobs at once."""


@dataclass(eq=False, slots=True)
class _Place(Generic[J, R]):
    job: J
    outcome: tuple[R] | BaseException | None = None


class Together(Generic[J, R]):
    """`run`: does some jobs and returns what came of each, a result or the error that refuses it; what it raises is
    raised to all of them. Who comes first does the jobs of all who wait by then; nobody waits for others to come.
    """

    def __init__(self, run: Callable[[Sequence[J]], Sequence[R | Exception]]) -> None:
        self._run = run
        self._waiting: list[_Place[J, R]] = []
        self._door, self._turn = threading.Lock(), threading.Lock()

    def do(self, job: J) -> R:
        place: _Place[J, R] = _Place(job)
        with self._door:
            self._waiting.append(place)
        with self._turn:
            while place.outcome is None:
                self._next()
        if isinstance(place.outcome, BaseException):
            raise place.outcome
        return place.outcome[0]

    def _next(self) -> None:
        with self._door:
            batch, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        try:
            outcomes = self._run([place.job for place in batch])
        except BaseException as e:
            for place in batch:
                place.outcome = e
            raise
        for place, outcome in zip(batch, outcomes, strict=True):
            place.outcome = outcome if isinstance(outcome, Exception) else (outcome,)
