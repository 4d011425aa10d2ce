"""Repeats within instances within tasks: means, intervals over tasks, and pairs of agents."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.metrics.uncertainty.bootstrap import ratio, resample_sums, weights
from worksample.metrics.uncertainty.trial_hierarchy import hierarchy


def trials(rng, tasks=12):
    rows = []
    for t in range(tasks):
        level = rng.random()
        for i in range(rng.integers(1, 4)):
            rows += [(f"t{t}", f"i{i}", float(rng.random() < level)) for _ in range(rng.integers(1, 4))]
    rng.shuffle(rows)
    task, instance, score = zip(*rows, strict=True)
    return list(task), list(instance), [float(s) for s in score]


def plain_mean(task, instance, score):
    table = pl.DataFrame({"t": task, "i": instance, "s": score})
    return table.group_by("t", "i").agg(pl.col("s").mean()).group_by("t").agg(pl.col("s").mean())["s"].mean()


def test_means_match_polars_grouping():
    for seed in range(5):
        columns = trials(np.random.default_rng(seed))
        task, instance, score = columns
        expected = plain_mean(*columns)
        assert m.mean_score(score, task=task, instance=instance).value == pytest.approx(expected)
        rate = m.rate([s == 1 for s in score], task=task, instance=instance)
        assert rate.value == pytest.approx(expected)
        assert float(rate.exact) == pytest.approx(expected)
        named = [f"{t}/{i}" for t, i in zip(task, instance, strict=True)]
        assert m.mean_score(score, task=task, instance=named).value == pytest.approx(expected)


@pytest.mark.parametrize("straddle", [False, True])
@pytest.mark.parametrize("repeated", [False, True])
def test_tasks_of_several_groups_are_split(straddle, repeated):
    rng = np.random.default_rng(0)
    task, instance, score = (np.array(column) for column in trials(rng))
    group = rng.integers(0, 2, len(task)) if straddle else np.array([int(t[1:]) % 2 for t in task])
    h = hierarchy(task, instance if repeated else None)
    apart, of = h.split_by_group(group, 2)
    assert (apart is h) == (not straddle)
    for side in (0, 1):
        mine = group == side
        alone = hierarchy(task[mine], instance[mine] if repeated else None).task_means(score[mine])
        assert sorted(apart.task_means(score)[of == side]) == pytest.approx(sorted(alone))


def test_repeats_are_not_independent_trials():
    """Ten copies of each trial are no more evidence: a plain binomial interval would be a third as wide."""
    rng = np.random.default_rng(0)
    passed = rng.random(40) < 0.4
    once = m.rate(passed, task=np.arange(40))
    copied = m.rate(np.repeat(passed, 10), task=np.repeat(np.arange(40), 10), instance=np.repeat(np.arange(40), 10))
    assert once.method == copied.method == "exact"
    assert copied.high - copied.low == pytest.approx(once.high - once.low)
    assert copied.high - copied.low > 2 * np.subtract(*m.wilson(int(passed.sum()) * 10, 400)[::-1])


def test_intervals_cover_the_truth():
    """Over 300 simulated studies the 90 % interval holds the truth in 84 to 97 %."""
    hits, truth = 0, 0.35
    rng = np.random.default_rng(11)
    for study in range(300):
        level = rng.beta(0.7, 1.3, size=50)
        score = (rng.random((50, 3)) < level[:, None]).astype(float).ravel()
        estimate = m.mean_score(score, task=np.repeat(np.arange(50), 3), how=m.Resampling(300, 0.9, study))
        hits += estimate.low <= truth <= estimate.high
    assert 252 <= hits <= 291


def test_identical_values_have_a_width():
    nothing = m.mean_score([0.0] * 60, task=np.repeat(np.arange(20), 3))
    assert nothing.high == pytest.approx(m.exact(0, 20)[1])
    assert "tasks as independent trials" in nothing.notes[0]
    middle = m.mean_score([0.5] * 12)
    assert middle.low < 0.4 and middle.high > 0.6 and "allows for one" in middle.notes[0]
    assert m.mean_score([0.5]).notes == ("one task: no interval",)


@given(st.permutations(range(30)))
@settings(deadline=None, max_examples=20)
def test_order_and_names_do_not_matter(order):
    task, instance, score = (c[:30] for c in trials(np.random.default_rng(2)))
    base = m.mean_score(score, task=task, instance=instance)
    again = m.mean_score(
        [score[k] for k in order], task=["x" + task[k] for k in order], instance=[instance[k] for k in order]
    )
    assert again.value == pytest.approx(base.value)


def test_units_are_weighted():
    drawn = np.concatenate(list(weights(7, m.Resampling(resamples=5000))))
    assert drawn.shape == (5000, 7) and (drawn.sum(axis=1) == 7).all()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(7), abs=0.06)
    assert drawn.var(axis=0) == pytest.approx(np.full(7, 6 / 7), rel=0.1)


def test_patterns_draw_like_units():
    """Collapsing equal units changes no distribution."""
    sums = np.column_stack([np.repeat([0.0, 1.0, 3.0], [50, 30, 20]), np.ones(100)])
    how = m.Resampling(resamples=4000)
    collapsed = resample_sums(sums, "units", how).sums
    direct = np.concatenate([block @ sums for block in weights(100, how)])
    assert collapsed.mean(axis=0) == pytest.approx(direct.mean(axis=0), rel=0.01)
    assert collapsed.std(axis=0)[0] == pytest.approx(direct.std(axis=0)[0], rel=0.06)
    low, high, level, method, error = resample_sums(sums, "units", how).interval(ratio(0, 1))
    assert error == pytest.approx(direct.std(axis=0)[0] / 100, rel=0.06)
    assert low < 0.9 < high and (level, method) == (0.95, "bootstrap over units (4000)")
    assert resample_sums(sums[:1], "units", how).interval(ratio(0, 1)) == (None, None, None, "", None)


def test_many_units_use_the_normal_limit():
    values = np.random.default_rng(1).exponential(1, 2000)
    sums = np.column_stack([values, np.ones(2000)])
    drawn = resample_sums(sums, "units", m.Resampling(2400)).interval(ratio(0, 1))
    limit = resample_sums(sums, "units", m.Resampling(3000)).interval(ratio(0, 1))
    assert limit.method.endswith("in its normal limit") and not drawn.method.endswith("limit")
    assert limit[:2] == pytest.approx(drawn[:2], abs=8e-3)


# --- pairs of agents


def pair(seed, tasks=25):
    rng = np.random.default_rng(seed)
    task, instance = np.repeat(np.arange(tasks), 4), np.tile([0, 0, 1, 1], tasks)
    level = rng.random(tasks)[task]
    return [m.TrialColumns((rng.random(4 * tasks) < level).astype(float), task, instance) for _ in range(2)]


def test_paired_difference_without_spread_has_a_width():
    tasks = ["a", "b", "c"]
    found = m.paired_difference(m.TrialColumns([1.0] * 3, tasks), m.TrialColumns([0.0] * 3, tasks)).difference
    assert found.value == found.low == -1.0 and found.high > -0.5
    same = m.paired_difference(m.TrialColumns([1.0] * 12), m.TrialColumns([1.0] * 12)).difference
    assert same.value == 0 and -same.low == same.high > 0.1 and "no task differs" in same.notes[0]


def test_paired_difference_is_the_difference_of_means():
    one, two = pair(1)
    found = m.paired_difference(one, two).difference
    means = [m.mean_score(side.score, task=side.task, instance=side.instance).value for side in (one, two)]
    assert found.value == pytest.approx(means[1] - means[0])
    back = m.paired_difference(two, one).difference
    assert (back.value, back.low, back.high) == pytest.approx((-found.value, -found.high, -found.low), abs=0.03)


def test_pairing_narrows_the_interval():
    rng = np.random.default_rng(6)
    level = rng.random(200)
    score = [np.clip(level + rng.normal(0, 0.02, 200), 0, 1) for _ in range(2)]
    one, two = (m.TrialColumns(s, np.arange(200)) for s in score)
    paired = m.paired_difference(one, two).difference
    alone = m.mean_score(one.score)
    assert (paired.high - paired.low) * 3 < alone.high - alone.low


def test_changes_are_listed_by_instance():
    one = m.TrialColumns([1.0, 0.0, 0.5, 0.5, 1.0], ["a", "b", "c", "d", "e"])
    two = m.TrialColumns([0.0, 1.0, 0.7, 0.5, 1.0], ["a", "b", "c", "d", "f"])
    found = m.paired_difference(one, two)
    assert found.instances["change"].to_list() == ["lost", "gained", "better", "same"]
    special = found.difference.counts.special
    assert (special["first only"], special["second only"], special["better"], special["worse"]) == (1, 1, 2, 1)
    assert found.sign_test.value == pytest.approx(1.0)


def test_no_common_tasks_give_a_reason():
    found = m.paired_difference(m.TrialColumns([1.0], ["a"]), m.TrialColumns([1.0], ["b"]))
    assert found.difference.reason == found.sign_test.reason == "no instance has a valid trial of both"
    same = m.paired_difference(m.TrialColumns([1.0, 0.0], ["a", "b"]), m.TrialColumns([1.0, 0.0], ["a", "b"]))
    assert same.sign_test.reason == "no task differs"


def test_rows_are_grouped():
    by = m.apply_by(m.rate, ["x", "y", "x"], {"passed": [True, False, False]})
    assert {name: e.value for name, e in by.items()} == {"x": 0.5, "y": 0.0}
    listed = m.apply_by(m.rate, pl.Series([["x", "y"], ["y"], [], ["x"]]), {"passed": [True, False, True, True]})
    assert {name: e.value for name, e in listed.items()} == {"x": 1.0, "y": 0.5}
    assert "do not average" in listed["x"].notes[0]


def test_struck_trials_count_both_ways():
    found = m.with_and_without(m.rate, [True, False, False], {"passed": [True, False, False]})
    assert (found.with_all.value, found.without.value, found.struck) == (1 / 3, 0.0, 1)
    assert found.change == pytest.approx(-1 / 3)
    assert "1 struck trials left out" in found.without.conditional_on
    with pytest.raises(UsageError, match="does not say whether"):
        m.with_and_without(m.rate, [None, False], {"passed": [True, False]})
    assert m.with_and_without(m.rate, [True], {"passed": [True]}).change is None
