"""Secondary figures of papers: chances from ratings, p values, dollars of ungraded work."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from worksample import metrics as m
from worksample.errors import UsageError


def test_400_points_are_odds_of_ten_to_one() -> None:
    """RLI 3.3; its Table 3 has 436.7 points for one agent and 431.6 for another, the human at 1,000."""
    assert m.win_probability(400) == pytest.approx(10 / 11)
    assert m.win_probability(0) == 0.5
    assert m.win_probability(436.7 - 1000) == pytest.approx(0.0376, abs=5e-5)
    assert m.win_probability(-1e9) == pytest.approx(0.0)
    assert m.win_probability(math.inf) == pytest.approx(1.0)
    with pytest.raises(UsageError):
        m.win_probability(math.nan)


def test_chance_to_be_preferred_matches_the_data() -> None:
    won = [1.0] * 12 + [0.0] * 8
    table = m.elo_ratings(m.pair_sums(range(20), ["a"] * 20, ["human"] * 20, won))
    found, back = table.win_probability("a", "human"), table.win_probability("human", "a")
    assert found.value == pytest.approx(0.6)
    assert found.unit is m.Unit.SHARE
    assert None not in (found.low, found.high, back.low)
    gap = table.difference("a", "human")
    assert found.low == pytest.approx(m.win_probability(gap.low or 0.0))
    assert back.low == pytest.approx(1 - (found.high or 0.0))
    with pytest.raises(UsageError, match="no agent"):
        table.win_probability("a", "nobody")


def test_unbounded_end_is_0_or_1() -> None:
    table = m.elo_ratings(m.pair_sums(range(60), ["w"] * 60, ["human"] * 60, [1.0] + [0.0] * 59))
    found = table.win_probability("w", "human")
    assert found.low == 0.0
    assert found.high is not None
    assert found.high < 0.5
    none = m.elo_ratings(m.pair_sums([1, 2], ["w"] * 2, ["human"] * 2, [0.0, 0.0])).win_probability("w", "human")
    assert none.value is None
    assert "never wins" in none.reason


@pytest.mark.parametrize("log", [False, True])
def test_p_of_pearsons_r_matches_scipy(log: bool) -> None:
    """ALE D.1 prints r = 0.89, p < 0.001."""
    rng = np.random.default_rng(4)
    x = rng.lognormal(0, 1, 13)
    y = x**0.7 * rng.lognormal(0, 0.4, 13)
    given = [*x, None], [*y, 3.0]
    found = m.pearson_p(*given, log=log)
    assert found.value == pytest.approx(stats.pearsonr(*((np.log(x), np.log(y)) if log else (x, y))).pvalue)
    assert found.counts == m.correlate(*given, log=log).counts
    assert "no interval" in found.notes[0]


def test_undefined_or_perfect_r_has_its_p() -> None:
    assert m.pearson_p([1, 2], [1, 2]).reason == m.correlate([1, 2], [1, 2]).reason
    assert m.pearson_p([1, 1, 1], [1, 2, 3]).value is None
    line = m.correlate([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
    assert line.value == pytest.approx(1.0)
    assert line.low is None
    assert "one line" in line.notes[0]
    assert m.pearson_p([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]).value == pytest.approx(0.0, abs=1e-9)


def test_possible_and_missing_dollars_cover_all_projects() -> None:
    """RLI 3.3: all projects together would earn $143,991, graded or not."""
    found = m.dollars_earned([100.0, 250.0, None, 40.0, 10.0], [True, None, True, False, None])
    assert found.possible.value == 140
    assert found.missing.value == 260
    assert found.missing.counts.special["ungraded and priced"] == 2
    assert found.missing.counts.special["without a price"] == 1
    assert found.earned.bounds == (100, 360)
    assert m.dollars_earned([100.0], [True]).missing.value == 0
    assert m.dollars_earned([None], [True]).missing.reason == "no project has a price"
    invented = m.dollars_earned([9.0, 5.0], [None, True], illustrative=[True, False])
    assert invented.missing.value == 0
    assert (
        m.dollars_earned([9.0, 5.0], [None, True], illustrative=[True, False], include_illustrative=True).missing.value
        == 9
    )
    worthless = m.dollars_earned([0.0, 7.0], [True, None])
    assert worthless.missing.value == 7


def test_rubric_lift_from_zero_has_points_and_no_ratio() -> None:
    """UpBench C: the relative lift is undefined where first attempts scored 0, the absolute one is not."""
    found = m.rubric_lifts([0.0] * 12, [0.3] * 12)
    assert found.absolute.value == pytest.approx(0.3)
    assert found.absolute.low is not None
    assert found.absolute.high is not None
    assert found.absolute.low < 0.3 < found.absolute.high
    assert found.relative.reason == "first attempts scored 0"
    none = m.rubric_lifts([0.4, 0.6], [None, None])
    assert none.absolute.value == 0
    assert none.relative.reason == "no job has both attempts"
