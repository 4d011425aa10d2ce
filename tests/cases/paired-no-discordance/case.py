"""Two agents that rarely differ: one fails a few tasks that the other passes, and never the other way round.

An outside case: the interval held the difference in 85 to 88 % of studies, and "not worse" was claimed in 12 to 15 %
at the very margin. Here every number of lost tasks is asked, and weighs what it is likely.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from worksample import metrics as m


def check(room: Path, request: pytest.FixtureRequest) -> None:
    for tasks, worse in ((20, 0.1), (40, 0.05), (80, 0.025), (175, 0.0113), (240, 0.0083), (322, 0.0062)):
        for sign in (-1, 1):
            missed, claimed = _study(tasks, worse, sign)
            assert missed <= 0.05, (tasks, worse, sign, missed)
            assert claimed <= 0.0255, (tasks, worse, sign, claimed)


def _study(tasks: int, worse: float, sign: int) -> tuple[float, float]:
    """How often the interval misses, and how often the worse one is called not worse."""
    missed = claimed = 0.0
    for lost in range(11):
        chance = math.comb(tasks, lost) * worse**lost * (1 - worse) ** (tasks - lost)
        one = np.ones(tasks)
        two = np.where(np.arange(tasks) < lost, 0.0, 1.0)
        sides = [m.TrialColumns(score, np.arange(tasks)) for score in (one, two)]
        found = m.paired_difference(*(sides if sign < 0 else sides[::-1]))
        low, high = found.difference.low, found.difference.high
        assert low is not None
        assert high is not None
        missed += chance * (not low <= sign * worse <= high)
        if sign < 0:
            value = found.not_worse(worse).value
            assert value is not None
            claimed += chance * (value >= 0.975)
            assert (value >= 0.975) == (low > -worse)
    return missed, claimed
