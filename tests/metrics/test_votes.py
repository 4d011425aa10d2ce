"""Holistic verdicts, preferences and agreement."""

from fractions import Fraction
from itertools import combinations, permutations, product
from statistics import median

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import UsageError

PROTOCOLS = [m.THREE_VOTES, m.TIE_BREAK]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("votes", list(product([1, 2, 3], repeat=3)))
def test_three_votes_give_the_majority(votes, protocol):
    found = m.holistic_verdict(votes, protocol)
    assert found.passed == (sum(v >= 2 for v in votes) >= 2)
    majority = [v for v in (1, 2, 3) if votes.count(v) >= 2]
    assert found.label == (majority[0] if majority else median(votes))
    assert found.passed == (found.label >= 2)


@pytest.mark.parametrize(
    ("votes", "passed", "label", "reason"),
    [
        ((), None, None, "no votes"),
        ((2,), None, None, "too few votes"),
        ((1, 1), False, 1, ""),
        ((3, 3), True, 3, ""),
        ((2, 3), True, None, "the votes are split on the label"),
        ((1, 2), None, None, "the votes are split on passing"),
        ((1, 3), None, None, "the votes are split on passing"),
        ((1, 2, 2, 3), True, 2, ""),
        ((1, 1, 2, 3), None, None, "the votes are split on passing"),
        ((2, 2, 3, 3), True, None, "the votes are split on the label"),
        ((1, 1, 1, 3, 3), False, 1, ""),
    ],
)
def test_fewer_and_more_votes_are_resolved(votes, passed, label, reason):
    for protocol in PROTOCOLS:
        assert m.holistic_verdict(votes, protocol) == m.HolisticVerdict(len(votes), passed, label, reason)


def test_single_vote_can_be_the_protocol():
    assert m.holistic_verdict([2], m.VoteProtocol("one", 1, 1)).passed is True
    with pytest.raises(UsageError):
        m.VoteProtocol("wrong", 2, 3)


@given(st.lists(st.integers(1, 3), max_size=7))
@settings(deadline=None)
def test_order_of_votes_never_matters(votes):
    for other in list(permutations(votes))[:30]:
        assert m.holistic_verdict(other) == m.holistic_verdict(votes)


@given(st.lists(st.integers(1, 3), min_size=1, max_size=5), st.data())
@settings(deadline=None)
def test_better_vote_never_lowers_a_verdict(votes, data):
    place = data.draw(st.integers(0, len(votes) - 1))
    raised = [min(3, v + (i == place)) for i, v in enumerate(votes)]
    before, after = m.holistic_verdict(votes), m.holistic_verdict(raised)
    assert not (before.passed is True and after.passed is not True)
    if before.label is not None and after.label is not None:
        assert after.label >= before.label


def test_table_of_votes_gives_verdicts():
    table = m.holistic_verdicts(["b", "a", "b", "a", "b", "c"], [1, 2, 3, 2, 3, None], evaluator=list("xxyyzx"))
    assert table.rows() == [("b", 3, True, 3, ""), ("a", 2, True, 2, ""), ("c", 0, None, None, "no votes")]


def test_invalid_votes_are_refused():
    with pytest.raises(UsageError, match="above 3"):
        m.holistic_verdict([4])
    with pytest.raises(UsageError, match="below 1"):
        m.holistic_verdict([0])
    with pytest.raises(UsageError, match="whole number"):
        m.holistic_verdict([1.5])
    with pytest.raises(UsageError, match="evaluator x has several votes on a"):
        m.holistic_verdicts(["a", "a", "b"], [1, 1, 1], evaluator=["x", "x", "x"])
    assert len(m.holistic_verdicts(["a", "a"], [1, None], evaluator=["x", "x"])) == 1


# --- preferences


@pytest.mark.parametrize(("first", "second"), list(product([True, False], repeat=2)))
@pytest.mark.parametrize(("completion", "quality"), list(product([1, 2, 3], repeat=2)))
def test_quality_counts_only_if_both_succeeded(first, second, completion, quality):
    found = m.pair_preference([completion], [quality], [first], [second])[0]
    answer = quality if first and second else completion
    assert found == {1: 1.0, 2: 0.5, 3: 0.0}[answer]
    turned = m.pair_preference([4 - completion], [4 - quality], [second], [first])[0]
    assert turned == 1 - found


def test_preference_with_unknown_success_is_undecided():
    assert m.pair_preference(["first"], ["second"], [None], [True]).to_list() == [None]
    assert m.pair_preference(["first"], ["first"], [None], [True]).to_list() == [1.0]
    assert m.pair_preference(["first"], ["second"], [None], [False]).to_list() == [1.0]
    assert m.pair_preference([None], ["second"], [True], [True]).to_list() == [0.0]
    with pytest.raises(UsageError, match="unknown preference 'left'"):
        m.pair_preference(["left"], ["first"], [True], [True])


@pytest.mark.parametrize(
    ("votes", "preference", "reason"),
    [
        ([1, 1, 0], 1.0, ""), ([1, 0.5, 0], 0.5, ""), ([0.5, 0.5, 0], 0.5, ""), ([0, 0], 0.0, ""),
        ([0, 1], None, "the votes are split"), ([1], None, "too few votes"), ([None], None, "no votes"),
    ],
)  # fmt: skip
def test_votes_on_a_pair_are_resolved(votes, preference, reason):
    size = len(votes)
    table = m.project_preferences(["p"] * size, ["a"] * size, ["b"] * size, votes)
    assert table.row(0)[4:] == (preference, reason)
    turned = [None if v is None else 1 - v for v in votes]
    assert m.project_preferences(["p"] * size, ["b"] * size, ["a"] * size, turned).rows() == table.rows()


def test_invalid_pairs_are_refused():
    with pytest.raises(UsageError, match="compares a with itself"):
        m.project_preferences(["p"], ["a"], ["a"], [1])
    with pytest.raises(UsageError, match=r"evaluator e has several votes on a against b in p"):
        m.project_preferences(["p", "p"], ["a", "b"], ["b", "a"], [1, 0], evaluator=["e", "e"])
    with pytest.raises(UsageError, match="has a vote other than"):
        m.project_preferences(["p"], ["a"], ["b"], [0.7])
    with pytest.raises(UsageError, match="is called 'human'"):
        m.human_comparisons(["p"], ["human"], [1])
    assert m.project_preferences([], [], [], []).is_empty()


def test_verdicts_are_comparisons_with_the_human():
    table = m.human_comparisons(["p", "q", "r", "s"], ["a"] * 4, [1, 2, 3, None])
    assert table["preference"].to_list() == [0.0, 0.5, 1.0, None]
    assert set(table["second"]) == {"human"}


# --- agreement


def slow_agreement(items, ends, positive):
    """Straight from the definitions, in rationals: share, hard, positive, nominal and interval alpha, AC1."""
    pairs = [pair for votes in items for pair in combinations(votes, 2)]
    share = Fraction(sum(a == b for a, b in pairs), len(pairs))
    hard = Fraction(sum({a, b} == set(ends) for a, b in pairs), len(pairs))
    ordered = [
        (a, b, len(v) - 1) for v in items if len(v) > 1 for i, a in enumerate(v) for j, b in enumerate(v) if i != j
    ]
    given = [(b >= positive, w) for a, b, w in ordered if a >= positive]
    specific = sum(Fraction(int(hit), w) for hit, w in given) / sum(Fraction(1, w) for _, w in given) if given else None
    values = [v for votes in items if len(votes) > 1 for v in votes]
    n = len(values)

    def alpha(distance):
        observed = sum(Fraction(distance(a, b), w) for a, b, w in ordered) / n
        expected = Fraction(sum(distance(a, b) for a, b in permutations(values, 2)), n * (n - 1))
        return 1 - observed / expected if expected else None

    steps = sorted({v for votes in items for v in votes})
    paired = [v for v in items if len(v) > 1]
    agreeing = sum(Fraction(sum(a == b for a, b in permutations(v, 2)), len(v) * (len(v) - 1)) for v in paired) / len(
        paired
    )
    marginal = [sum(Fraction(v.count(s), len(v)) for v in items) / len(items) for s in steps]
    chance = sum(p * (1 - p) for p in marginal) / (len(steps) - 1) if len(steps) > 1 else None
    ac1 = None if chance is None else (agreeing - chance) / (1 - chance)
    return share, hard, specific, alpha(lambda a, b: int(a != b)), alpha(lambda a, b: (a - b) ** 2), ac1


ITEMS = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), min_size=1, max_size=8)


@given(ITEMS.filter(lambda items: any(len(v) > 1 for v in items)))
@settings(deadline=None, max_examples=150)
def test_agreement_matches_its_definitions(items):
    subject = [i for i, votes in enumerate(items) for _ in votes]
    found = m.measure_agreement(m.Ballots(subject, [v for votes in items for v in votes]), how=m.Resampling(20))
    mine = (found.share, found.hard, found.positive, found.alpha_nominal, found.alpha_interval, found.ac1)
    for estimate, expected in zip(mine, slow_agreement(items, (1, 3), 2), strict=True):
        assert (estimate.value is None) == (expected is None), estimate
        if expected is not None:
            assert estimate.value == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_matches_the_krippendorff_package(level):
    rng = np.random.default_rng(8)
    for size in (5, 60, 500):
        votes = rng.choice([1.0, 2, 3, 4, np.nan], size=(4, size), p=[0.4, 0.2, 0.1, 0.1, 0.2])
        rater, item = np.nonzero(~np.isnan(votes))
        found = m.measure_agreement(
            m.Ballots(item, votes[rater, item], rater), m.Scale(2, (1, 4)), how=m.Resampling(20)
        )
        expected = krippendorff.alpha(votes, level_of_measurement=level)
        assert getattr(found, f"alpha_{level}").value == pytest.approx(expected)


def test_high_agreement_can_be_worthless():
    """At a pass rate of 3 %, 94 % agreement goes with an alpha around 0, and with none on the positives."""
    items = [(1, 1)] * 940 + [(1, 2)] * 60
    ballots = m.Ballots([i for i in range(1000) for _ in range(2)], [v for pair in items for v in pair])
    found = m.measure_agreement(ballots)
    assert found.share.format_value() == "94.0"
    assert abs(found.alpha_nominal.value) < 0.05 and found.positive.value == 0
    assert found.ac1.value > 0.9


def test_tie_break_does_not_count():
    """Two votes and a tie-break: a third is asked for where they differ, so pooling all three is biased."""
    subject, vote, order = [], [], []
    for item in range(100):
        votes = [1, 2, 1] if item < 40 else [1, 1]
        subject += [item] * len(votes)
        vote += votes
        order += range(len(votes))
    shuffled = np.random.default_rng(1).permutation(len(vote))
    subject, vote, order = (np.array(c)[shuffled] for c in (subject, vote, order))
    found = m.measure_agreement(m.Ballots(subject, vote, order=order), protocol=m.TIE_BREAK)
    assert found.share.value == 0.6
    assert found.share.counts.special["tie breaking votes left out"] == 40
    assert m.measure_agreement(m.Ballots(subject, vote)).share.value == pytest.approx(100 / 180)
    with pytest.raises(UsageError, match="the order of the votes"):
        m.measure_agreement(m.Ballots(subject, vote), protocol=m.TIE_BREAK)
    moments = [f"2026-01-{o + 1:02d}" for o in order]
    by_time = m.measure_agreement(m.Ballots(subject, vote, order=moments), protocol=m.TIE_BREAK)
    assert by_time.share.value == 0.6


def test_items_of_one_project_are_resampled_together():
    rng = np.random.default_rng(2)
    agree = np.repeat(rng.random(30) < 0.5, 20)
    votes = np.column_stack([np.ones(600), np.where(agree, 1, 2)]).ravel()
    subject = np.repeat(np.arange(600), 2)
    alone = m.measure_agreement(m.Ballots(subject, votes)).share
    together = m.measure_agreement(m.Ballots(subject, votes, project=subject // 20)).share
    assert together.value == alone.value
    assert together.high - together.low > 3 * (alone.high - alone.low)


def test_undefined_agreement_has_a_reason():
    empty = m.measure_agreement(m.Ballots([], []))
    assert {e.reason for e in empty.all()} == {"no item has two votes"}
    single = m.measure_agreement(m.Ballots(["a", "b"], [1, 2]))
    assert {e.reason for e in single.all()} == {"no item has two votes"}
    same = m.measure_agreement(m.Ballots(["a", "a", "b", "b"], [1, 1, 1, 1]))
    assert same.share.value == 1 and same.positive.reason == "no positive vote"
    assert "chance agrees" in same.alpha_nominal.reason and "chance agrees" in same.ac1.reason
    with pytest.raises(UsageError, match="several votes"):
        m.measure_agreement(m.Ballots(["a", "a"], [1, 1], ["x", "x"]))
    with pytest.raises(UsageError, match="100 different values"):
        m.measure_agreement(m.Ballots(range(100), range(100)))


def test_preferences_agree_on_their_own_scale():
    found = m.measure_agreement(m.Ballots([1, 1, 2, 2, 3, 3], [1, 0, 1, 0.5, 0, 0]), m.PREFERENCE)
    assert (found.share.value, found.hard.value) == (1 / 3, 1 / 3)


def test_false_negatives_are_bounded():
    assert m.false_negative_bound(0, 0).reason == "nothing was audited"
    assert m.false_negative_bound(3, 3).high == 1
    with pytest.raises(UsageError):
        m.false_negative_bound(4, 3)
