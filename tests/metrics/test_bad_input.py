"""Bad input gives a figure with a reason, or an error that names the fault; never a silent number."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import UsageError, WorksampleError

HOW = m.Resampling(resamples=20)
NAN = float("nan")


def estimates(found):
    """Every Estimate in a result."""
    if isinstance(found, m.Estimate):
        return [found]
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (tuple, list)):
        return [e for part in found for e in estimates(part)]
    if hasattr(found, "__dataclass_fields__"):
        return [e for name in found.__dataclass_fields__ for e in estimates(getattr(found, name))]
    return []


FIGURES = {
    "rate": lambda x: m.rate([x]),
    "mean_score": lambda x: m.mean_score([x]),
    "automation": lambda x: m.automation_rate([x], project=["p"]),
    "verdict": lambda x: m.holistic_verdicts(["s"], [x]),
    "agreement": lambda x: m.measure_agreement(m.Ballots(["s", "s"], [x, 1]), how=HOW),
    "preference": lambda x: m.pair_sums(["p"], ["a"], ["b"], [x]),
    "dollars": lambda x: m.dollars_earned([x], [True], how=HOW),
    "autoflation": lambda x: m.measure_autoflation(m.Bundle(["p"], [x]), ["p"], [x], [True], how=HOW),
    "success_lifts": lambda x: m.success_lifts([x], [None]),
    "rubric_lifts": lambda x: m.rubric_lifts([x], [x], how=HOW),
    "pass_at_k": lambda x: m.pass_at_k([x], [1], 1, how=HOW),
    "histories": lambda x: m.histories(["j"], [x], [True]),
    "full_pass": lambda x: m.full_pass(m.TrialColumns([x]), HOW),
    "spread": lambda x: m.repeat_spread(m.TrialColumns([x, 1.0], ["a", "a"])),
    "tiers": lambda x: m.tier_table(m.TrialColumns([1.0]), ["a"], {"cost": [x]}, how=HOW),
    "roll_up": lambda x: m.roll_up([x], {"task": ["a"]}, how=HOW),
    "timeouts": lambda x: m.timeout_table(m.TrialColumns([1.0]), [x], how=HOW),
    "effects": lambda x: m.model_effect(m.Configurations(["h"], ["m"], ["t"], [x]), "h", HOW),
    "correlate": lambda x: m.correlate([x, 2, 3], [1, 2, 3]),
    "checkpoints": lambda x: m.checkpoint_scores(["t"], [x], [1]),
    "steps": lambda x: m.mean_steps([x], how=HOW),
    "costs": lambda x: m.cost_per_instance([x], "billed", how=HOW),
    "deployable": lambda x: m.deployable_cost([True], [x], [1], how=HOW),
    "horizon": lambda x: m.time_horizon([x, 1], [True, False], how=HOW),
    "budget": lambda x: m.score_against_budget([x], [1.0], [1], how=HOW),
    "paired": lambda x: m.paired_difference(m.TrialColumns([x], ["a"]), m.TrialColumns([1.0], ["a"]), how=HOW),
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf, -7.0, "many"])
def test_impossible_values_are_refused(name, value):
    """NaN is the trace of a computation gone wrong, so it is no missing value; negative figures make no sense here."""
    if name == "correlate" and value == -7.0:
        assert FIGURES[name](value).value is not None
        return
    if name == "agreement" and value == -7.0:
        assert FIGURES[name](value).share.value == 0
        return
    with pytest.raises(WorksampleError) as caught:
        FIGURES[name](value)
    assert "column" in str(caught.value)


@pytest.mark.parametrize("name", FIGURES)
def test_missing_values_are_counted_with_a_reason(name):
    if name in ("pass_at_k", "histories"):
        with pytest.raises(UsageError, match="missing"):
            FIGURES[name](None)
        return
    for estimate in estimates(FIGURES[name](None)):
        if estimate.value is None:
            assert estimate.reason


EMPTY = {
    "rate": lambda: m.rate([]),
    "mean_score": lambda: m.mean_score([], task=[], instance=[], state=[]),
    "automation": lambda: m.automation_rate([], project=[]),
    "agreement": lambda: m.measure_agreement(m.Ballots([], [], [], [], []), how=HOW),
    "dollars": lambda: m.dollars_earned([], [], how=HOW),
    "autoflation": lambda: m.measure_autoflation(m.Bundle([], []), [], [], [], how=HOW),
    "success_lifts": lambda: m.success_lifts([], []),
    "rubric_lifts": lambda: m.rubric_lifts([], [], how=HOW),
    "pass_at_k": lambda: m.pass_at_k([], [], 1),
    "ceiling": lambda: m.fit_ceiling(m.histories([], [], []), how=HOW),
    "break_even": lambda: m.break_even_from_jobs(([], []), ([], []), ("a", "b"), how=HOW),
    "full_pass": lambda: m.full_pass(m.TrialColumns([], [], [], []), HOW),
    "spread": lambda: m.repeat_spread(m.TrialColumns([])),
    "tiers": lambda: m.tier_table(m.TrialColumns([]), [], {"cost": []}, how=HOW),
    "timeouts": lambda: m.timeout_table(m.TrialColumns([]), [], how=HOW),
    "roll_up": lambda: m.roll_up([], {"task": []}, how=HOW),
    "correlate": lambda: m.correlate([], []),
    "success": lambda: m.success_rate([]),
    "score": lambda: m.suite_score([]),
    "steps": lambda: m.mean_steps([]),
    "costs": lambda: m.cost_per_instance([], "billed"),
    "deployable": lambda: m.deployable_cost([], [], [], how=HOW),
    "horizon": lambda: m.time_horizon([], [], task=[], how=HOW),
    "paired": lambda: m.paired_difference(m.TrialColumns([], []), m.TrialColumns([], []), how=HOW),
    "budget": lambda: [p.score for p in m.score_against_budget([], [], [1], how=HOW)],
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_tables_have_no_figures(name):
    found = estimates(EMPTY[name]())
    assert found
    assert all(e.value is None and e.reason for e in found)
    assert m.tabulate(found).height == len(found)


def test_empty_tables_of_other_shapes_have_no_figures():
    assert m.holistic_verdicts([], []).is_empty()
    assert m.elo_ratings(m.compare_tables()).ratings == {}
    assert m.by_group([], [], []) == {}
    assert m.autoflation_over_time(m.Bundle(["p"], [1]), [], [], [], []) == {}
    assert m.trial_costs([], []).is_empty()
    assert m.call_costs(m.Calls([], [], []), {}).is_empty()
    assert m.checkpoint_scores([], [], []).is_empty()
    assert m.count_states([]).planned == 0


@pytest.mark.parametrize("state", ["infrastructure", "ungraded", "pending"])
def test_no_valid_value_is_never_zero(state):
    for found in (
        m.rate([None, None], state=[state] * 2),
        m.mean_score([None, None], state=[state] * 2),
        m.full_pass(m.TrialColumns([None, None], ["a", "b"], state=[state] * 2)),
        m.roll_up([None, None], {"task": ["a", "b"]}, state=[state] * 2)["all"]["all"],
    ):
        assert found.value is None and "none of 2 planned is graded" in found.reason
        assert found.counts.planned == 2


SCORE = st.one_of(st.none(), st.sampled_from([0.0, 0.3, 1.0]))
STATE = {True: ["valid"], False: ["infrastructure", "ungraded", "pending"]}


@given(st.lists(st.tuples(SCORE, st.sampled_from("abc"), st.sampled_from("xy"), st.integers(0, 2)), max_size=15))
@settings(deadline=None, max_examples=100)
def test_counts_always_add_up(rows):
    score, task, instance, pick = ([r[k] for r in rows] for k in range(4))
    state = [(STATE[s is not None] * 3)[p] for s, p in zip(score, pick, strict=True)]
    trials = m.TrialColumns(score, task, instance, state)
    every = [
        m.full_pass(trials, HOW),
        m.mean_score(score, task=task, instance=instance, state=state, how=HOW),
        *estimates(
            m.roll_up(
                score,
                {"instance": [t + i for t, i in zip(task, instance, strict=True)], "task": task},
                state=state,
                how=HOW,
            )
        ),
    ]
    for e in every:
        c = e.counts
        assert c.planned == c.valid + c.infrastructure_failed + c.ungraded + c.pending
        assert (e.value is None) == (c.valid == 0) == bool(e.reason)
        if e.value is not None:
            assert 0 <= e.value <= 1
            assert e.low is None or 0 <= e.low <= e.high <= 1
    assert every[0].counts.valid == sum(s is not None for s in score)
    left = sum(s is None for s in score)
    assert every[0].counts.infrastructure_failed + every[0].counts.ungraded + every[0].counts.pending == left


def test_single_value_has_no_interval():
    assert m.mean_score([0.4]).low is None
    assert m.dollars_earned([100], [True]).earned.low is None
    found = m.paired_difference(m.TrialColumns([0.4], ["a"]), m.TrialColumns([0.5], ["a"])).difference
    assert found.value == pytest.approx(0.1) and found.notes == ("one task: no interval",)


def test_same_seed_gives_the_same_interval():
    rng = np.random.default_rng(0)
    score, task = rng.random(60), np.repeat(np.arange(20), 3)
    votes = m.Ballots(task, (score * 3).astype(int))
    one, two, other = (m.measure_agreement(votes, how=m.Resampling(seed=s)).alpha_nominal for s in (1, 1, 2))
    assert one == two
    assert (one.low, one.high) != (other.low, other.high)
    for wrong in ({"resamples": 1}, {"level": 1.0}, {"level": 0}):
        with pytest.raises(UsageError):
            m.Resampling(**wrong)


def test_numpy_polars_and_lists_give_the_same():
    values = [0.1, 0.9, 0.5]
    found = [
        m.mean_score(c, task=["a", "b", "c"]) for c in (values, tuple(values), np.array(values), pl.Series(values))
    ]
    assert all(f == found[0] for f in found)
    objects = np.array([0.1, None, 0.5], dtype=object)
    assert m.mean_score(objects).counts.ungraded == 1
    assert m.mean_score(pl.Series([1, 0, 1], dtype=pl.UInt8)).value == pytest.approx(2 / 3)
