"""ALE and TAC: tiers, repeats, timeouts, roll-up, effects, checkpoints."""

from fractions import Fraction
from statistics import stdev

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import ManifestError, UsageError

QUICK = m.Resampling(resamples=200)


def test_overall_is_pooled():
    trials = m.TrialColumns([1.0, 1.0, 0.0, 0.0, 0.0], ["a", "b", "c", "d", "e"])
    table = m.tier_table(
        trials, ["easy", "easy", "hard", "hard", "hard"], {"cost": [1, 2, 3, None, 5]}, ("easy", "hard")
    )
    assert [(t.name, t.full_pass.value) for t in table] == [("easy", 1.0), ("hard", 0.0), ("overall", 0.4)]
    assert table[1].totals["cost"].value == 8 and "lower bound" in table[1].totals["cost"].notes[0]
    assert table[2].totals["cost"].counts.valid == 4
    empty = m.tier_table(trials, ["easy"] * 5, order=("easy", "hard"))[1]
    assert empty.full_pass.reason == empty.score.reason == "nothing was planned"
    with pytest.raises(UsageError, match="is missing in `order`"):
        m.tier_table(trials, ["odd"] * 5, order=("easy",))


def test_full_pass_with_repeats_is_the_mean_credit():
    trials = m.TrialColumns([1.0, 0.4, 1.0, 1.0, 0.0, None], list("aabbcc"), state=["valid"] * 5 + ["infrastructure"])
    found = m.full_pass(trials)
    assert found.exact == Fraction(1, 2)
    assert (found.counts.valid, found.counts.infrastructure_failed) == (5, 1)


def test_full_credit_survives_rounding():
    assert m.full_pass(m.TrialColumns([0.1 * 3 + 0.7, 0.999999])).value == 0.5


def test_spread_of_repeats_is_computed():
    score = [0.2, 0.4, 0.9, 0.5, 0.5, 0.7]
    found = m.repeat_spread(m.TrialColumns(score, list("aaabbc")))
    each = [stdev(score[:3]) ** 2, stdev(score[3:5]) ** 2]
    assert found.run.value == pytest.approx((sum(each) / 2) ** 0.5)
    error = sum(v / n for v, n in zip([*each, sum(each) / 2], (3, 2, 1), strict=True)) ** 0.5 / 3
    assert found.mean.value == pytest.approx(error)
    assert "1 instances with one run" in found.mean.notes[0]
    assert m.repeat_spread(m.TrialColumns([0.5, 0.5], ["a", "b"])).run.reason == "no instance has two valid runs"
    assert m.repeat_spread(m.TrialColumns([None], ["a"])).run.value is None


def test_timeouts_are_separate():
    trials = m.TrialColumns([0.0, 0.5, 1.0, 0.5], list("aabb"))
    table = m.timeout_table(trials, [True, False, None, False], ["x", "x", "y", "y"], QUICK)
    assert table["x"].rate.value == 0.5 and table["x"].timed_out.value == 0
    assert table["y"].rate.counts.ungraded == 1 and table["y"].timed_out.reason == "nothing was planned"
    assert table["overall"].others.value == 0.5


# --- roll-up


def test_roll_up_goes_level_by_level():
    rows = [  # instance, task, subdomain, domain, score
        ("i1", "t1", "s1", "d1", 1.0), ("i1", "t1", "s1", "d1", 0.0), ("i2", "t1", "s1", "d1", 1.0),
        ("i3", "t2", "s1", "d1", 0.25), ("i4", "t3", "s2", "d1", 0.0), ("i5", "t4", "s3", "d2", 1.0),
        ("i6", "t5", "s3", "d2", None),
    ]  # fmt: skip
    *names, score = (list(c) for c in zip(*rows, strict=True))
    levels = dict(zip(("instance", "task", "subdomain", "domain"), names, strict=True))
    found = m.roll_up(score, levels, how=QUICK)
    assert {k: e.value for k, e in found["instance"].items()} == {
        "i1": 0.5,
        "i2": 1,
        "i3": 0.25,
        "i4": 0,
        "i5": 1,
        "i6": None,
    }
    assert {k: e.value for k, e in found["task"].items()} == {"t1": 0.75, "t2": 0.25, "t3": 0, "t4": 1, "t5": None}
    assert {k: e.value for k, e in found["subdomain"].items()} == {"s1": 0.5, "s2": 0, "s3": 1}
    assert {k: e.value for k, e in found["domain"].items()} == {"d1": 0.25, "d2": 1}
    assert found["all"]["all"].value == 0.625
    assert found["all"]["all"].counts.ungraded == 1 and found["task"]["t5"].reason.startswith("none of 1 planned")


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=25)
def test_roll_up_matches_polars(seed):
    rng = np.random.default_rng(seed)
    instance = rng.integers(0, 30, 80)
    task, sub, domain = instance // 3, instance // 6, instance // 12
    score = rng.random(80)
    found = m.roll_up(
        score, {"instance": instance, "task": task, "subdomain": sub, "domain": domain}, how=m.Resampling(20)
    )
    table = pl.DataFrame({"i": instance, "t": task, "u": sub, "d": domain, "s": score})
    for keys, name in (
        (["i", "t", "u", "d"], "instance"),
        (["t", "u", "d"], "task"),
        (["u", "d"], "subdomain"),
        (["d"], "domain"),
    ):
        table = table.group_by(keys).agg(pl.col("s").mean())
        expected = {str(k): v for k, v in zip(table[keys[0]], table["s"], strict=True)}
        assert {k: e.value for k, e in found[name].items()} == pytest.approx(expected)
    assert found["all"]["all"].value == pytest.approx(table["s"].mean())


def test_roll_up_has_intervals():
    rng = np.random.default_rng(0)
    task = np.arange(240)
    score = (rng.random(240) < 0.3).astype(float)
    found = m.roll_up(score, {"task": task, "subdomain": task // 12, "domain": task // 60}, how=m.Resampling(2000))
    top, flat = found["all"]["all"], m.mean_score(score)
    assert "effective tasks" in top.method
    assert top.value == pytest.approx(flat.value)
    assert top.low < top.value < top.high
    assert 0.8 < (top.high - top.low) / (flat.high - flat.low) < 1.1
    lonely = m.roll_up(score[:20], {"task": task[:20], "subdomain": task[:20], "domain": task[:20] // 10})
    alone = lonely["domain"]["0"]
    assert "10 values of subdomain hold one task" in alone.notes[0]
    assert alone.high - alone.low > 0.9 * (m.mean_score(score[:10]).high - m.mean_score(score[:10]).low)
    partly = m.roll_up(score[:9], {"task": task[:9], "subdomain": [0, 0, 0, 1, 1, 1, 1, 1, 2], "domain": [0] * 9})
    assert "1 values of subdomain hold one task" in partly["domain"]["0"].notes[0]


def test_impossible_roll_up_is_refused():
    with pytest.raises(UsageError, match="several values of task"):
        m.roll_up([1.0, 1.0], {"instance": ["i", "i"], "task": ["a", "b"]})
    with pytest.raises(UsageError, match="no level"):
        m.roll_up([1.0], {})
    assert m.roll_up([], {"task": []})["all"]["all"].reason == "nothing was planned"
    assert m.roll_up([None], {"task": ["a"]})["all"]["all"].value is None


# --- effects


def configurations(rng, rates, tasks=200):
    rows = [(h, "m", t, float(rng.random() < p)) for h, p in rates.items() for t in range(tasks)]
    return m.Configurations(*(list(c) for c in zip(*rows, strict=True)))


def test_harness_effect_has_its_chance():
    same = m.harness_effect(configurations(np.random.default_rng(1), dict.fromkeys("abcdef", 0.5)), "m")
    assert same.spread.value > 0 and same.deviation.value < 0.03
    assert "by chance alone" in same.spread.notes[0]
    apart = m.harness_effect(configurations(np.random.default_rng(1), {"a": 0.2, "b": 0.5, "c": 0.8}), "m")
    assert apart.spread.value == pytest.approx(0.6, abs=0.1)
    assert apart.deviation.value == pytest.approx(0.3, abs=0.06)
    assert apart.spread.low < apart.spread.value < apart.spread.high
    assert list(apart.rates) == ["a", "b", "c"]


def test_effects_use_common_tasks_only():
    trials = m.Configurations(["a", "a", "b", "b"], ["m"] * 4, ["x", "y", "x", "z"], [1.0, 0.0, 0.0, 1.0])
    found = m.harness_effect(trials, "m")
    assert found.spread.value == 1 and found.spread.counts.special["common tasks"] == 1
    assert found.deviation.reason.startswith("one common task")
    assert m.model_effect(trials, "a").spread.reason == "fewer than two values of model"
    none = m.Configurations(["a", "b"], ["m"] * 2, ["x", "y"], [1.0, None])
    assert "fewer than two" in m.harness_effect(none, "m").spread.reason
    with pytest.raises(UsageError, match="no trial has model 'z'"):
        m.harness_effect(trials, "z")


# --- checkpoints


POINTS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3)).map(lambda p: (p[0], p[0] + p[1])), min_size=1, max_size=6
)


@given(POINTS.filter(lambda p: sum(t for _, t in p)))
@settings(deadline=None, max_examples=80)
def test_checkpoints_match_rationals(points):
    result, total = [r for r, _ in points], [t for _, t in points]
    found = m.checkpoint_scores(["t"] * len(points), result, total).row(0, named=True)
    full = int(result == total)
    assert found["full"] == full
    assert found["partial"] == pytest.approx(float(Fraction(sum(result), 2 * sum(total)) + Fraction(full, 2)))
    assert 0 <= found["partial"] <= 1


def test_impossible_checkpoints_are_refused():
    with pytest.raises(ManifestError, match="checkpoints of broken add up to 0"):
        m.checkpoint_scores(["broken", "fine"], [0, 1], [0, 1])
    with pytest.raises(UsageError, match="2 of 1 points"):
        m.checkpoint_scores(["t"], [2], [1])
    with pytest.raises(UsageError, match="below 0"):
        m.checkpoint_scores(["t"], [-1], [1])
    unjudged = m.checkpoint_scores(["t", "t"], [1, None], [1, 1]).row(0, named=True)
    assert (unjudged["full"], unjudged["partial"], unjudged["result"]) == (None, None, None)


def test_platforms_overlap():
    table = m.by_group([1.0, 0.0, 1.0], [1.0, 0.2, 1.0], pl.Series([["git", "chat"], ["chat"], ["git"]]), how=QUICK)
    assert {k: (a.value, b.value) for k, (a, b) in table.items()} == {"chat": (0.5, 0.6), "git": (1.0, 1.0)}
    assert "do not average" in table["git"][0].notes[0]
    plain = m.by_group([1.0, 0.0], [1.0, 0.2], ["SDE", "PM"], state=["valid", "valid"], task=["a", "b"], how=QUICK)
    assert plain["PM"][0].value == 0 and not plain["PM"][0].notes
