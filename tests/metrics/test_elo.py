"""Elo against choix, its own definitions, and unidentifiable cases."""

import math
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.metrics.ratings.connectivity import reach

QUICK = m.Resampling(resamples=100)
NONE = m.EloOptions(interval="none")


def simulated(agents=8, comparisons=2000, projects=60, seed=0, ties=0.2):
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 1, agents)
    i = rng.integers(0, agents, comparisons)
    j = (i + rng.integers(1, agents, comparisons)) % agents
    won = (rng.random(comparisons) < 1 / (1 + np.exp(strength[j] - strength[i]))).astype(float)
    won[rng.random(comparisons) < ties] = 0.5
    names = np.array(["human", *(f"agent{k}" for k in range(1, agents))], dtype=object)
    project = rng.integers(0, projects, comparisons)
    return project, names[i].tolist(), names[j].tolist(), won


def values(table):
    return {agent: e.value for agent, e in table.ratings.items()}


def by_choix(project, first, second, won, *, by_count):
    """Average to one edge per pair, then choix's ILSR on a grid of weighted wins."""
    import choix

    table = pl.DataFrame({"p": project, "a": first, "b": second, "w": won})
    swap = table["a"] > table["b"]
    table = pl.DataFrame(
        {
            "p": project,
            "a": pl.select(pl.when(swap).then(table["b"]).otherwise(table["a"])).to_series(),
            "b": pl.select(pl.when(swap).then(table["a"]).otherwise(table["b"])).to_series(),
            "w": pl.select(pl.when(swap).then(1 - table["w"]).otherwise(table["w"])).to_series(),
        }
    )
    if not by_count:
        table = table.group_by("p", "a", "b").agg(pl.col("w").mean())
    edges = table.group_by("a", "b").agg(pl.col("w").mean(), pl.len().alias("n"))
    names = sorted({*edges["a"], *edges["b"]})
    wins = np.zeros((len(names), len(names)))
    for a, b, w, n in edges.iter_rows():
        scale = n if by_count else 1
        wins[names.index(a), names.index(b)] += w * scale
        wins[names.index(b), names.index(a)] += (1 - w) * scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strength = choix.ilsr_pairwise_dense(wins, alpha=0, tol=1e-12, max_iter=1000)
    points = (strength - strength[names.index("human")]) * 400 / math.log(10) + 1000
    return dict(zip(names, points, strict=True))


@pytest.mark.parametrize("weight", ["pair", "comparison"])
@pytest.mark.parametrize("seed", range(4))
def test_ratings_match_choix(weight, seed):
    data = simulated(seed=seed)
    mine = values(m.elo_ratings(m.pair_sums(*data), m.EloOptions(weight=weight, interval="none")))
    assert mine == pytest.approx(by_choix(*data, by_count=weight == "comparison"), abs=1e-4)
    assert list(mine.values()) == sorted(mine.values(), reverse=True)
    assert mine["human"] == 1000


def test_ten_to_one_is_400_points():
    table = m.elo_ratings(
        m.pair_sums(["p"] * 11, ["a"] * 11, ["human"] * 11, [1] * 10 + [0]), m.EloOptions(weight="comparison")
    )
    assert table.ratings["a"].value == pytest.approx(1400)
    assert "one project: no interval" in table.ratings["a"].notes


def test_pair_is_averaged_over_its_projects():
    """One project with nine wins and one with a loss are one to one by pair, nine to one by comparison."""
    sums = m.pair_sums(["p"] * 9 + ["q"], ["a"] * 10, ["human"] * 10, [1] * 9 + [0])
    assert m.elo_ratings(sums, NONE).ratings["a"].value == pytest.approx(1000)
    by_count = m.elo_ratings(sums, m.EloOptions(weight="comparison", interval="none")).ratings["a"]
    assert by_count.value == pytest.approx(1000 + 400 * math.log10(9))
    assert "every comparison weighs 1" in by_count.notes


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=25)
def test_order_names_and_sides_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    project, first, second, won = simulated(agents=5, comparisons=150, seed=seed)
    base = m.elo_ratings(m.pair_sums(project, first, second, won), NONE)
    assume(base.connectivity.identifiable)
    rows = rng.permutation(150)
    flip = rng.random(150) < 0.5
    renamed = {"human": "human", "agent1": "zz", "agent2": "b", "agent3": "a", "agent4": "0"}
    one = [renamed[second[k] if flip[k] else first[k]] for k in rows]
    two = [renamed[first[k] if flip[k] else second[k]] for k in rows]
    again = m.elo_ratings(m.pair_sums(project[rows], one, two, [1 - won[k] if flip[k] else won[k] for k in rows]), NONE)
    assert values(again) == pytest.approx({renamed[a]: v for a, v in values(base).items()}, abs=1e-6)


def test_more_wins_give_more_points():
    project, first, second, won = simulated(seed=3)
    base = values(m.elo_ratings(m.pair_sums(project, first, second, won), NONE))
    better = [1.0 if a == "agent1" else 0.0 if b == "agent1" else w for a, b, w in zip(first, second, won, strict=True)]
    half = [w if k % 2 else x for k, (w, x) in enumerate(zip(won, better, strict=True))]
    assert values(m.elo_ratings(m.pair_sums(project, first, second, half), NONE))["agent1"] > base["agent1"]


def test_bootstrap_re_averages_over_projects():
    """Against a slow bootstrap that draws projects, averages again and fits with choix."""
    project, first, second, won = simulated(agents=4, comparisons=400, projects=30, seed=5)
    table = m.elo_ratings(m.pair_sums(project, first, second, won), how=m.Resampling(resamples=1500))
    rows = [np.flatnonzero(project == p) for p in range(30)]
    rng = np.random.default_rng(1)
    slow = []
    for _ in range(150):
        drawn = rng.integers(0, 30, 30)
        take = np.concatenate([rows[p] for p in drawn])
        label = np.repeat(np.arange(30), [len(rows[p]) for p in drawn])
        slow.append(by_choix(label, [first[k] for k in take], [second[k] for k in take], won[take], by_count=False))
    for agent in ("agent1", "agent2", "agent3"):
        draws = np.array([s[agent] for s in slow])
        mine = table.replicates[:, table.rated.index(agent)]
        assert mine.std() == pytest.approx(draws.std(), rel=0.2)
        assert mine.mean() == pytest.approx(draws.mean(), abs=4 * draws.std() / math.sqrt(150))


@pytest.mark.parametrize("weight", ["pair", "comparison"])
def test_preview_is_near_the_bootstrap(weight):
    sums = m.pair_sums(*simulated(comparisons=6000, projects=200, seed=2))
    full = m.elo_ratings(sums, m.EloOptions(weight=weight), m.Resampling(2000))
    preview = m.elo_ratings(sums, m.EloOptions(weight=weight, interval="sandwich"))
    for agent, estimate in full.ratings.items():
        if agent == "human":
            assert estimate.low is None and estimate.method == "fixed"
            continue
        fast = preview.ratings[agent]
        assert fast.value == estimate.value
        assert fast.high - fast.low == pytest.approx(estimate.high - estimate.low, rel=0.12)


@pytest.mark.parametrize("weight", ["pair", "comparison"])
def test_every_resample_is_fitted_to_convergence(weight):
    """Replicates solve their own likelihood equations: fitting one of them alone gives the same."""
    project, first, second, won = simulated(agents=6, comparisons=500, projects=25, seed=7)
    sums = m.pair_sums(project, first, second, won)
    how = m.Resampling(resamples=20, seed=4)
    table = m.elo_ratings(sums, m.EloOptions(weight=weight), how)
    drawn = next(m_weights(25, how))
    for k in range(20):
        copies = np.repeat(np.arange(25), drawn[k].astype(int))
        take = [np.flatnonzero(project == p) for p in copies]
        label = np.repeat(np.arange(len(copies)), [len(t) for t in take])
        rows = np.concatenate(take)
        alone = m.elo_ratings(
            m.pair_sums(label, [first[r] for r in rows], [second[r] for r in rows], won[rows]),
            m.EloOptions(weight=weight, interval="none"),
        )
        for agent, value in values(alone).items():
            assert table.replicates[k, table.rated.index(agent)] == pytest.approx(value, abs=1e-3)


def m_weights(units, how):
    from worksample.metrics.uncertainty.bootstrap import weights

    return weights(units, how)


def test_difference_between_two_agents_is_estimated():
    table = m.elo_ratings(m.pair_sums(*simulated(seed=1)), how=QUICK)
    gap = table.difference("agent1", "agent2")
    assert gap.value == pytest.approx(table.ratings["agent1"].value - table.ratings["agent2"].value)
    assert gap.low < gap.value < gap.high
    with pytest.raises(UsageError, match="no agent is called 'x'"):
        table.difference("x", "agent1")


def test_human_is_at_1000_from_verdicts():
    pairs = pl.DataFrame({"project": ["p", "q"], "first": ["a", "b"], "second": ["b", "a"], "preference": [1.0, 1.0]})
    verdicts = m.human_comparisons(["p", "q", "r", "p"], ["a", "a", "b", "b"], [1, 3, 2, 1])
    table = m.elo_ratings(m.compare_tables(pairs, verdicts), NONE)
    assert set(table.ratings) == {"a", "b", "human"}
    assert table.ratings["human"].value == 1000
    assert table.ratings["a"].counts.special["projects"] == 2
    edges = m.compare_tables(pairs, verdicts).edges()
    assert edges.filter(pl.col("second") == "human").sort("first")["preference"].to_list() == [0.5, 0.25]
    with pytest.raises(UsageError, match="the column 'preference' is missing"):
        m.compare_tables(pl.DataFrame({"first": []}))


# --- where no rating exists


def refused(rows, **options):
    project, first, second, won = zip(*rows, strict=True)
    return m.elo_ratings(m.pair_sums(project, first, second, won), m.EloOptions(**options), QUICK)


RING = [("p", "a", "b", 1), ("p", "b", "human", 1), ("p", "human", "a", 1), ("q", "a", "b", 0)]


def test_agent_that_never_wins_has_an_open_end():
    table = refused([*RING, ("p", "a", "loser", 1), ("q", "human", "loser", 1)])
    assert all(e.value is None for e in table.ratings.values())
    assert table.ratings["a"].reason == "not identifiable: loser: never wins or ties"
    assert not table.connectivity.identifiable
    part = refused([*RING, ("p", "a", "loser", 1), ("q", "human", "loser", 1)], part=True)
    assert part.ratings["loser"].value is None and "never wins or ties" in part.ratings["loser"].reason
    rest = refused(RING, interval="none")
    assert values(part)["a"] == pytest.approx(values(rest)["a"])
    assert "comparisons among the rated agents alone" in part.ratings["a"].conditional_on


def test_agent_that_never_loses_and_islands_are_reported():
    assert "champion: never loses or ties" in refused([*RING, ("p", "champion", "a", 1)]).ratings["a"].reason
    apart = refused([*RING, ("p", "x", "y", 1), ("p", "y", "x", 1)])
    assert apart.connectivity.reasons == {
        "x": "no chain of comparisons links it with the rest", "y": "no chain of comparisons links it with the rest",
    }  # fmt: skip
    chain = refused([*RING, ("p", "a", "m", 1), ("p", "m", "n", 1), ("p", "n", "m", 1)])
    assert chain.connectivity.reasons["m"] == "its group never wins or ties against any agent above it"


def test_ridge_prior_is_named():
    table = refused([*RING, ("p", "a", "loser", 1)], ridge=0.1)
    estimate = table.ratings["loser"]
    assert estimate.value < 1000
    assert any("ridge prior of precision 0.1" in note for note in estimate.notes)
    assert any("loser: never wins" in note for note in estimate.notes)
    assert "ridge prior 0.1" in estimate.conditional_on
    strong = refused(RING, ridge=1e6, interval="none")
    assert values(strong) == pytest.approx(dict.fromkeys(values(strong), 1000), abs=0.1)


def test_degenerate_tables_have_reasons():
    assert m.elo_ratings(m.pair_sums([], [], [], [])).ratings == {}
    undecided = m.elo_ratings(m.pair_sums(["p"], ["a"], ["human"], [None]))
    assert undecided.ratings["a"].value is None
    assert undecided.ratings["a"].counts.ungraded == 1
    with pytest.raises(UsageError, match="anchor 'human'"):
        m.elo_ratings(m.pair_sums(["p"], ["a"], ["b"], [0.5]))
    ties = m.elo_ratings(m.pair_sums(["p", "q"], ["a", "a"], ["b", "b"], [0.5, 0.5]), m.EloOptions(anchor=None), QUICK)
    assert values(ties) == {"a": 1000, "b": 1000}
    assert "mean at 1000" in ties.ratings["a"].conditional_on
    with pytest.raises(UsageError, match="with itself"):
        m.pair_sums(["p"], ["a"], ["a"], [1])
    with pytest.raises(UsageError, match="above 1"):
        m.pair_sums(["p"], ["a"], ["b"], [2])
    with pytest.raises(UsageError, match="ridge"):
        m.EloOptions(ridge=-1)


def test_resamples_without_a_fit_open_one_end_only():
    """The human lost one project in 40: a third of the resamples never draw it, so nothing bounds the others below."""
    rows = [(f"p{k}", "a", "human", float(k == 0)) for k in range(40)]
    rows += [(f"p{k}", "b", "a", float(k % 2)) for k in range(40)]
    table = refused(rows)
    for agent in ("a", "b"):
        estimate = table.ratings[agent]
        assert estimate.low is None and estimate.value < estimate.high < 1000
        assert any("never wins or ties" in note for note in estimate.notes)
    known = table.difference("a", "b")
    assert known.value is not None and known.low is None


@given(st.integers(2, 6), st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_connectivity_agrees_one_by_one_and_at_once(size, seed):
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(size, 1)
    preference = rng.choice([0.0, 0.5, 1.0], p=[0.45, 0.1, 0.45], size=len(first))
    agents = tuple(f"a{k}" for k in range(size))
    one = m.check_connectivity(agents, first, second, preference)
    wins = np.eye(size, dtype=bool)
    wins[first, second], wins[second, first] = preference > 0, preference < 1
    whole = np.linalg.matrix_power(wins.astype(int), size) > 0
    assert one.identifiable == whole.all()
    below, above = reach(size, (first, second), ((preference > 0)[:, None], (preference < 1)[:, None]), 0)
    assert (below[0] == whole[0]).all() and (above[0] == whole[:, 0]).all()
    assert set(one.reasons) == set(agents) - set(one.main)
    assert sorted(a for c in one.components for a in c) == sorted(agents)


def test_ten_thousand_agents_are_refused():
    """What would take days and a gigabyte a fit has its reason at once."""
    agents = [f"a{n}" for n in range(10_000)]
    table = m.elo_ratings(m.pair_sums(["p"] * 10_000, agents, ["human"] * 10_000, [0.5] * 10_000))
    assert table.ratings["a7"].reason == "10,001 agents are too many to rate: at most 1,000"
    assert table.ratings["a7"].counts.valid == 1 and table.rated == ()
