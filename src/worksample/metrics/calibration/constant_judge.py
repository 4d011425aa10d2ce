"""A judge that says the same of everything, and how many labels it took to be sure that it does not look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from worksample.metrics.columns import Column, floats, same_length
from worksample.metrics.uncertainty.intervals import check_level

from .sample import LEAST


@dataclass(frozen=True, slots=True)
class OneAnswer:
    """The answer that a judge gives to all it is asked. `named` where that is beyond chance."""

    answer: float
    rows: int
    labels: int
    """People's answers that had come in when it was named, else all there are."""
    otherwise: int
    """Of those, the ones that say the opposite."""
    named: bool

    @property
    def said(self) -> str:
        """In words, for a report."""
        what = "passes" if self.answer >= 0.5 else "fails"
        return (
            f"{what} all {self.rows} that it was asked, among them {self.otherwise} on which people said otherwise, "
            f"seen with {self.labels} labels"
        )


def one_answer_of(
    judge: Column, people: Column, *, threshold: float = 0.8, least: int = LEAST, level: float = 0.99
) -> OneAnswer | None:
    """Whether a judge gives one answer to all rows; None where it gives several, or fewer than `least` in all.

    Named where a judge that agrees with the other half of people's answers at the rate of `threshold` would miss so
    many in succession less often than 1 - `level`. Rows in the order in which labels came.
    """
    check_level(level)
    same_length(judge=judge, people=people)
    (given, answered), (said, asked) = floats("judge", judge, low=0, high=1), floats("people", people, low=0, high=1)
    own = given[answered]
    if len(own) < least or np.ptp(own) > 0:
        return None
    both = answered & asked
    apart = np.cumsum((said[both] >= 0.5) != (own[0] >= 0.5))
    chance = (1 - threshold) ** apart
    enough = np.flatnonzero(chance < 1 - level)
    at = int(enough[0]) + 1 if len(enough) else len(apart)
    return OneAnswer(float(own[0]), len(own), at, int(apart[at - 1]) if at else 0, bool(len(enough)))
