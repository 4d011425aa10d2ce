"""Dollars earned, autoflation, prices, value, deployable cost."""

from datetime import date
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import UsageError

QUICK = m.Resampling(resamples=200)
PRICES = st.lists(st.one_of(st.none(), st.integers(0, 5000)), min_size=1, max_size=20)


# --- dollars


@given(PRICES, st.data())
@settings(deadline=None, max_examples=60)
def test_dollars_match_a_plain_loop(prices, data):
    passed = data.draw(st.lists(st.sampled_from([True, False, None]), min_size=len(prices), max_size=len(prices)))
    rows = [(p, w) for p, w in zip(prices, passed, strict=True) if p is not None and w is not None]
    table = m.dollars_earned(prices, passed, how=m.Resampling(10))
    if not rows:
        assert table.earned.value is None and table.share.value is None
        return
    earned, possible = sum(p for p, w in rows if w), sum(p for p, _ in rows)
    assert (table.earned.value, table.possible.value) == (earned, possible)
    assert table.share.value == (pytest.approx(earned / possible) if possible else None)


def test_dollars_have_an_interval_and_list_exclusions():
    prices = [100.0, 200, 300, 400, None, 600]
    table = m.dollars_earned(prices, [True, False, True, False, True, None], illustrative=[False] * 3 + [True] * 3)
    assert (table.earned.value, table.possible.value) == (400, 600)
    assert table.earned.low <= 400 <= table.earned.high
    special = table.earned.counts.special
    assert (special["priced"], special["without a price"], special["illustrative"]) == (3, 1, 2)
    assert "illustrative prices left out" in table.earned.conditional_on
    asked = m.dollars_earned(prices, [True] * 6, illustrative=[False] * 3 + [True] * 3, include_illustrative=True)
    assert asked.earned.value == 1600 and "illustrative prices counted" in asked.earned.conditional_on
    assert "worth $600 are not graded" in m.dollars_earned(prices, [True] * 5 + [None]).earned.notes[0]


@given(st.floats(0.1, 100))
@settings(deadline=None, max_examples=20)
def test_dollars_scale_with_prices(factor):
    prices, passed = [100.0, 250.0, 75.5], [True, False, True]
    base = m.dollars_earned(prices, passed, how=QUICK)
    scaled = m.dollars_earned([p * factor for p in prices], passed, how=QUICK)
    assert scaled.earned.value == pytest.approx(base.earned.value * factor)
    assert scaled.earned.high == pytest.approx(base.earned.high * factor)
    assert scaled.share.value == pytest.approx(base.share.value)


def test_invalid_prices_are_refused():
    for wrong in (-1, 1e12, float("inf")):
        with pytest.raises(UsageError):
            m.dollars_earned([wrong], [True])
    assert m.dollars_earned([1e12], [True], ceiling=1e13).earned.value == 1e12
    assert m.dollars_earned([0, 0], [True, True]).share.reason == "the prices of the projects add up to 0"
    assert m.dollars_earned([None], [True]).earned.reason == "no graded project has a price"
    assert m.dollars_earned([], []).earned.reason == "nothing was planned"


def test_ranges_have_midpoints():
    assert m.midpoint([10, 5, None], [20, None, 8]).tolist() == [15, 5, 8]
    assert np.isnan(m.midpoint([None], [None]))[0]
    with pytest.raises(UsageError, match="below low"):
        m.midpoint([10], [5])


# --- autoflation


def flat(bundle, trials):
    """1 - sum(min) / sum(H) in rationals, by loops."""
    total = saved = Fraction(0)
    for project, human in bundle.items():
        verdicts = [w for p, _, w in trials if p == project]
        if human is None or (verdicts and all(w is None for w in verdicts)):
            continue
        costs = [c for p, c, w in trials if p == project and w and c is not None]
        total += human
        saved += human - min([Fraction(human), *map(Fraction, costs)])
    return saved / total if total else None


TRIAL = st.tuples(
    st.sampled_from("pqr"), st.one_of(st.none(), st.integers(0, 300)), st.sampled_from([True, True, False, None])
)


@given(
    st.fixed_dictionaries({k: st.one_of(st.none(), st.integers(0, 200)) for k in "pqr"}), st.lists(TRIAL, max_size=12)
)
@settings(deadline=None, max_examples=80)
def test_autoflation_matches_a_plain_loop(prices, trials):
    bundle = m.Bundle(list(prices), list(prices.values()))
    project, cost, passed = ([t[k] for t in trials] for k in range(3))
    found = m.measure_autoflation(bundle, project, cost, passed, how=m.Resampling(10))
    expected = flat(prices, trials)
    assert found.value == (None if expected is None else pytest.approx(float(expected)))
    assert found.value is None or 0 <= found.value <= 1


def test_autoflation_edges_are_handled():
    bundle = m.Bundle(["p", "q"], [100, 300])
    assert m.measure_autoflation(bundle, ["p"], [500], [True]).value == 0
    assert m.measure_autoflation(bundle, ["p"], [0], [True]).value == 0.25
    assert m.measure_autoflation(bundle, ["p"], [0], [False]).value == 0
    unknown = m.measure_autoflation(bundle, ["p"], [None], [True])
    assert unknown.value == 0 and "without a cost" in unknown.notes[0]
    assert m.measure_autoflation(m.Bundle(["p"], [0]), [], [], []).reason == "the bundle is worth 0"
    assert m.measure_autoflation(m.Bundle(["p"], [None]), [], [], []).reason == "no project has a price"
    invented = m.Bundle(["p", "q"], [100, 300], [False, True])
    assert m.measure_autoflation(invented, ["p", "q"], [50, 1], [True, True]).value == 0.5
    with pytest.raises(UsageError, match="not in the bundle"):
        m.measure_autoflation(bundle, ["z"], [1], [True])
    with pytest.raises(UsageError, match="twice"):
        m.measure_autoflation(m.Bundle(["p", "p"], [1, 1]), [], [], [])


def test_autoflation_over_time_never_falls():
    rng = np.random.default_rng(0)
    bundle = m.Bundle(range(40), rng.integers(50, 500, 40))
    project, cost = rng.integers(0, 40, 300), rng.integers(1, 400, 300)
    day = [date(2025, 1 + k % 12, 1) for k in range(300)]
    passed = rng.random(300) < 0.2
    curve = m.autoflation_over_time(bundle, project, cost, passed, day, how=QUICK)
    figures = [e.value for e in curve.values()]
    assert list(curve) == sorted(curve) and len(curve) == 12
    assert figures == sorted(figures)
    whole = m.measure_autoflation(bundle, project, cost, passed, how=QUICK)
    assert curve["2025-12-01"].value == whole.value
    early = passed & (np.array([d.month for d in day]) <= 3)
    assert curve["2025-03-01"].value == m.measure_autoflation(bundle, project, cost, early).value


# --- prices of calls

LIST = {
    "m": [
        m.TokenPrice(3, 15, cache_read=0.3, cache_write=3.75),
        m.TokenPrice(6, 22.5, cache_read=0.6, cache_write=7.5, above=200_000),
    ],
    "n": [m.TokenPrice(1, 2), m.TokenPrice(10, 20, since=date(2026, 1, 1))],
}


def test_each_call_is_priced_at_its_own_price():
    calls = m.Calls(
        model=["m", "m", "m", "n", "n", "x"],
        fresh=[1000, 150_000, 200_000, 1000, 1000, 5],
        output=[100, 100, 100, 100, 100, 5],
        cache_read=[0, 50_001, 0, 10, 0, 0],
        cache_write=[500, 0, 0, 0, 0, 0],
        day=[date(2025, 5, 1)] * 3 + [date(2025, 12, 31), date(2026, 1, 1), date(2026, 1, 1)],
    )
    expected = [
        (1000 * 3 + 500 * 3.75 + 100 * 15) / 1e6,
        (150_000 * 6 + 50_001 * 0.6 + 100 * 22.5) / 1e6,
        (200_000 * 3 + 100 * 15) / 1e6,
        (1010 * 1 + 100 * 2) / 1e6,
        (1000 * 10 + 100 * 20) / 1e6,
        None,
    ]
    assert m.call_costs(calls, LIST).to_list() == pytest.approx(expected)
    plain = m.call_costs(calls, LIST, "list, without caching").to_list()
    assert plain[0] == pytest.approx((1500 * 3 + 100 * 15) / 1e6)
    assert plain[1] == pytest.approx((200_001 * 6 + 100 * 22.5) / 1e6)


def test_costs_are_never_taken_from_totals():
    """Two prompts of 150,000 tokens are not one of 300,000."""
    two = m.call_costs(m.Calls(["m", "m"], [150_000, 150_000], [0, 0]), LIST).sum()
    one = m.call_costs(m.Calls(["m"], [300_000], [0]), {"m": LIST["m"]}).sum()
    assert two == pytest.approx(0.9) and one == pytest.approx(1.8)


def test_billed_amount_counts_first():
    calls = m.Calls(["m", "m"], [1000, 1000], [0, 0], billed=[0.5, None])
    assert m.call_costs(calls, {"m": LIST["m"]}).to_list() == pytest.approx([0.5, 0.003])
    assert m.call_costs(calls, {"m": LIST["m"]}, "list, without caching").to_list() == pytest.approx([0.003, 0.003])


def test_trial_without_a_price_has_no_total():
    table = m.trial_costs(["t", "t", "u", "v"], [1.0, None, 2.0, 0.0])
    assert table.rows() == [("t", 2, None, 1), ("u", 1, 2.0, 0), ("v", 1, 0.0, 0)]
    mean = m.cost_per_instance(table["cost"], "billed")
    assert mean.value == 1.0 and mean.counts.ungraded == 1
    assert "billed" in mean.conditional_on
    assert m.cost_per_instance([None], "billed").value is None
    assert m.mean_steps([3, None, 5]).value == 4


def test_invalid_price_lists_are_refused():
    with pytest.raises(UsageError, match="the dates of the calls"):
        m.call_costs(m.Calls(["n"], [1], [1]), LIST)
    with pytest.raises(UsageError, match="same date"):
        m.call_costs(m.Calls(["n"], [1], [1]), {"n": [m.TokenPrice(1, 1), m.TokenPrice(2, 2)]})
    with pytest.raises(UsageError, match="per million"):
        m.TokenPrice(-1, 2)
    with pytest.raises(UsageError, match="below 0"):
        m.call_costs(m.Calls(["n"], [-1], [1]), {})
    with pytest.raises(UsageError, match="basis"):
        m.call_costs(m.Calls(["n"], [1], [1]), {}, "guess")


# --- value of approaches

AI, HITL, PERSON = m.Approach("AI", 0.2, 1), m.Approach("HITL", 0.35, 5), m.Approach("human", 0.95, 60)
APPROACH = st.tuples(st.integers(0, 20), st.integers(0, 100)).map(lambda p: (p[0] / 20, float(p[1])))


def test_three_value_regions_are_found():
    found = m.decide_by_value([AI, HITL, PERSON])
    one, two = m.break_even(AI, HITL).value, m.break_even(HITL, PERSON).value
    assert found.regions == (m.Region("AI", 0, one), m.Region("HITL", one, two), m.Region("human", two, None))
    assert found.best(one) == "HITL" and found.best(two) == "human"
    assert not found.never


def test_never_best_hitl_is_reported():
    poor = m.Approach("HITL", 0.25, 30)
    assert m.break_even(AI, poor).value > m.break_even(poor, PERSON).value
    found = m.decide_by_value([AI, poor, PERSON])
    assert found.never == ("HITL",) and "does not apply" in found.notes[0]
    assert [r.approach for r in found.regions] == ["AI", "human"]


@given(st.lists(APPROACH, min_size=1, max_size=6), st.integers(0, 5000), st.booleans())
@settings(deadline=None, max_examples=200)
def test_choice_is_the_argmax(lines, value, nothing):
    approaches = [m.Approach(f"a{k}", s, c) for k, (s, c) in enumerate(lines)]
    found = m.decide_by_value(approaches, nothing=nothing)
    every = {a.name: a.expected_value(value) for a in approaches} | ({"nothing": 0.0} if nothing else {})
    assert every[found.best(value)] == pytest.approx(max(every.values()), abs=1e-6)
    assert [r.low for r in found.regions][1:] == [r.high for r in found.regions][:-1]


def test_undefined_break_evens_have_reasons():
    assert "equally often" in m.break_even(AI, m.Approach("twin", 0.2, 3)).reason
    assert "less often" in m.break_even(PERSON, AI).reason
    for wrong in ((2, 1), (0.5, -1), (0.5, float("nan"))):
        with pytest.raises(UsageError):
            m.Approach("x", *wrong)
    with pytest.raises(UsageError, match="own name"):
        m.decide_by_value([AI, AI])
    with pytest.raises(UsageError, match="own name"):
        m.decide_by_value([])
    with pytest.raises(UsageError, match="task value"):
        m.decide_by_value([AI]).best(-1)


def test_break_even_from_jobs_is_estimated():
    rng = np.random.default_rng(1)
    weak, strong = rng.random(400) < 0.3, rng.random(400) < 0.8
    cost = rng.uniform(0, 2, 400), rng.uniform(10, 30, 400)
    found = m.break_even_from_jobs((weak, strong), cost, ("AI", "human"))
    expected = m.break_even(
        m.Approach("AI", weak.mean(), cost[0].mean()), m.Approach("human", strong.mean(), cost[1].mean())
    )
    assert found.value == pytest.approx(expected.value)
    assert found.low < found.value < found.high
    invented = np.arange(400) < 100
    asked = m.break_even_from_jobs(
        (weak, strong), cost, ("AI", "human"), illustrative=invented, include_illustrative=True
    )
    left = m.break_even_from_jobs((weak, strong), cost, ("AI", "human"), illustrative=invented)
    assert asked.value == found.value and "illustrative prices counted" in asked.conditional_on
    assert left.counts.valid == 300 and "illustrative prices left out" in left.conditional_on
    same = m.break_even_from_jobs((strong, strong), cost, ("a", "b"))
    assert "does not succeed more often" in same.reason
    near = m.break_even_from_jobs((weak, np.r_[weak[:399], not weak[399]]), cost, ("a", "b"))
    assert near.value is None or near.high is None
    assert m.break_even_from_jobs(([None], [True]), ([1.0], [1.0]), ("a", "b")).value is None


# --- deployed


def test_deployable_cost_of_a_job_is_estimated():
    found = m.deployable_cost([True, False, False, True], [2, 2, 4, 0], [100, 100, 50, 30], m.Checking(cost=5))
    each = [2 + 5, 2 + 5 + 100, 4 + 5 + 50, 0 + 5]
    assert found.cost.value == pytest.approx(sum(each) / 4)
    assert found.human.value == 70
    assert found.saving.value == pytest.approx(1 - sum(each) / 280)
    plain = m.deployable_cost([True, False], [1, 1], [10, 10])
    assert plain.cost.value == 1 + 0.5 * 10


def test_false_acceptance_has_its_price():
    check = m.Checking(cost=1, accepts_good=0.9, accepts_bad=0.2, loss=500)
    found = m.deployable_cost([True, False], [0, 0], [100, 100], check)
    assert found.cost.value == pytest.approx(((1 + 0.1 * 100) + (1 + 0.8 * 100 + 0.2 * 500)) / 2)
    assert "at a loss of $500" in found.cost.conditional_on[1]


@given(st.floats(0, 50), st.floats(1, 200), st.floats(0, 20), st.floats(0.5, 1), st.floats(0, 0.5), st.floats(0, 500))
@settings(deadline=None, max_examples=100)
def test_break_even_success_is_estimated(ai, human, check, good, bad, loss):
    checking = m.Checking(check, good, bad, loss)
    found = m.break_even_success(ai, human, checking)

    def cost(s):
        return ai + check + (1 - s * good - (1 - s) * bad) * human + (1 - s) * bad * loss

    if found.value is not None:
        assert 0 <= found.value <= 1
        assert cost(found.value) == pytest.approx(human, abs=1e-6 * (1 + human + loss + ai))
    elif "every" in found.reason:
        assert cost(0) <= human + 1e-9
    else:
        assert cost(1) >= human - 1e-9


def test_undefined_deployable_cost_has_a_reason():
    found = m.deployable_cost([None, True, True], [1, None, 1], [1, 1, None])
    assert found.cost.reason == "no job has a verdict, an AI cost and a human price"
    free = m.deployable_cost([True, False], [1, 1], [0, 0])
    assert free.saving.reason == "the jobs cost a human nothing" and free.cost.value == 1
    for wrong in ({"accepts_good": 2}, {"cost": -1}, {"loss": float("inf")}):
        with pytest.raises(UsageError):
            m.Checking(**wrong)
    assert isinstance(m.tabulate([found.cost]), pl.DataFrame)
