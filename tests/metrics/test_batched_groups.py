"""Batched figures of all groups equal those of each group alone."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.metrics.uncertainty import unit_intervals as units
from worksample.metrics.uncertainty.bootstrap import Interval

ROW = st.tuples(
    st.sampled_from([0.0, 0.25, 1.0, None]),
    st.integers(0, 4),
    st.integers(0, 2),
    st.sampled_from(["near", "far", "last"]),
    st.sampled_from([True, False, None]),
    st.sampled_from(["ungraded", "infrastructure", "pending", "not_attemptable"]),
)
ROWS = st.lists(ROW, min_size=1, max_size=30)


def table(rows):
    """Trials whose state is told, of which some share a task or an instance."""
    names = ("score", "task", "instance", "tier", "late", "other")
    schema = dict(zip(names, (pl.Float64, pl.Int64, pl.Int64, pl.String, pl.Boolean, pl.String), strict=True))
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    state = pl.when(pl.col("score").is_null()).then("other").otherwise(pl.lit("valid"))
    return frame.with_columns(state=state, cost=pl.col("score") * 3)


def trials(frame, state):
    return m.TrialColumns(frame["score"], frame["task"], frame["instance"], frame["state"] if state else None)


def same(one, two):
    """Equal but for rounding."""
    for name in ("value", "low", "high", "error"):
        assert getattr(one, name) == pytest.approx(getattr(two, name)), name
    for name in ("counts", "level", "reason", "notes", "conditional_on"):
        assert getattr(one, name) == getattr(two, name), name
    assert one.bounds == pytest.approx(two.bounds)


@given(ROWS, st.booleans())
@settings(deadline=None)
def test_tier_equals_its_trials_alone(rows, state):
    frame = table(rows)
    found = m.tier_table(trials(frame, state), frame["tier"], {"cost": frame["cost"]}, ("near", "far", "last"))
    for tier in found:
        part = frame if tier.name == "overall" else frame.filter(pl.col("tier") == tier.name)
        same(tier.full_pass, m.full_pass(trials(part, state)))
        (alone,) = m.tier_table(trials(part, state), ["x"] * len(part), {"cost": part["cost"]})[-1:]
        same(tier.score, alone.score)
        same(tier.spread.run, alone.spread.run)
        same(tier.totals["cost"], alone.totals["cost"])


@given(ROWS, st.booleans(), st.booleans())
@settings(deadline=None)
def test_timeouts_of_a_group_equal_those_of_its_runs_alone(rows, state, shared):
    frame = table(rows)

    def timeouts(part, by):
        trial = trials(part, state)
        if not shared:
            trial = m.TrialColumns(trial.score, state=trial.state)
        return m.timeout_table(trial, part["late"], by)

    found = timeouts(frame, frame["tier"])
    for name, group in found.items():
        part = frame if name == "overall" else frame.filter(pl.col("tier") == name)
        alone = timeouts(part, None)["overall"]
        for figure in ("rate", "timed_out", "others"):
            same(getattr(group, figure), getattr(alone, figure))
        late = part.filter(pl.col("late") & (pl.col("state") == "valid"))["score"]
        assert group.timed_out.value == pytest.approx(late.mean())


@given(ROWS, st.booleans())
@settings(deadline=None)
def test_group_rolls_up_like_its_trials_alone(rows, state):
    frame = table(rows).with_columns(field=pl.col("task") // 2)
    told = frame["state"] if state else None
    found = m.roll_up(frame["score"], {name: frame[name] for name in ("task", "field")}, state=told)
    for name, group in found["field"].items():
        part = frame.filter(pl.col("field") == int(name))
        alone = m.mean_score(part["score"], task=part["task"], state=part["state"] if state else None)
        for end in ("value", "low", "high"):
            assert getattr(group, end) == pytest.approx(getattr(alone, end))
        assert group.counts.planned == alone.counts.planned and group.counts.valid == alone.counts.valid


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 100), st.integers(1, 5)), min_size=2, max_size=12),
    st.booleans(),
)
@settings(deadline=None)
def test_equal_units_may_be_given_once_with_their_number(rows, weighted):
    value, whole, times = (np.array(column) for column in zip(*rows, strict=True))
    whole = whole if weighted else np.full(len(whole), 3.0)
    short = units.share_of_sums(value * whole, whole, 0.95, times=times)
    every, wholes = value.repeat(times), whole.repeat(times)
    long = units.share_of_sums(every * wholes, wholes, 0.95) if weighted else units.share(every, 0.95)
    assert short[0].low == pytest.approx(long[0].low) and short[0].high == pytest.approx(long[0].high)
    assert short[1] == long[1]


def test_units_without_weight_are_ignored():
    part, whole = np.array([0.0, 2.0, 0.0, 3.0]), np.array([0.0, 4.0, 5.0, 3.0])
    assert units.share_of_sums(part, whole, 0.95) == units.share_of_sums(part[1:], whole[1:], 0.95)
    assert units.share_of_sums(part[:2], whole[:2], 0.95) == (Interval(), units.ONE_UNIT)
    assert units.share_of_sums(part[:1], whole[:1], 0.95) == (Interval(), units.ONE_UNIT)
