"""Power before a run, time horizons and budgets after it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.metrics.uncertainty.mean_difference import MeanDifferenceTest

QUICK = m.Resampling(resamples=300)


def test_power_matches_statsmodels():
    """Without repeats or shared tasks the plan of many is a comparison of two independent samples, but for the one task
    more that an exact test allows for.
    """

    from statsmodels.stats.power import NormalIndPower

    variances = m.Variances(0.0, 0.0, 0.25)
    for tasks in (400, 3000):
        expected = NormalIndPower().power(0.03 / 0.5, tasks, 0.05, alternative="two-sided")
        assert expected - 0.6 / math.sqrt(tasks) < m.power_of(variances, tasks) < expected
    needed = NormalIndPower().solve_power(0.03 / 0.5, power=0.8, alpha=0.05)
    assert math.ceil(needed) < m.tasks_needed(variances).value < 1.03 * needed


def test_power_matches_simulation():
    """80 % of simulated studies of the planned size find the planned difference."""
    rng = np.random.default_rng(2)
    variances = m.Variances(0.04, 0.0, 0.09, shared=0.5, alike=0.5)
    tasks = int(m.tasks_needed(variances, m.Aim(0.1), repeats=2).value)
    common = rng.normal(0, math.sqrt(0.02), (400, tasks, 1))
    own = rng.normal(0, math.sqrt(0.02), (400, tasks, 2))
    noise = rng.normal(0, math.sqrt(0.09 / 2), (400, tasks, 2))
    score = common + own + noise + np.array([0.0, 0.1])
    gap = score[..., 1] - score[..., 0]
    assert np.mean([MeanDifferenceTest.of(each, 0.5).p <= 0.05 for each in gap]) == pytest.approx(0.8, abs=0.06)


@given(st.integers(20, 500), st.integers(1, 3), st.integers(1, 3), st.floats(0, 0.9))
@settings(deadline=None, max_examples=5)
def test_more_data_detects_smaller_differences(tasks, instances, repeats, shared):
    """But for the chance of the studies that are drawn where few tasks differ. Of fewer than twenty tasks some plans
    see nothing.
    """
    v = m.Variances(0.1, 0.05, 0.1, shared)
    here = 1.02 * m.detectable(v, tasks, instances=instances, repeats=repeats)
    assert m.detectable(v, tasks + 1, instances=instances, repeats=repeats) < here
    assert m.detectable(v, tasks, instances=instances + 1, repeats=repeats) < here
    assert m.detectable(v, tasks, instances=instances, repeats=repeats + 1) < here
    assert m.detectable(m.with_correlation(v, 0.95), tasks, instances=instances, repeats=repeats) < here


@pytest.mark.parametrize("tasks", [6, 12, 60])
def test_graded_work_is_detected_as_its_differences(tasks):
    """Of 400 studies with normal differences between graded scores."""
    rng = np.random.default_rng(7)
    seen = sum(MeanDifferenceTest.of(rng.normal(0.1, math.sqrt(0.03), tasks), 0.05).p <= 0.05 for _ in range(400))
    found = m.power_of(m.Variances(0.01, 0.0, 0.01, 0.5, alike=0.05), tasks, aim=m.Aim(0.1))
    assert found == pytest.approx(seen / 400, abs=0.06)


@pytest.mark.quick("12-1")
@pytest.mark.parametrize(("tasks", "repeats"), [(12, 1), (12, 3), (40, 1)])
def test_planned_detectable_difference_is_detected(tasks, repeats):
    """300 studies of the difference that a plan sees four times in five; of few tasks a normal plan had 20 to 60 %."""
    v = m.planned_variances(0.3, 0.8, 1.0)
    points = m.detectable(v, tasks, repeats=repeats)
    seen = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        at, task = rng.random(tasks), np.arange(tasks).repeat(repeats)
        chance = [betaincinv(mean / 4, (1 - mean) / 4, at)[task] for mean in (0.3, 0.3 + points)]
        sides = [m.TrialColumns((rng.random(len(task)) < c).astype(float), task) for c in chance]
        found = m.paired_difference(*sides).difference
        seen += found.low > 0
    assert 0.72 < seen / 300 < 0.88


def test_too_few_tasks_show_no_difference():
    assert [m.detectable(m.planned_variances(0.25), tasks) for tasks in (1, 2, 3, 4, 5)] == [None] * 5
    assert m.detectable(m.planned_variances(0.02), 7) > 0.8
    assert m.power_of(m.planned_variances(0.25), 1) == 0.0


def test_three_points_fit_a_horizon():
    v = m.planned_variances(0.25)
    plans = m.plans(v, trial_cost=2.0)
    assert [p.tasks for p in plans] == sorted((p.tasks for p in plans), reverse=True)
    assert [p.trials for p in plans] == sorted(p.trials for p in plans)
    assert plans[0].cost == 2.0 * plans[0].trials
    for p in plans:
        assert m.power_of(v, p.tasks, repeats=p.repeats) >= 0.8 > m.power_of(v, p.tasks - 2, repeats=p.repeats)
    found = m.tasks_needed(v)
    assert found.conditional_on == ("3.0% difference, power 80%, level 95%, paired",)
    for wrong in (
        lambda: m.Aim(0),
        lambda: m.planned_variances(0),
        lambda: m.Variances(-1, 0, 0),
        lambda: m.detectable(v, 0),
        lambda: m.detectable(v, 9, repeats=0),
        lambda: m.Variances(0, 0, 0, alike=2),
    ):
        with pytest.raises(UsageError):
            wrong()
    assert [m.power_of(m.Variances(0, 0, 0), tasks) for tasks in (5, 6)] == [0.0, 1.0], "an exact test needs six"


def test_variances_are_estimated_from_data():
    rng = np.random.default_rng(4)
    task = rng.normal(0.5, 0.1, (3000, 1, 1))
    score = task + rng.normal(0, 0.06, (3000, 2, 1)) + rng.normal(0, 0.04, (3000, 2, 3))
    names = np.arange(3000).repeat(6), np.tile([0, 0, 0, 1, 1, 1], 3000)
    found, between = m.variance_components(m.TrialColumns(np.clip(score, 0, 1).ravel(), *names))
    assert (found.task, found.instance, found.repeat) == pytest.approx((0.01, 0.0036, 0.0016), rel=0.12)
    assert between.value == pytest.approx(0.01 / 0.0152, abs=0.05)
    once, share = m.variance_components(m.TrialColumns([0.0, 1.0, 1.0], list("abc")))
    assert once.task == 0 and once.repeat == pytest.approx(1 / 3) and "no instance has repeats" in share.notes[0]
    assert m.variance_components(m.TrialColumns([1.0, 1.0], list("ab")))[1].reason == "every trial scored the same"
    for wrong in ([None], [1.0]):
        with pytest.raises(UsageError):
            m.variance_components(m.TrialColumns(wrong))


# --- time horizon


def work(seed=0, tasks=150, repeats=1, horizon=2.0):
    rng = np.random.default_rng(seed)
    hours = np.exp2(rng.uniform(-5, 7, tasks)).repeat(repeats)
    passed = rng.random(len(hours)) < 1 / (1 + (hours / horizon) ** 0.9)
    return hours, passed, np.arange(tasks).repeat(repeats)


def test_horizon_matches_statsmodels():
    import statsmodels.api as sm

    hours, passed, _ = work()
    fit = sm.Logit(passed.astype(float), sm.add_constant(np.log2(hours))).fit(disp=0)
    a, b = fit.params
    found = m.time_horizon(hours, passed, how=QUICK)
    assert found.slope.value == pytest.approx(b)
    assert found.horizons[0.5].value == pytest.approx(2 ** (-a / b))
    assert found.horizons[0.8].value == pytest.approx(2 ** ((math.log(4) - a) / b))
    assert found.horizons[0.8].value < found.horizons[0.5].value
    assert found.horizons[0.5].low < found.horizons[0.5].value < found.horizons[0.5].high


def test_horizon_intervals_cover():
    hits = 0
    for seed in range(60):
        hours, passed, task = work(seed=seed, repeats=2)
        found = m.time_horizon(hours, passed, task=task, how=m.Resampling(level=0.9)).horizons[0.5]
        hits += found.low <= 2.0 <= found.high
    assert 47 <= hits <= 60


def test_horizon_weights_tasks():
    import statsmodels.api as sm

    hours, passed, task = work(seed=1, repeats=3)
    extra = np.r_[np.arange(450), np.repeat(np.flatnonzero(task == 7), 50)]
    base = m.time_horizon(hours, passed, task=task, how=QUICK).horizons[0.5]
    more = m.time_horizon(hours[extra], passed[extra], task=task[extra], how=QUICK).horizons[0.5]
    assert more.value == pytest.approx(base.value)
    weights = 1 / np.bincount(task[extra])[task[extra]]
    fit = sm.GLM(
        passed[extra].astype(float), sm.add_constant(np.log2(hours[extra])), sm.families.Binomial(), var_weights=weights
    ).fit()
    assert more.value == pytest.approx(2 ** (-fit.params[0] / fit.params[1]))


def test_horizon_ends_match_statsmodels_tests():
    import statsmodels.api as sm
    from scipy.stats import t as student_t

    hours, passed, task = work(seed=5, tasks=60, repeats=2)
    found = m.time_horizon(hours, passed, task=task)
    model = sm.GLM(passed.astype(float), sm.add_constant(np.log2(hours)), sm.families.Binomial())
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": task, "use_correction": False})
    covariance, reach = fit.cov_params() * 60 / 59, student_t.ppf(0.975, 58)
    for q, horizon in found.horizons.items():
        for end in (horizon.low, horizon.high):
            at = np.array([1.0, math.log2(end)])
            apart = at @ fit.params - math.log(q / (1 - q))
            assert abs(apart) == pytest.approx(reach * math.sqrt(at @ covariance @ at), rel=1e-4)
    error = math.sqrt(covariance[1, 1])
    ends = fit.params[1] - reach * error, fit.params[1] + reach * error
    assert (found.slope.low, found.slope.high) == pytest.approx(ends, rel=1e-4)


def test_copies_of_a_trial_add_nothing_to_a_horizon():
    hours, passed, task = work(seed=2, tasks=40)
    once = m.time_horizon(hours, passed)
    thrice = m.time_horizon(hours.repeat(3), passed.repeat(3), task=task.repeat(3))
    for one, two in ((once.horizons[0.5], thrice.horizons[0.5]), (once.slope, thrice.slope)):
        assert (two.value, two.low, two.high) == pytest.approx((one.value, one.low, one.high))


@pytest.mark.parametrize("trials", [1000, 10_000])
def test_flat_curve_has_no_horizon_beyond_all_tasks(trials: int) -> None:
    """One failure more where work is longer came to 2e59 hours, in more trials to infinity: an error."""
    hours, passed = np.repeat([1.0, 2.0], trials), np.tile([True] * 9 + [False], trials // 5)
    passed[trials] = False
    found = m.time_horizon(hours, passed)
    assert found.slope.value is not None and -0.02 < found.slope.value < 0
    for horizon in found.horizons.values():
        assert horizon.value is None and "nearly flat: tasks took 1 to 2 hours" in horizon.reason
    passed[trials : trials + trials // 20] = False
    longer = m.time_horizon(hours, passed).horizons[0.8].value
    assert longer is not None and 2 < longer < 20


@given(st.floats(0.01, 100))
@settings(deadline=None, max_examples=20)
def test_horizon_scales_with_hours(factor):
    hours, passed, _ = work(tasks=60)
    base, scaled = (m.time_horizon(h, passed, how=QUICK).horizons[0.5] for h in (hours, hours * factor))
    assert scaled.value == pytest.approx(base.value * factor, rel=1e-6)


def test_undefined_horizons_have_reasons():
    def reason(hours, passed):
        found = m.time_horizon(hours, passed, how=QUICK)
        assert found.horizons[0.5].value is None and found.slope.reason == found.horizons[0.5].reason
        return found.horizons[0.5].reason

    assert reason([1, 2, 3], [True] * 3) == "every trial passed"
    assert reason([1, 2, 3], [False] * 3) == "no trial passed"
    assert "perfectly" in reason([1, 2, 3, 4], [True, True, False, False])
    assert "does not fall" in reason([1, 2, 3, 4, 5, 6], [False, True, False, True, False, True])
    assert reason([2, 2, 2], [True, False, True]) == "all tasks took the same hours"
    assert "too few" in reason([1, None], [True, False])
    with pytest.raises(UsageError, match="0 hours"):
        m.time_horizon([0, 1], [True, False])
    with pytest.raises(UsageError, match="below 0"):
        m.time_horizon([-1, 1], [True, False])
    with pytest.raises(UsageError, match="success rates"):
        m.time_horizon([1], [True], at=(1,))
    some = m.time_horizon([1, 2, 4, 8, 16, 32], [True, True, False, True, False, False], at=(0.5, 0.99), how=QUICK)
    assert all("may be nearly flat" in h.notes[-1] and h.low is None for h in some.horizons.values())
    assert "extrapolated" in some.horizons[0.99].notes[0]
    four = m.time_horizon([1, 2, 4, 8], [True, False, True, False]).horizons[0.5]
    assert four.level is None and "5 are needed" in four.notes[0]
    for seed in (7, 8):
        one_side = m.time_horizon(*work(seed=seed, tasks=12)[:2]).horizons[0.8]
        assert one_side.low is None and one_side.high is not None and "no lower end" in one_side.notes[-1], seed


# --- budgets


def test_score_against_budget_is_computed():
    cost, score = [1.0, 5.0, 10.0, None, 2.0], [1.0, 0.5, 1.0, 1.0, None]
    curve = m.score_against_budget(cost, score, [0, 1, 5, 100], how=QUICK)
    assert [p.score.value for p in curve] == pytest.approx([0, 1 / 3, 0.5, 2.5 / 3])
    assert "3 of 3 trials" in curve[-1].score.notes[-1] and curve[0].score.counts.ungraded == 2
    with pytest.raises(UsageError):
        m.score_against_budget([-1], [1.0], [1])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=15))
@settings(deadline=None)
def test_frontier_is_computed(points):
    cost, score = ([p[k] for p in points] for k in (0, 1))
    found = m.frontier(cost, score).to_list()
    for place, (c, s) in enumerate(points):
        beaten = any((c2 <= c and s2 > s) or (c2 < c and s2 >= s) for c2, s2 in points)
        assert found[place] == (not beaten)
    assert m.frontier([None, 1], [1, 1]).to_list() == [False, True]


def test_doubling_horizons_are_recovered():
    day = [f"2026-{month:02d}-01" for month in (1, 3, 5, 7, 9)]
    import datetime as dt

    ages = [(dt.date.fromisoformat(d) - dt.date(2026, 1, 1)).days for d in day]
    exact = [2 ** (age / 100) for age in ages]
    found = m.doubling_time(exact, day)
    assert found.value == pytest.approx(100)
    assert (found.low, found.notes) == (None, ("all horizons lie on one line: an interval would have no width",))
    rough = m.doubling_time([h * f for h, f in zip(exact, (1, 1.2, 0.9, 1.1, 1.0), strict=True)], day)
    assert rough.low < 100 < rough.high
    noisy = m.doubling_time([h * f for h, f in zip(exact, (4, 1, 0.5, 4, 1.0), strict=True)], day)
    assert noisy.high is None and "no upper end" in noisy.notes[0]
    assert m.doubling_time(exact[::-1], day).reason == "horizons do not grow with release dates"
    assert "one day" in m.doubling_time(exact, day[:1] * 5).reason
    assert m.doubling_time([1.0, None], day[:2]).reason == "1 agents with a horizon and a release date are too few"
    assert m.doubling_time([1.0, 2.0, 3.0], [*day[:2], None]).counts.special["undated"] == 1
    for wrong in ([0.0, 1.0], [-1.0, 1.0], [math.inf, 1.0]):
        with pytest.raises(UsageError):
            m.doubling_time(wrong, day[:2])
    with pytest.raises(UsageError, match="is not a date"):
        m.doubling_time([1.0, 2.0], ["2026-1-1", "soon"])
