"""UpBench: completion, rubric scores, lifts, pass@k, ceilings, attempts."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import UsageError

QUICK = m.Resampling(resamples=200)
IMPORTANCE = ["critical", "important", "optional", "pitfall"]
ROW = st.tuples(st.sampled_from(IMPORTANCE), st.sampled_from(list(m.Mark)))


def scored(rows, **rules):
    table = m.rubric_scores(["s"] * len(rows), [r[0] for r in rows], [r[1] for r in rows], m.RubricRules(**rules))
    return table.row(0, named=True)


def by_definition(rows, skips="by cause", pitfalls_gate=False):
    gating = ["critical", "important", *(["pitfall"] if pitfalls_gate else [])]
    if skips == "by cause":
        if any(mark == "cannot_judge" for _, mark in rows):
            return None, None
        rows = [r for r in rows if r[1] != "not_applicable"]
    gates = [mark == "pass" for kind, mark in rows if kind in gating]
    score = Fraction(sum(mark == "pass" for _, mark in rows), len(rows)) if rows else None
    return (all(gates) if gates else None), score


@given(st.lists(ROW, min_size=1, max_size=12), st.sampled_from(["by cause", "as misses"]), st.booleans())
@settings(deadline=None, max_examples=200)
def test_rubric_score_matches_its_definition(rows, skips, pitfalls_gate):
    found = scored(rows, skips=skips, pitfalls_gate=pitfalls_gate)
    completed, score = by_definition(rows, skips, pitfalls_gate)
    assert found["completed"] == completed
    assert found["score"] == (None if score is None else pytest.approx(float(score)))
    assert (found["reason"] == "") == (completed is not None and score is not None)


@given(st.lists(ROW, min_size=1, max_size=8), st.data())
@settings(deadline=None, max_examples=50)
def test_extra_pass_never_lowers_a_score(rows, data):
    place = data.draw(st.integers(0, len(rows) - 1))
    better = [*rows[:place], (rows[place][0], m.Mark.PASS), *rows[place + 1 :]]
    before, after = (scored(r, skips="as misses") for r in (rows, better))
    assert after["score"] >= before["score"]
    assert not (before["completed"] and not after["completed"])


def test_skips_have_causes():
    assert scored([("critical", "pass"), ("optional", "not_applicable")])["score"] == 1
    stuck = scored([("critical", "fail"), ("optional", "cannot_judge")])
    assert (stuck["completed"], stuck["score"], stuck["reason"]) == (None, None, "a criterion could not be judged")
    paper = m.rubric_scores(["s", "s"], ["critical", "optional"], ["pass", "cannot_judge"], m.UPBENCH)
    assert paper["score"][0] == 0.5 and paper["completed"][0] is True
    assert "UpBench's formula" in m.UPBENCH.says()[0]
    every = scored([("critical", "not_applicable")] * 3)
    assert (every["score"], every["reason"], every["skipped"]) == (None, "no criterion applies", 3)
    assert scored([("optional", "pass")])["reason"] == "no criterion that decides completion applies"
    assert scored([("critical", "pass"), ("pitfall", "fail")])["completed"] is True
    assert scored([("critical", "pass"), ("pitfall", "fail")], pitfalls_gate=True)["completed"] is False
    with pytest.raises(UsageError, match="unknown value 'vital'"):
        scored([("vital", "pass")])
    with pytest.raises(UsageError, match="unknown value 'skip'"):
        scored([("critical", "skip")])
    with pytest.raises(UsageError, match="skips"):
        m.RubricRules(skips="never")
    assert m.rubric_scores([], [], []).is_empty()


# --- lifts


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([True, False, None])), min_size=1, max_size=40))
@settings(deadline=None, max_examples=60)
def test_lifts_match_rationals(rows):
    first = [a for a, _ in rows]
    second = [None if a else b for a, b in rows]
    found = m.success_lifts(first, second)
    n, a = len(rows), sum(first)
    retried, b = sum(s is not None for s in second), sum(s is True for s in second)
    assert found.p1.exact == Fraction(a, n)
    assert found.p_overall.exact == Fraction(a + b, n)
    assert found.absolute.exact == found.p_overall.exact - found.p1.exact
    assert found.relative.exact == (Fraction(b, a) if a else None)
    assert found.rescue.exact == (Fraction(b, retried) if retried else None)
    assert (found.relative.value is None) == (a == 0)
    for e in found.all():
        assert e.low is None or e.low - 1e-12 <= e.value
        assert e.high is None or e.value <= e.high + 1e-12


def test_lifts_of_jobs_that_share_tasks_are_clustered():
    first = np.repeat(np.random.default_rng(0).random(30) < 0.4, 10)
    second = [None if f else bool(k % 3 == 0) for k, f in enumerate(first)]
    alone = m.success_lifts(first, second)
    shared = m.success_lifts(first, second, task=np.repeat(np.arange(30), 10))
    assert shared.p1.value == alone.p1.value
    assert shared.p1.high - shared.p1.low > 2 * (alone.p1.high - alone.p1.low)
    assert m.success_lifts(first, second, task=np.arange(300)) == alone


def test_undefined_lifts_have_reasons():
    assert m.lifts_from_counts(5, 0, 5, 2).relative.reason == "no job passed at first"
    assert m.lifts_from_counts(5, 5, 0, 0).rescue.reason == "no failed job had a re-attempt"
    assert m.success_lifts([], []).p1.reason == "nothing was planned"
    assert "1 ungraded" in m.success_lifts([None], [None]).p1.reason
    assert m.success_lifts([None, True], [True, None]).p1.counts.ungraded == 1
    for wrong in ((5, 6, 0, 0), (5, 3, 3, 0), (5, 3, 1, 2)):
        with pytest.raises(UsageError, match="contradict"):
            m.lifts_from_counts(*wrong)
    with pytest.raises(UsageError, match="has a second attempt"):
        m.success_lifts([True], [True])


def test_rubric_lifts_are_estimated():
    first, second = [0.5, 0.25, 0.75, 1.0, None], [0.75, 0.5, None, None, 0.5]
    found = m.rubric_lifts(first, second, how=QUICK)
    assert found.first.value == pytest.approx(2.5 / 4)
    assert found.overall.value == pytest.approx(3.0 / 4)
    assert found.absolute.value == pytest.approx(0.5 / 4)
    assert found.relative.value == pytest.approx(1.25 / 0.75 - 1)
    assert found.first.counts.special["M"] == 2
    assert m.rubric_lifts([0.5], [None]).relative.reason == "no job has both attempts"
    assert m.rubric_lifts([0.0], [0.5]).relative.reason == "first attempts scored 0"
    assert m.rubric_lifts([], []).first.value is None
    assert m.rubric_lifts([0.9], [0.1]).absolute.value == pytest.approx(-0.8)


# --- pass@k


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
@settings(deadline=None)
def test_pass_at_k_matches_all_subsets(case):
    n, c, k = case
    draws = list(combinations([True] * c + [False] * (n - c), k))
    expected = Fraction(sum(any(d) for d in draws), len(draws))
    assert expected == 1 - Fraction(comb(n - c, k), comb(n, k))
    assert m.pass_at_k_each([n], [c], k)[0] == pytest.approx(float(expected))


def test_pass_at_k_of_a_suite_is_averaged():
    attempts, passes = [4, 4, 2, 10], [0, 2, 2, 5]
    found = m.pass_at_k(attempts, passes, 3)
    assert found.value == pytest.approx(np.mean([0, 1, 1 - comb(5, 3) / comb(10, 3)]))
    assert (found.counts.valid, found.counts.ungraded) == (3, 1)
    assert "fewer than 3" in found.notes[0]
    capped = m.pass_at_k(attempts, passes, 3, ceiling=0.5)
    assert capped.value == pytest.approx(found.value / 2)
    assert "a ceiling of 0.5" in capped.conditional_on
    steps = [m.pass_at_k([10] * 5, [0, 1, 2, 5, 10], k).value for k in range(1, 11)]
    assert steps == sorted(steps) and steps[0] == pytest.approx(0.36)
    assert m.pass_at_k([1000], [3], 500).value == pytest.approx(1 - comb(997, 500) / comb(1000, 500))


def test_undefined_pass_at_k_has_a_reason():
    assert m.pass_at_k([1], [1], 2).reason == "no task has 2 attempts"
    assert m.pass_at_k([], [], 1).value is None
    for wrong in (([1], [2], 1), ([1], [-1], 1), ([1], [1], 0)):
        with pytest.raises(UsageError):
            m.pass_at_k(*wrong)
    with pytest.raises(UsageError, match="ceiling"):
        m.pass_at_k([1], [1], 1, ceiling=2)


# --- attempts one after another


def chains(rng, jobs, feasible, chance, most, stop=0.0):
    """(job, attempt, passed) rows of jobs that are retried until they pass, at most `most` times."""
    rows = []
    for j in range(jobs):
        can = rng.random() < feasible
        for k in range(1, most + 1):
            passed = bool(can and rng.random() < chance)
            rows.append((j, k, passed))
            if passed or rng.random() < stop:
                break
    return [list(c) for c in zip(*rows, strict=True)]


def test_passed_within_matches_kaplan_meier():
    from statsmodels.duration.survfunc import SurvfuncRight

    job, attempt, passed = chains(np.random.default_rng(3), 300, 0.7, 0.4, 5, stop=0.3)
    order = np.random.default_rng(1).permutation(len(job))
    h = m.histories(*([c[k] for k in order] for c in (job, attempt, passed)))
    found = m.passed_within(h, QUICK)
    last = {j: (k, p) for j, k, p in zip(job, attempt, passed, strict=True)}
    survival = SurvfuncRight([k for k, _ in last.values()], [int(p) for _, p in last.values()])
    expected = dict(zip(survival.surv_times, 1 - survival.surv_prob, strict=True))
    for a in found:
        at_risk = sum(k >= a.k for k, _ in last.values())
        assert a.hazard.counts.valid == at_risk
        assert a.hazard.value == pytest.approx(sum(k == a.k and p for k, p in last.values()) / at_risk)
        assert a.observed.value == pytest.approx(sum(k <= a.k and p for k, p in last.values()) / 300)
        assert a.within.value == pytest.approx(expected[a.k])
        assert a.observed.value <= a.within.value + 1e-12
        assert a.within.low <= a.within.value <= a.within.high
    assert m.attempts_frame(found)["k"].to_list() == [1, 2, 3, 4, 5]


def test_passed_within_is_a_share_if_no_attempt_is_missing():
    second = m.passed_within(m.histories([0, 1, 1, 2, 2], [1, 1, 2, 1, 2], [True, False, True, False, True]))[1].within
    assert (second.low, second.high) == pytest.approx(m.exact(3, 3))
    assert second.method.startswith("exact")


def test_last_success_does_not_widen_passed_within():
    """Of ten jobs six pass at first, and three of the others are tried again: one success more narrows or shifts."""

    def lows(*again: bool) -> float:
        jobs = [*range(10), 6, 7, 8]
        passed = [*([True] * 6), *([False] * 4), *again]
        return m.passed_within(m.histories(jobs, [*([1] * 10), *([2] * 3)], passed))[1].within.low

    rising = [lows(*([True] * k + [False] * (3 - k))) for k in range(4)]
    assert rising == sorted(rising)


def test_impossible_histories_are_refused():
    with pytest.raises(UsageError, match="gap or a duplicate"):
        m.histories(["a"], [2], [True])
    with pytest.raises(UsageError, match="gap or a duplicate"):
        m.histories(["a", "a"], [1, 1], [False, True])
    with pytest.raises(UsageError, match="another one follows"):
        m.histories(["a", "a"], [1, 2], [True, True])
    h = m.histories(["a", "a", "b", "c"], [1, 2, 1, 1], [False, None, None, True])
    assert (h.passed.tolist(), h.failed.tolist(), h.ungraded) == ([1, 0], [1, 0], 1)
    assert m.passed_within(m.histories([], [], [])) == ()
    assert m.fit_ceiling(m.histories([], [], [])).ceiling.reason == "no job"
    assert m.fit_ceiling(m.histories(["a"], [1], [False])).ceiling.reason == "no job ever passed"


def test_ceiling_is_found_if_the_data_have_one():
    h = m.histories(*chains(np.random.default_rng(5), 4000, 0.6, 0.5, 6))
    found = m.fit_ceiling(h, "independent", QUICK)
    assert found.ceiling.value == pytest.approx(0.6, abs=0.03)
    assert found.ceiling.low < 0.6 < found.ceiling.high
    assert found.per_attempt.value == pytest.approx(0.5, abs=0.05)
    free = m.fit_ceiling(m.histories(*chains(np.random.default_rng(6), 2000, 1.0, 0.5, 6)), "independent", QUICK)
    assert free.ceiling.value > 0.97 and "no upper end" in free.ceiling.notes[-1]


def test_fit_maximises_the_likelihood():
    """Against scipy's optimiser on the same likelihood, written out for independent attempts."""
    from scipy.optimize import minimize

    h = m.histories(*chains(np.random.default_rng(9), 800, 0.5, 0.4, 4))

    def loss(x):
        ceiling, p = x
        missed = (1 - p) ** np.arange(5)
        alive = 1 - ceiling * (1 - missed)
        return -(h.passed @ np.log(alive[:-1] - alive[1:]) + h.failed @ np.log(alive[1:]))

    best = minimize(loss, [0.7, 0.3], bounds=[(1e-3, 1), (1e-3, 0.999)])
    found = m.fit_ceiling(h, "independent", QUICK)
    assert (found.ceiling.value, found.per_attempt.value) == pytest.approx(tuple(best.x), abs=1e-3)


def test_two_or_three_levels_do_not_identify_three_parameters():
    h = m.histories(*chains(np.random.default_rng(7), 322, 0.6, 0.6, 2))
    found = m.fit_ceiling(h)
    assert found.ceiling.value is None
    assert found.ceiling.reason.startswith("not identifiable: 3 parameters from 2 levels of k")
    assert found.compatible[0] < found.compatible[1]
    assert (
        m.fit_ceiling(m.histories(*chains(np.random.default_rng(8), 322, 0.6, 0.6, 1)), "independent").ceiling.value
        is None
    )
    three = m.fit_ceiling(m.histories(*chains(np.random.default_rng(7), 322, 0.6, 0.6, 3)))
    assert "saturated" in three.ceiling.notes[0] and three.ceiling.low < 0.6 < three.ceiling.high
    saturated = m.fit_ceiling(m.histories(*chains(np.random.default_rng(7), 3000, 0.6, 0.6, 2)), "independent", QUICK)
    assert "saturated" in saturated.ceiling.notes[0]
    with pytest.raises(UsageError):
        m.fit_ceiling(h, "guess")


def test_ceiling_is_bounded():
    """p_max (1 - (1 - p)**k) through both points is the bound; a smaller pool only lowers it."""
    bound = m.ceiling_bound(0.398, 0.512)
    p = 0.398 / bound
    assert bound * (1 - (1 - p) ** 2) == pytest.approx(0.512)
    for n in range(2, 60):
        for c in range(1, n):
            ceiling = 0.398 / (c / n)
            second = ceiling * (1 - comb(n - c, 2) / comb(n, 2))
            if second <= 0.512:
                assert ceiling <= bound + 1e-9
    for wrong in ((0.5, 0.4), (0.2, 0.5), (0, 0)):
        with pytest.raises(UsageError):
            m.ceiling_bound(*wrong)
