"""People's labels alone over several agents: [0.005, 0.745] where all labels as one sample give [0.057, 0.298].

An outside case: every stratum had an interval of its own. Labels drawn in proportion to strata are worth hardly
less than those of one stratum.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from worksample import metrics as m


def check(room: Path, request: pytest.FixtureRequest) -> None:
    for labels, agents in ((20, 7), (40, 7), (100, 7), (100, 3), (100, 1)):
        jobs = 300 if agents == 1 else 100
        agent, job = np.repeat(np.arange(agents), jobs), np.tile(np.arange(jobs), agents)
        people = (np.random.default_rng(0).random(agents * jobs) < 0.15).astype(float)
        drawn = m.draw_labels(agent, labels, seed=1).to_numpy()
        told = [float(passes) if has else None for passes, has in zip(people, drawn, strict=True)]
        found = m.correct_by_labels(m.Sample(people, told, job, agent), m.LabelKind.RATE).labels
        low, high = m.exact(int(people[drawn].sum()), labels)
        assert found.low is not None
        assert found.high is not None
        assert found.low <= 0.15 <= found.high
        assert high - low - 1e-6 <= found.high - found.low <= 1.3 * (high - low)
        assert ("effective labels" in (found.method or "")) == (agents > 1)
