"""Twenty labels over seven agents of 300 jobs, judges that pass too much: 89 to 90 % of intervals held the truth.

An outside case: each agent's mean of two or three labels was taken off before their spread was measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from worksample import metrics as m

AGENTS, JOBS, RATE = 7, 300, 0.15


def check(room: Path, request: pytest.FixtureRequest) -> None:
    for wrong in (1.0, 0.4):
        printed = held = 0
        for seed in range(100):
            found = _figure(seed, wrong)
            if found.value is None or found.low is None or found.high is None:
                # Two labels on one job: 20 labels are then of 19 projects, which correct nothing.
                assert "a corrected figure needs at least 20" in (found.reason or "")
                continue
            printed += 1
            held += found.low <= RATE <= found.high
        assert printed >= 40
        assert held >= 0.93 * printed


def _figure(seed: int, wrong: float) -> m.Estimate:
    rng = np.random.default_rng([seed, AGENTS])
    agent, job = np.repeat(np.arange(AGENTS), JOBS), np.tile(np.arange(JOBS), AGENTS)
    people = rng.random(len(job)) < RATE
    judge = people | (rng.random(len(job)) < wrong)
    drawn = m.draw_labels(agent, 20, seed=seed).to_numpy()
    told = [float(passes) if has else None for passes, has in zip(people, drawn, strict=True)]
    return m.correct_by_labels(m.Sample(judge.astype(float), told, job, agent), m.LabelKind.RATE).figure
