"""Bounds, standard errors and signs of figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.metrics.estimate import Unit
from worksample.reports.figure_formatting import unit_figure

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(list(m.State)), st.booleans(), st.booleans()), min_size=1, max_size=30
)


@given(ROWS)
def test_bounds_are_the_worst_and_best_case(rows):
    """Against the rate of the same table in which everything open was filled in by hand."""
    task, state, passed, broken = (list(column) for column in zip(*rows, strict=True))
    known = [p if s is m.State.VALID else None for p, s in zip(passed, state, strict=True)]
    broken = [b and s is m.State.UNGRADED for b, s in zip(broken, state, strict=True)]
    found = m.rate(known, state=[str(s) for s in state], task=task, failed=broken)
    worst = [bool(k) for k in known]
    best = [not b if k is None else k for k, b in zip(known, broken, strict=True)]
    ends = tuple(m.rate(column, task=task).value for column in (worst, best))
    if None not in known:
        assert found.bounds is None and found.value == pytest.approx(ends[0])
    else:
        assert found.bounds == pytest.approx(ends)
        if found.value is not None and not any("missing at random" in c for c in found.conditional_on):
            # Only work that was not attemptable is open: the rate is of what was planned.
            assert found.counts.valid == found.counts.planned
    score = m.mean_score([None if k is None else float(k) for k in known], state=[str(s) for s in state], task=task)
    assert (score.bounds is None) == (found.bounds is None)


def test_unattemptable_work_counts_in_bounds_only():
    found = m.rate([True, False, None, None], state=["valid", "valid", "not_attemptable", "infrastructure"])
    assert (found.value, found.counts.planned, found.counts.infrastructure_failed) == (0.5, 3, 1)
    assert found.counts.special["not attemptable"] == 1
    assert found.bounds == (0.25, 0.75)
    full = m.full_pass(
        m.TrialColumns([1.0, 0.2, None], state=["valid", "valid", "ungraded"], failed=[False, False, True])
    )
    assert full.bounds == pytest.approx((1 / 3, 1 / 3))
    tiers = m.tier_table(m.TrialColumns([1.0, 0.2, None]), ["a", "a", "b"])
    assert [t.full_pass.bounds for t in tiers] == [None, (0.0, 1.0), pytest.approx((1 / 3, 2 / 3))]


def test_standard_errors_are_over_tasks():
    rng = np.random.default_rng(3)
    task = np.arange(40).repeat(3)
    score = rng.beta(2, 3, 120)
    means = score.reshape(40, 3).mean(axis=1)
    found = m.mean_score(score, task=task)
    assert found.error == pytest.approx(means.std(ddof=1) / np.sqrt(40))
    passed = rng.random(50) < 0.3
    assert m.rate(passed).error == pytest.approx(passed.std(ddof=1) / np.sqrt(50))
    assert m.rate([True] * 20).error is None, "nothing differs: 0 would be a lie"
    gaps = m.paired_difference(m.TrialColumns(score, task), m.TrialColumns(score**2, task)).difference
    assert gaps.error == pytest.approx((score**2 - score).reshape(40, 3).mean(axis=1).std(ddof=1) / np.sqrt(40))
    dollars = m.mean_score(rng.lognormal(3, 1, 30), unit=Unit.USD)
    assert 0 < dollars.error < dollars.value


def test_standard_deviation_has_no_sign():
    """ALE Table 1 prints 18.4 with a superscript of 1.2: a spread, not a gain."""
    task = np.arange(100).repeat(3)
    score = (np.random.default_rng(1).random(300) < 0.5).astype(float)
    tiers = m.tier_table(m.TrialColumns(score, task, task), ["t"] * 300)
    runs = score.reshape(100, 3).mean(axis=0)
    for found in (tiers[0].spread.run, tiers[0].spread.whole, tiers[0].spread.mean):
        assert found.unit is Unit.SPREAD
        assert not unit_figure(found.value, found.unit).startswith("+")
    assert tiers[-1].spread.whole.value < tiers[-1].spread.run.value / 9
    assert 0.3 < tiers[-1].spread.whole.value / runs.std(ddof=1) < 3
    effect = m.model_effect(m.Configurations(["h"] * 4, ["a", "a", "b", "b"], [1, 2, 1, 2], [1, 0, 0, 0]), "h")
    assert unit_figure(effect.spread.value, effect.spread.unit) == "50.0 pp"
    assert unit_figure(0.5, Unit.POINTS) == "+50.0 pp"


def test_decimals_match_the_table():
    """TAC Table 4: 22 of 71 tasks on GitLab are 30.99, and Table 3 prints 29.17 steps."""
    success = m.rate([True] * 22 + [False] * 49).to(2)
    assert success.format_value() == "30.99" and unit_figure(success.value, success.unit, success.digits) == "30.99 %"
    steps = m.mean_score([29.0, 29.34], unit=Unit.COUNT).to(2)
    assert steps.format_value() == "29.17" and unit_figure(steps.value, steps.unit, steps.digits) == "29.17"
    assert m.rate([True, False]).to(2).renamed_to("x").format_value() == "50.00"


@given(ROWS)
def test_bounds_of_rolled_up_scores_are_the_worst_and_best_case(rows):
    task, state, passed, broken = (list(column) for column in zip(*rows, strict=True))
    levels = {"task": task, "domain": [t // 2 for t in task]}
    known = [float(p) if s is m.State.VALID else None for p, s in zip(passed, state, strict=True)]
    broken = [b and s is m.State.UNGRADED for b, s in zip(broken, state, strict=True)]
    found = m.roll_up(known, levels, state=[str(s) for s in state], failed=broken)
    worst = m.roll_up([k or 0.0 for k in known], levels)
    best = m.roll_up([float(not b) if k is None else k for k, b in zip(known, broken, strict=True)], levels)
    for level in found:
        for name, figure in found[level].items():
            ends = worst[level][name].value, best[level][name].value
            assert figure.bounds == pytest.approx(ends) if figure.bounds else figure.value == pytest.approx(ends[0])


@given(ROWS)
def test_bounds_of_dollars_are_the_worst_and_best_case(rows):
    task, state, passed, broken = (list(column) for column in zip(*rows, strict=True))
    price = [100.0 * (t + 1) + k for k, t in enumerate(task)]
    known = [p if s is m.State.VALID else None for p, s in zip(passed, state, strict=True)]
    broken = [b and s is m.State.UNGRADED for b, s in zip(broken, state, strict=True)]
    found = m.dollars_earned(price, known, state=[str(s) for s in state], task=task, failed=broken)
    ends = [
        m.dollars_earned(price, column, task=task)
        for column in (
            [bool(k) for k in known],
            [not b if k is None else k for k, b in zip(known, broken, strict=True)],
        )
    ]
    if found.earned.value is None:
        return
    if None in known:
        assert found.earned.bounds == pytest.approx(tuple(e.earned.value for e in ends))
        assert found.share.bounds == pytest.approx(tuple(e.share.value for e in ends))
    else:
        assert (found.earned.bounds, found.share.bounds) == (None, None)
        assert found.earned.value == pytest.approx(ends[0].earned.value)
