"""Many agents at once: against plain loops, statsmodels' Holm, ties and strangers."""

from __future__ import annotations

import numpy as np
import pytest

from worksample import metrics as m
from worksample.errors import UsageError


def agents(tasks: int, *lifts: float, seed: int = 0) -> dict[str, m.TrialColumns]:
    rng = np.random.default_rng(seed)
    chance = rng.beta(1, 2, tasks)
    return {
        f"a{k}": m.TrialColumns((rng.random(tasks) < chance + lift).astype(float), np.arange(tasks))
        for k, lift in enumerate(lifts)
    }


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_holm_matches_statsmodels(size):
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(size).beta(0.3, 2, size)
    p[-1] = p[0]
    assert m.holm(p.tolist()) == pytest.approx(list(multipletests(p, method="holm")[1]))


def test_ranks_lie_between_surely_better_and_surely_worse():
    found = m.rank_agents(agents(400, 0.0, 0.02, 0.5))
    assert found.ranks["a2"].value == found.ranks["a2"].high == 1
    assert (found.ranks["a0"].low, found.ranks["a0"].high) == (2, 3)
    assert found.best["a2"].value == 1 and sum(e.value for e in found.best.values()) == pytest.approx(1)
    pair = next(p for p in found.pairs if (p.first, p.second) == ("a0", "a2"))
    assert pair.p < 1e-6 and pair.holm == pytest.approx(3 * pair.p, rel=1e-6) and pair.ahead > 0.999


def test_p_agrees_with_the_interval():
    for seed in range(30):
        for pair in m.rank_agents(agents(30, 0.0, 0.2, seed=seed), m.Resampling(2)).pairs:
            outside = pair.difference.low > 0 or pair.difference.high < 0
            assert (pair.p < 0.05) == outside
            assert pair.holm == pair.p, "a single pair needs no correction"


def test_ties_share_their_rank_and_strangers_have_no_interval():
    same = {"x": m.TrialColumns([1.0, 0.0, 1.0], [1, 2, 3]), "y": m.TrialColumns([1.0, 0.0, 1.0], [1, 2, 3])}
    found = m.rank_agents(same)
    assert [e.format_value() for e in found.ranks.values()] == ["1.5", "1.5"]
    assert [e.value for e in found.best.values()] == [0.5, 0.5]
    apart = m.rank_agents({"x": m.TrialColumns([1.0, 0.0], [1, 2]), "y": m.TrialColumns([0.0, 0.0], [3, 4])})
    assert apart.pairs[0].p is None and apart.ranks["x"].low is None
    empty = m.rank_agents({"x": m.TrialColumns([1.0, 0.0], [1, 2]), "y": m.TrialColumns([None, None], [1, 2])})
    assert "graded" in empty.ranks["y"].reason


def test_ten_thousand_arms_are_refused():
    one = m.TrialColumns([1.0], [1])
    with pytest.raises(UsageError, match=r"49,995,000 pairs"):
        m.rank_agents({f"arm{k}": one for k in range(10_000)})


def test_not_worse_by_a_margin_is_tested():
    """Where the interval at 95 % lies above -margin, and nowhere else."""
    for seed in range(20):
        first, second = agents(200, 0.1, 0.1, seed=seed).values()
        found = m.paired_difference(first, second)
        for margin in (0.01, 0.05, 0.1, 0.2):
            shown = found.not_worse(margin).value >= 0.975
            assert shown == (found.difference.low > -margin)
    with pytest.raises(UsageError, match="margin"):
        found.not_worse(0.0)
