"""Estimates, counts, printing and closed-form intervals."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import comb

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.metrics.column_checks import codes, flags, floats, whole
from worksample.metrics.rounding import fixed_decimals
from worksample.metrics.uncertainty.intervals import percentiles

QUICK = m.Resampling(resamples=200)


def test_half_up_rounding_is_exact_on_rationals():
    assert m.percent(Fraction(3, 240)) == "1.3"
    assert f"{3 / 240:.1%}" == "1.2%"
    assert fixed_decimals(Fraction(-5, 2)) == "-3"
    assert fixed_decimals(Fraction(-1, 100), 1) == "0.0"


@given(st.fractions(-1000, 1000), st.integers(0, 5))
def test_rounding_matches_decimal(number, digits):
    exact = (number * 10 ** (digits + 1)).numerator // (number * 10 ** (digits + 1)).denominator
    remainder = number * 10 ** (digits + 1) - exact
    steps = Decimal(exact) + (Decimal("0.5") if remainder else 0)
    if number < 0 and remainder:
        steps = Decimal(exact) + Decimal("0.5")
    expected = (steps / 10).quantize(Decimal(1), ROUND_HALF_UP)
    assert m.round_half_up(number, digits) == Fraction(int(expected), 10**digits)


def test_estimate_has_a_value_or_a_reason():
    counts = m.Counts(1, 1)
    with pytest.raises(UsageError):
        m.Estimate("x", None, counts)
    with pytest.raises(UsageError):
        m.Estimate("x", 1.0, counts, reason="both")
    with pytest.raises(UsageError):
        m.Estimate("x", float("nan"), counts)
    with pytest.raises(UsageError):
        m.Estimate("x", 1.0, counts, 2.0, 1.0)


def test_counts_never_exceed_the_plan():
    with pytest.raises(UsageError, match="more than"):
        m.Counts(3, 2, 1, 1)
    assert m.Counts(5, 2, 1, 1).pending == 1


def test_states_are_counted_and_never_zero():
    state = ["valid", "infrastructure", "ungraded", "pending", "valid"]
    estimate = m.rate([True, None, None, None, False], state=state)
    assert (estimate.value, estimate.counts.valid, estimate.counts.pending) == (0.5, 2, 1)
    assert any("missing at random" in c for c in estimate.conditional_on)
    with pytest.raises(UsageError, match='has the state "valid", but no value'):
        m.rate([None], state=["valid"])
    with pytest.raises(UsageError, match="unknown state: crashed"):
        m.rate([None], state=["crashed"])


def test_tabulate_keeps_everything():
    table = m.tabulate({"a": m.rate([True, False]), "b": m.rate([])})
    assert table["printed"].to_list() == ["50.0", "-"]
    assert table["reason"].to_list() == ["", "nothing was planned"]
    assert m.tabulate([]).is_empty()


@given(
    st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.95, 0.99])
)
@settings(deadline=None)
def test_wilson_and_exact_match_statsmodels(pair, level):
    from statsmodels.stats.proportion import proportion_confint

    k, n = pair
    for mine, theirs in ((m.wilson, "wilson"), (m.exact, "beta")):
        low, high = mine(k, n, level)
        expected = proportion_confint(k, n, 1 - level, method=theirs)
        assert (low, high) == pytest.approx(tuple(np.nan_to_num(expected)), abs=1e-9)
        assert low <= k / n <= high


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))))
@settings(deadline=None)
def test_exact_bound_matches_its_definition(pair):
    """At the bound, seeing so few has probability 5 %, in exact rationals."""
    k, n = pair
    bound = Fraction(m.exact_upper(k, n))
    tail = sum(comb(n, i) * bound**i * (1 - bound) ** (n - i) for i in range(k + 1))
    assert float(tail) == pytest.approx(0.05, abs=1e-9)
    if k == 0:
        assert float(bound) == pytest.approx(1 - 0.05 ** (1 / n))


@given(st.integers(0, 60), st.integers(0, 60))
def test_more_successes_never_lower_an_interval(k, more):
    n = 120
    low, high = m.wilson(k, n)
    low2, high2 = m.wilson(k + more, n)
    assert low2 >= low - 1e-12 and high2 >= high - 1e-12


def test_correlation_matches_scipy():
    from scipy import stats

    rng = np.random.default_rng(4)
    for size in (4, 12, 300):
        x = rng.normal(size=size)
        y = x + rng.normal(size=size)
        mine = m.correlate(x, y)
        theirs = stats.pearsonr(x, y)
        ends = theirs.confidence_interval(0.95)
        assert (mine.value, mine.low, mine.high) == pytest.approx((theirs.statistic, ends.low, ends.high))
        assert m.correlate(y, x).value == pytest.approx(mine.value)
        assert m.correlate(3 * x + 1, y).value == pytest.approx(mine.value)
        logged = m.correlate(np.exp(x), np.exp(y), log=True)
        assert logged.value == pytest.approx(mine.value)


def test_undefined_correlation_has_a_reason():
    assert m.correlate([1, 2], [1, 2]).reason == "2 pairs are too few"
    assert m.correlate([1, 1, 1, 1], [1, 2, 3, 4]).reason == "one of the two does not vary"
    assert m.correlate([1, 2, 3], [1, 2, 4]).notes == ("fewer than four pairs: no interval",)
    assert m.representativeness([0.1, None, 0.3, 0.4], [0.1, 0.2, 0.3, 0.5]).counts.valid == 3
    assert m.correlate([0, 1, 2, 4], [1, 2, 4, 9], log=True).counts.special["zeros left out"] == 1


def test_lost_resamples_count_beyond_both_ends():
    values = np.arange(1000.0)
    assert percentiles(values, 0.95) == pytest.approx((24.975, 974.025))
    low, high = percentiles(np.concatenate([values, [np.nan] * 10]), 0.95)
    assert low < 24.975 and high > 974.025
    assert percentiles(np.concatenate([values, [np.nan] * 100]), 0.95) == (None, None)
    assert percentiles(np.concatenate([values, [np.inf] * 100]), 0.95)[1] is None


@given(st.lists(st.sampled_from(["a", "b", "c", "dd"]), max_size=30))
@settings(deadline=None)
def test_codes_name_every_row(names):
    for column in (pl.Series("x", names, dtype=pl.String), pl.Series("x", names, dtype=pl.String).cast(pl.Categorical)):
        found = codes("x", column)
        assert [found.names()[i] for i in found.index] == names
        assert found.size == len(set(names))
    numbers = [1000 * ord(n[0]) for n in names]
    found = codes("x", np.array(numbers, dtype=np.int64))
    assert [found.labels[int(i)] for i in found.index] == numbers


def test_columns_are_checked_once_and_clearly():
    with pytest.raises(UsageError, match="the value nan in row 1"):
        floats("cost", np.array([1.0, np.nan]))
    with pytest.raises(UsageError, match="the value inf in row 0"):
        floats("cost", [float("inf")])
    with pytest.raises(UsageError, match="not numbers"):
        floats("cost", ["1"])
    with pytest.raises(UsageError, match="one type"):
        floats("cost", ["1", 2])
    with pytest.raises(UsageError, match="2 dimensions"):
        floats("cost", np.zeros((2, 2)))
    with pytest.raises(UsageError, match="different lengths"):
        m.rate([True], state=["valid", "valid"])
    with pytest.raises(UsageError, match="is missing"):
        codes("task", ["a", None])
    with pytest.raises(UsageError, match="cannot be names"):
        codes("task", [1.5])


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        (lambda: floats("a", [2.0], high=1), "pass 1 or less"),
        (lambda: floats("a", [None, -1.0], low=0), "pass 0 or more"),
        (lambda: flags("a", [2]), "pass True or False"),
        (lambda: whole("a", [1.5]), "pass whole numbers"),
        (lambda: m.model_effect(m.Configurations(["x", "y"], ["a", "b"], ["1", "1"], [0, 1]), "z"), "one of x, y"),
    ],
)
def test_refused_column_names_accepted_values(read, wanted):
    with pytest.raises(UsageError) as told:
        read()
    assert told.value.next == wanted


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_medians_lie_between_tasks_of_the_right_ranks(values):
    """The interval of the sign test (scipy's), by its definition: the values that it would not refuse."""

    from scipy import stats

    found = m.median_amount(values)
    assert found.value == pytest.approx(float(np.median(values)))
    ordered = sorted(values)
    ranks = [k for k in range(len(values)) if stats.binom.cdf(k, len(values), 0.5) <= 0.025]
    if ranks:
        assert (found.low, found.high) == (ordered[max(ranks)], ordered[len(values) - 1 - max(ranks)])
    else:
        assert found.low is None and "too few" in found.notes[0]
