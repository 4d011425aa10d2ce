"""Faults that intervals must not have: double-counted evidence, zero width, shrinking at a failure, disappearing."""

import math

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError
from scipy import stats

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.records import Usage


def width(estimate):
    return estimate.high - estimate.low


def test_ungraded_work_is_not_a_reduction_of_0():
    jobs = [f"j{n}" for n in range(36)]
    found = m.measure_autoflation(m.Bundle(jobs, [100.0] * 36), jobs, [1.0] * 36, [None] * 36)
    assert found.value is None and "no work" in found.reason and found.counts.valid == 0
    half = m.measure_autoflation(m.Bundle(["a", "b"], [100.0, 100.0]), ["a", "b"], [50.0, 1.0], [True, None])
    assert half.value == 0.5 and half.counts.special["ungraded projects"] == 1
    untouched = m.measure_autoflation(m.Bundle(["a", "b"], [100.0, 100.0]), ["a"], [50.0], [True])
    assert untouched.value == 0.25


def test_copies_of_a_trial_are_no_evidence_about_money():
    rng = np.random.default_rng(0)
    price, passed, task = rng.lognormal(5, 1, 120), rng.random(120) < 0.2, np.arange(120)
    thrice = task.repeat(3)
    once = m.dollars_earned(price, passed)
    copied = m.dollars_earned((price / 3)[thrice], passed[thrice], task=thrice)
    assert (copied.share.low, copied.share.high) == pytest.approx((once.share.low, once.share.high))
    plain = m.deployable_cost(passed, np.ones(120), price)
    again = m.deployable_cost(passed[thrice], np.ones(360), price[thrice], task=thrice)
    for name in ("cost", "human", "saving"):
        one, two = getattr(plain, name), getattr(again, name)
        assert (two.value, two.low, two.high) == pytest.approx((one.value, one.low, one.high))


def test_instances_of_a_task_are_not_separate_projects():
    passed = np.repeat(np.arange(30) < 6, 4)
    task = np.repeat(np.arange(30), 4)
    found = m.automation_rate(passed, project=task, instance=np.arange(120))
    assert (found.low, found.high) == pytest.approx(m.exact(6, 30))
    many = m.pass_at_k(np.full(120, 2), passed * 2, 1, task=task)
    assert (many.low, many.high) == pytest.approx(m.exact(6, 30))


def test_single_task_of_a_subdomain_is_not_certain():
    """19 of 55 subdomains hold one task: over 200 benchmarks the whole covers, where it held 45 to 52 % before."""
    sub = np.concatenate([np.arange(19), np.arange(19, 55).repeat(4)[:130]])
    levels = {"task": np.arange(len(sub)), "subdomain": sub, "domain": sub // 4}
    held = 0
    for seed in range(200):
        score = (np.random.default_rng(seed).random(len(sub)) < 0.3).astype(float)
        found = m.roll_up(score, levels)["all"]["all"]
        held += found.low <= 0.3 <= found.high
    assert held >= 184


def test_skewed_dollars_stay_within_their_interval():
    """240 projects, 2 % pass: 28.5 % of the truths lay above it before."""
    above = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        found = m.dollars_earned(rng.lognormal(5, 1.2, 240), rng.random(240) < 0.02).share
        above += found.high < 0.02
    assert above <= 7


def test_single_extreme_price_counts_as_one_task():
    """Prices over five orders, 10 tasks, 30 % pass: 84 % of the intervals held the share before, and some said they
    rest on 43 tasks, since a mean that one task pulls to itself leaves it no residual.
    """
    held = 0
    for seed in range(150):
        rng = np.random.default_rng([7, seed])
        found = m.dollars_earned(10 ** rng.uniform(0, 5, 10), rng.random(10) < 0.3).share
        held += found.low <= 0.3 <= found.high
    assert held >= 136
    one = m.dollars_earned([10_000.0, 700.0, 40.0, 30.0, 10.0], [False, True, False, False, False]).share
    assert one.value < 0.07 and one.high > 0.5


def test_zero_seen_is_not_zero_possible():
    assert m.dollars_earned([100.0] * 240, [False] * 240).share.high == pytest.approx(m.exact(0, 240)[1])
    assert m.measure_autoflation(m.Bundle(range(40), [9.0] * 40), range(40), [1.0] * 40, [False] * 40).high > 0.05
    assert m.pass_at_k([3] * 40, [0] * 40, 2).high == pytest.approx(m.exact(0, 40)[1])
    task = np.arange(20).repeat(2)
    assert m.success_lifts([False] * 40, [False] * 40, task=task).rescue.high == pytest.approx(m.exact(0, 20)[1])
    unanimous = m.measure_agreement(m.Ballots(np.arange(20).repeat(3), [1] * 60))
    assert unanimous.share.value == 1 and unanimous.share.low == pytest.approx(m.exact(20, 20)[0])
    chain = m.histories(range(30), [1] * 30, [False] * 30)
    assert m.passed_within(chain)[0].within.high == pytest.approx(m.exact(0, 30)[1])
    constant = m.break_even_from_jobs(([False] * 9, [True] * 9), ([1.0] * 9, [5.0] * 9), ("a", "b"))
    assert constant.low is constant.high is None and "no width" in constant.notes[0]
    saved = m.deployable_cost([True] * 120, [1.0] * 120, [10.0] * 120).saving
    assert saved.low is saved.high is None and "no width" in saved.notes[0]
    trials = m.Configurations(["h"] * 8, ["x"] * 4 + ["y"] * 4, [1, 2, 3, 4] * 2, [1.0] * 4 + [0.0] * 4)
    spread = m.model_effect(trials, "h").spread
    assert spread.low == 0 and spread.high == 1, "four tasks of four differ: one in eight if the two were equal"


def test_winless_resample_opens_one_end_of_one_agent():
    """RLI Table 1's sizes: seven agents, 240 projects, 0.8 to 2.5 % as good as the human's."""
    rng = np.random.default_rng(3)
    agents = [f"a{n}" for n in range(7)]
    rows = []
    for n, agent in enumerate(agents):
        good = rng.permutation(240) < 2 + n // 2
        rows += [(p, agent, "human", float(g) / 2) for p, g in enumerate(good)]
        rows += [(p, agent, other, float(rng.random() < 0.5)) for other in agents[:n] for p in range(240)]
    table = m.elo_ratings(m.pair_sums(*zip(*rows, strict=True)))
    for agent in agents:
        assert table.ratings[agent].high is not None
        assert table.ratings[agent].counts.valid == 240 * 7
    weak = m.pair_sums(range(60), ["w"] * 60, ["human"] * 60, [1.0] + [0.0] * 59)
    alone = m.elo_ratings(weak).ratings["w"]
    assert alone.low is None and alone.high < 1000 and "never wins" in alone.notes[-1]


@pytest.mark.parametrize(("tasks", "covered"), [(5, 100.0), (10, 99.7), (40, 97.3)])
def test_exact_test_of_differences_covers(tasks, covered):
    """Equal agents as in `benchmarks/coverage/worlds.py`: two trials of a task differ with a chance of 36 %."""

    def alarms(differ):
        return max((p for k in range(differ // 2 + 1) if (p := 2 * stats.binom.cdf(k, differ, 0.5)) <= 0.05), default=0)

    found = sum(stats.binom.pmf(d, tasks, 0.36) * alarms(d) for d in range(tasks + 1))
    assert 100 * (1 - found) == pytest.approx(covered, abs=0.05)


def test_few_tasks_do_not_count_as_many():
    """Equal agents on five and on ten tasks: at most 6 % false alarms, where there were 18."""
    for tasks in (5, 10):
        alarms = 0
        for seed in range(300):
            rng = np.random.default_rng(seed)
            chance = rng.random(tasks)
            one, two = (m.TrialColumns((rng.random(tasks) < chance).astype(float), range(tasks)) for _ in range(2))
            found = m.paired_difference(one, two).difference
            alarms += found.low > 0 or found.high < 0
        assert alarms <= 18


def test_power_is_as_planned():
    """Chance within a task is counted once: the plan's 80 % come out as 80 %, where 66 % did."""
    variances = m.Variances(0.10, 0.0, 0.10, shared=1.0)
    aim = m.Aim(points=0.1)
    tasks = int(m.tasks_needed(variances, aim, repeats=3).value)
    seen = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        level, task = rng.uniform(0.2, 0.7, tasks), np.arange(tasks).repeat(3)
        noise = math.sqrt(0.10)
        one, two = (level[task] + gain + rng.choice([-noise, noise], len(task)) for gain in (0.0, 0.1))
        shift = [(x + 0.5) / 2 for x in (one, two)]
        found = m.paired_difference(m.TrialColumns(shift[0], task), m.TrialColumns(shift[1], task)).difference
        seen += found.low > 0
    assert 0.74 <= seen / 400 <= 0.87


def test_one_failure_never_narrows_an_interval():
    task = np.arange(12).repeat(2)
    perfect = m.rate([True] * 24, task=task, instance=task)
    one_less = m.rate([True] * 23 + [False], task=task, instance=task)
    assert one_less.low < perfect.low and width(one_less) >= width(perfect)
    task = np.arange(240).repeat(2)
    none, one = (m.rate([n < k for n in range(480)], task=task, instance=task) for k in (0, 1))
    assert none.high < one.high < 2 * none.high


def test_pass_and_mean_score_of_equal_data_have_one_interval():
    passed = np.arange(30) < 7
    rate, score = m.rate(passed, task=range(30)), m.mean_score(passed.astype(float), task=range(30))
    assert (rate.low, rate.high) == pytest.approx((score.low, score.high))
    assert (rate.low, rate.high) == pytest.approx(m.exact(7, 30))


@pytest.mark.parametrize("wrong", [{"cost": -5.0}, {"calls": -1}, {"cost": math.inf}, {"output_tokens": -1}])
def test_negative_usage_is_refused_at_the_record(wrong):
    with pytest.raises(ValidationError):
        Usage(**wrong)


def test_missing_task_is_named():
    with pytest.raises(UsageError, match="task"):
        m.paired_difference(m.TrialColumns([1.0, 0.0], ["a", None]), m.TrialColumns([1.0], ["a"]))


def test_tiny_horizon_is_not_printed_as_zero():
    from worksample.metrics.estimate import Unit

    tiny = m.Estimate("h", 1e-22, m.Counts(1, 1), unit=Unit.HOURS)
    assert tiny.format_value() == "1e-22"
    assert m.Estimate("h", 2.04, m.Counts(1, 1), unit=Unit.HOURS).format_value() == "2.0"


def test_sd_of_a_run_is_not_that_of_a_trial():
    """ALE Table 1's superscript is of whole runs: of 100 tasks a tenth of a trial's."""
    rng = np.random.default_rng(1)
    task = np.arange(100).repeat(3)
    score = (rng.random((100, 3)) < 0.5).astype(float)
    spread = m.repeat_spread(m.TrialColumns(score.ravel(), task, task))
    assert spread.whole.value == pytest.approx(spread.run.value / 10)
    assert spread.whole.value == pytest.approx(spread.mean.value * math.sqrt(3))


def test_edge_weights_are_named_if_they_matter():
    rows = [(p, "a", "human", float(p % 3 == 0)) for p in range(40)]
    rows += [(p, "b", "human", float(p % 2 == 0)) for p in range(4)]
    sums = m.pair_sums(*zip(*rows, strict=True))
    assert "with 4 and with 40 comparisons weigh the same" in " ".join(m.elo_ratings(sums).ratings["a"].notes)
    counted = m.elo_ratings(sums, m.EloOptions(weight="comparison"))
    assert "weigh the same" not in " ".join(counted.ratings["a"].notes)
    assert counted.ratings["b"].counts.valid == 4


def test_dates_are_dates_and_not_texts():
    bundle = m.Bundle(["p"], [10.0])
    late = m.autoflation_over_time(bundle, ["p", "p"], [5.0, 1.0], [True, True], ["2026-02-01", "2025-12-01"])
    assert list(late) == ["2025-12-01", "2026-02-01"]
    with pytest.raises(UsageError, match="is not a date"):
        m.autoflation_over_time(bundle, ["p"], [5.0], [True], ["2026-2-x"])


def test_prior_is_no_evidence():
    rows = [(p, "w", "human", 0.0) for p in range(30)] + [(p, "x", "human", float(p % 2)) for p in range(30)]
    table = m.elo_ratings(m.pair_sums(*zip(*rows, strict=True)), m.EloOptions(ridge=1e-3))
    assert table.ratings["w"].low is None and "prior alone" in " ".join(table.ratings["w"].notes)
    assert table.ratings["x"].low is not None


def test_share_prints_as_written():
    assert m.percent(0.145, 0) == "15"
    assert m.percent(0.285, 0) == "29"


def test_doing_nothing_is_an_approach():
    bad, human = m.Approach("AI", 0.004, 0.75), m.Approach("human", 1.0, 456.0)
    decision = m.decide_by_value([bad, human], nothing=True)
    assert decision.best(100) == "nothing" and decision.best(300) == "AI" and decision.best(1000) == "human"


def test_frames_accept_open_ends():
    frame = m.elo_ratings(m.pair_sums(range(60), ["w"] * 60, ["human"] * 60, [1.0] + [0.0] * 59)).frame()
    assert isinstance(frame, pl.DataFrame) and frame["low"].null_count() == 2


def test_rarely_winning_agent_may_exceed_its_resamples():
    """One win in 40: by the exact interval of a rate it may win 13 % of the time, which are 673 points."""
    table = m.elo_ratings(m.pair_sums(range(40), ["w"] * 40, ["human"] * 40, [1.0] + [0.0] * 39))
    high = 1000 + 400 * math.log10((bound := m.exact(1, 40)[1]) / (1 - bound))
    assert high - 60 < table.ratings["w"].high < high + 20, "resamples alone end 107 points below it"
    even = m.elo_ratings(m.pair_sums(range(40), ["w"] * 40, ["human"] * 40, [1.0, 0.0] * 20))
    assert even.ratings["w"].high - 1000 == pytest.approx(1000 - even.ratings["w"].low, abs=25), "nothing is shifted"


def test_saving_of_few_tasks_has_no_interval_and_says_how_many_are_needed():
    rng = np.random.default_rng(0)
    few, many = (m.deployable_cost(rng.random(n) < 0.2, np.ones(n), rng.lognormal(5, 1, n)).saving for n in (99, 100))
    assert few.low is None and "100 are needed" in few.notes[0] and few.value is not None
    assert many.low is not None


@pytest.mark.parametrize(("good", "wrong"), [(0.02, 0.05), (0.05, 0.05), (0.1, 0.15)])
def test_alpha_covers_with_few_good_items(good, wrong):
    """Three votes on 40 items: 56 to 93 % of the intervals held alpha before, and some of the rest had none."""
    yes, agree = good * (1 - wrong) + (1 - good) * wrong, (1 - wrong) ** 2 + wrong**2
    alpha, subject, held, none = 1 - (1 - agree) / (2 * yes * (1 - yes)), np.arange(40).repeat(3), 0, 0
    for seed in range(150):
        rng = np.random.default_rng([11, seed])
        said = (rng.random(40) < good)[subject] ^ (rng.random(120) < wrong)
        found = m.measure_agreement(m.Ballots(subject, said.astype(int)), m.PASS_FAIL).alpha_nominal
        none += found.value is not None and found.low is None
        held += found.value is None or found.low <= alpha <= found.high
    assert held >= 143 and not none


def test_perfect_agreement_on_few_good_items_has_an_interval():
    found = m.measure_agreement(m.Ballots(np.arange(40).repeat(3), [1] * 6 + [0] * 114), m.PASS_FAIL)
    assert found.alpha_nominal.value == 1 == found.alpha_nominal.high and 0.1 < found.alpha_nominal.low < 0.6
    assert found.positive.high == 1 and 0.1 < found.positive.low < 0.6


def test_all_positive_votes_have_the_exact_interval():
    found = m.measure_agreement(m.Ballots(np.arange(20).repeat(3), [1] * 60), m.PASS_FAIL).positive
    assert found.value == 1 and found.low == pytest.approx(m.exact(20, 20)[0])


def test_coefficient_of_projects_allows_for_one_more_project():
    votes, project = [1] * 6 + [0] * 114, np.arange(40).repeat(3) // 2
    items = m.measure_agreement(m.Ballots(np.arange(40).repeat(3), votes), m.PASS_FAIL).alpha_nominal
    found = m.measure_agreement(m.Ballots(np.arange(40).repeat(3), votes, project=project), m.PASS_FAIL).alpha_nominal
    assert found.low < items.low and "projects" in found.method


def test_dollars_cover_if_expensive_jobs_pass_more_often():
    """40 and 149 jobs: 91 to 92 % of the intervals held the share of all such jobs' dollars before."""
    nodes, weight = np.polynomial.hermite_e.hermegauss(80)
    truth = float((weight / weight.sum() / (1 + np.exp(3 - 1.5 * (nodes + 1)))).sum())
    for jobs, least in ((40, 552), (149, 558)):
        held = 0
        for seed in range(600):
            rng = np.random.default_rng([13, jobs, seed])
            size = rng.normal(0, 1, jobs)
            found = m.dollars_earned(np.exp(size), rng.random(jobs) < 1 / (1 + np.exp(3 - 1.5 * size))).share
            held += found.low <= truth <= found.high
        assert held >= least


def test_uninformative_prices_move_no_end():
    price = np.array([100.0, 900.0] * 20)
    even = m.dollars_earned(price, np.arange(40) % 4 < 2).share
    dear, cheap = (m.dollars_earned(price, np.arange(40) % 2 == k).share for k in (1, 0))
    assert even.low + even.high == pytest.approx(1)
    assert dear.low == pytest.approx(1 - cheap.high) and dear.high == pytest.approx(1 - cheap.low)
    assert m.dollars_earned([100.0] * 40, np.arange(40) < 7).share.high == pytest.approx(m.exact(7, 40)[1])


@pytest.mark.parametrize("trials", [20, 40, 100, 200])
def test_mean_cost_covers_with_one_expensive_trial_in_a_hundred(trials):
    """85 to 87 % of the intervals held the mean before: most samples show one such trial or none."""
    held, mean = 0, 1.29 * math.exp(0.5)
    for seed in range(600):
        rng = np.random.default_rng([17, trials, seed])
        cost = np.exp(rng.normal(0, 1, trials)) * np.where(rng.random(trials) < 0.01, 30.0, 1.0)
        found = m.mean_score(cost, unit=m.Unit.USD)
        held += found.low <= mean <= found.high
    assert held >= 552
