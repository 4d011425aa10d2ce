"""Elo's bootstrap: by influences if valid, else by fitting every resample."""

from __future__ import annotations

import numpy as np
import pytest

from worksample import metrics as m
from worksample.metrics.ratings.bradley_terry import Pairs, fit
from worksample.metrics.ratings.elo import POINTS
from worksample.metrics.ratings.elo_intervals import Refit, resample_strengths
from worksample.metrics.uncertainty.bootstrap import weights
from worksample.metrics.uncertainty.intervals import expanded_level, percentiles

HOW = m.Resampling(1000)
QUICK = m.Resampling(100)


def drawn(agents: int, comparisons: int, projects: int = 240, spread: float = 1.0) -> m.PairSums:
    """Comparisons of agents of different strength on projects of different difficulty, a fifth of them ties."""
    rng = np.random.default_rng(8)
    strength, hard = rng.normal(0, spread, agents), rng.normal(0, 0.7, (projects, agents))
    first = rng.integers(0, agents, comparisons)
    second = (first + rng.integers(1, agents, comparisons)) % agents
    project = rng.integers(0, projects, comparisons)
    gap = strength[first] - strength[second] + hard[project, first] - hard[project, second]
    won = (rng.random(comparisons) < 1 / (1 + np.exp(-gap))).astype(float)
    won[rng.random(comparisons) < 0.2] = 0.5
    names = np.array(["human", *(f"a{k}" for k in range(1, agents))], dtype=object)
    return m.pair_sums(project, names[first], names[second], won)


def refit(sums: m.PairSums, by_count: bool, ridge: float = 0.0) -> Refit:
    pairs = Pairs(len(sums.agents), sums.first, sums.second)
    preference, total = sums.totals(by_count=by_count)
    base = fit(pairs, preference, total if by_count else np.ones(sums.pairs), ridge=ridge)
    return Refit(sums, pairs, base, by_count, ridge, sums.agents.index("human"))


@pytest.mark.parametrize("by_count", [False, True])
@pytest.mark.parametrize(("ridge", "agents", "comparisons"), [(0.0, 12, 20_000), (0.5, 8, 12_000)])
def test_dense_comparisons_use_influences(by_count: bool, ridge: float, agents: int, comparisons: int) -> None:
    """No end is off by more than a twentieth of its interval's width."""
    one = refit(drawn(agents, comparisons), by_count, ridge)
    quick, linear = resample_strengths(one, HOW)
    assert linear
    full = one.fit_resamples(np.concatenate(list(weights(one.sums.projects, HOW))))
    for place in range(agents):
        if place != one.anchor:
            ends = [
                percentiles((x[place] - x[one.anchor]) * POINTS, expanded_level(0.95, one.sums.projects))
                for x in (quick, full)
            ]
            (low, high), (least, most) = ends
            assert None not in (low, high, least, most)
            width = most - least  # type: ignore[operator]
            assert max(abs(low - least), abs(high - most)) < width / 20  # type: ignore[operator]


@pytest.mark.parametrize(
    "sums",
    [drawn(12, 400), drawn(12, 20_000, projects=40), drawn(6, 300, spread=4.0), drawn(50, 10_000)],
    ids=["few comparisons", "few projects", "agents that seldom win", "thin pairs"],
)
def test_sparse_comparisons_fit_every_resample(sums: m.PairSums) -> None:
    found = m.elo_ratings(sums, m.EloOptions(part=True), m.Resampling(300))
    methods = {e.method for e in found.ratings.values() if e.level is not None}
    assert methods == {f"bootstrap over {sums.projects} projects (300)"}


def test_method_is_reported() -> None:
    sums = drawn(8, 12_000)
    assert m.elo_ratings(sums).ratings["a1"].method == "bootstrap over 240 projects (1000), by influences"
    assert m.elo_ratings(sums, how=m.Resampling(100)).ratings["a1"].method == "bootstrap over 240 projects (100)"


def test_influence_of_a_project_matches_leaving_it_out() -> None:
    """The derivative by the weight of a project, against fits with a little more and a little less of it."""
    one = refit(drawn(5, 3_000, projects=60), by_count=True)
    up, down = np.ones((2, 1, 60))
    up[0, 7] += 1e-3
    down[0, 7] -= 1e-3
    by_fit = (one.fit_resamples(up) - one.fit_resamples(down)) / 2e-3
    by_influence = (one.approximate_resamples(up) - one.approximate_resamples(down)) / 2e-3
    assert by_influence == pytest.approx(by_fit, abs=2e-4)


@pytest.mark.parametrize("projects", [5, 40, 240])
def test_all_tied_projects_leave_unseen_ends_open(projects: int) -> None:
    """An agent that wins one project in so many, and ties the rest, is as good as never seen to win: the end lies at
    least there, where 39 ties and a win gave next to no width.
    """
    often = 1 - 0.025 ** (1 / projects)
    for won in ([0.5] * projects, [0.5] * (projects - 1) + [1.0]):
        found = m.elo_ratings(m.pair_sums(range(projects), ["a"] * projects, ["human"] * projects, won)).ratings["a"]
        assert found.low is not None
        assert found.high is not None
        reach = 400 * np.log10((1 + often) / (1 - often))
        assert found.high >= 1000 + 0.999 * reach
        assert found.low <= 1000 - 0.7 * reach
        assert any("nearly equal outcomes" in note for note in found.notes)


def test_difference_of_always_tied_agents_has_a_width() -> None:
    rows = [(p, one, two, 0.5) for p in range(40) for one, two in (("a", "human"), ("b", "human"), ("a", "b"))]
    table = m.elo_ratings(m.pair_sums(*zip(*rows, strict=True)), how=QUICK)
    gap = table.difference("a", "b")
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low == pytest.approx(-gap.high)
    assert gap.high > 15
    assert len(gap.notes) == len(set(gap.notes))


def test_usual_comparisons_keep_the_interval_of_their_resamples() -> None:
    sums = drawn(6, 3000)
    for estimate in m.elo_ratings(sums, m.EloOptions(interval="sandwich")).ratings.values():
        assert not any("nearly equal outcomes" in note for note in estimate.notes)


def test_error_of_influences_is_shown_beside_the_rating() -> None:
    """By the same fits: the most that a single resample is off, in points, is said, and it is true of the others."""
    one = refit(drawn(12, 20_000), by_count=False)
    quick, off = resample_strengths(one, HOW)
    assert off is not None
    full = one.fit_resamples(np.concatenate(list(weights(one.sums.projects, HOW))))
    apart = np.abs((quick - quick[one.anchor]) - (full - full[one.anchor])) * POINTS
    assert np.quantile(apart.max(axis=0), 0.5) < off * POINTS < 3 * apart.max()
    table = m.elo_ratings(drawn(12, 20_000), how=HOW)
    assert all(any(f"is at most {off * POINTS:.1f} points" in note for note in e.notes) for e in table.ratings.values())
    fitted = m.elo_ratings(drawn(12, 300), m.EloOptions(part=True), QUICK)
    assert not any("influence" in note for e in fitted.ratings.values() for note in e.notes)
