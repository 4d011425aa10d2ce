"""One person is one opinion, however often it was written down."""

import pytest

from verdicts.test_resolve import round_of, said
from worksample.records import Holistic, Rule, Standing
from worksample.verdicts.resolving import resolve


def verdict(rule, *votes):
    """Votes as (evaluator, score)."""
    rows = [said(Holistic(score=score), minute=n, evaluator=who) for n, (who, score) in enumerate(votes)]
    return resolve(round_of(rule, 3), rows)["s"]


@pytest.mark.parametrize("rule", [Rule.MAJORITY, Rule.TIE_BREAK])
def test_repeating_a_vote_moves_nothing(rule):
    once = verdict(rule, ("eva", 3), ("ivo", 1), ("uma", 1))
    again = verdict(rule, ("eva", 3), ("eva", 3), ("eva", 3), ("ivo", 1), ("uma", 1))
    assert once.standing is again.standing is Standing.DECIDED
    assert once.passed is again.passed is False


def test_two_of_the_same_are_too_few():
    assert verdict(Rule.MAJORITY, ("eva", 3), ("eva", 3)).standing is Standing.UNDECIDED


def test_who_says_both_has_said_nothing():
    assert verdict(Rule.MAJORITY, ("eva", 3), ("eva", 1), ("ivo", 1)).standing is Standing.UNDECIDED
    assert verdict(Rule.MAJORITY, ("eva", 3), ("eva", 1), ("ivo", 1), ("uma", 1)).passed is False
    assert verdict(Rule.MAJORITY, ("eva", 3), ("eva", 1)).standing is Standing.UNDECIDED
