"""A plan of few tasks at a low expected rate.

An outside case: at 2.5 % expected and 40 tasks the plan promised that 16.4 points are seen, of two agents around a
middle of 2.5 %, who differ by 5 at most. The expected rate is the first agent's now, and what is promised is possible,
and seen.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaincinv

from worksample import metrics as m
from worksample.errors import UsageError


def check(room: Path, request: pytest.FixtureRequest) -> None:
    for rate in (0.025, 0.05):
        variances = m.planned_variances(rate)
        assert m.detectable(variances, 5) is None
        for tasks in (10, 40, 240):
            points = m.detectable(variances, tasks)
            assert points is not None
            assert rate + points <= 1
            assert 0.7 < _seen(rate, points, tasks) < 0.9, (rate, tasks, points)
        with pytest.raises(UsageError, match="is impossible if the first agent passes"):
            m.power_of(variances, 40, aim=m.Aim(points=0.99))
        with pytest.raises(UsageError, match="is impossible if the first agent passes"):
            m.tasks_needed(variances, m.Aim(points=0.99))


def _seen(rate: float, points: float, tasks: int, studies: int = 300) -> float:
    """The share of studies that find the difference, drawn as the plan assumes."""
    found = 0
    for seed in range(studies):
        rng = np.random.default_rng([seed, tasks])
        easy = rng.random(tasks)
        other = np.where(rng.random(tasks) < 0.5, easy, rng.random(tasks))
        one, two = (
            rng.random(tasks) < betaincinv(mean, 1 - mean, at) for mean, at in ((rate, easy), (rate + points, other))
        )
        found += _differs(tasks, int((two & ~one).sum()), int((one & ~two).sum()))
    return found / studies


@cache
def _differs(tasks: int, gained: int, lost: int) -> bool:
    """Whether two agents are told apart who differ so: studies that come out alike are tested once."""
    task = np.arange(tasks)
    one, two = (task < lost, (task >= lost) & (task < lost + gained))
    p = m.paired_difference(m.TrialColumns(one.astype(float), task), m.TrialColumns(two.astype(float), task)).p
    return p is not None and p <= 0.05
