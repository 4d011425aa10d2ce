"""Each person counts once, however often their opinion was recorded."""

import pytest

from results.test_resolution_rules import round_of, said
from worksample.records import GradePayload, Holistic, PartPayload, ResolutionRule, Standing
from worksample.results.verdicts import resolve


def verdict(rule, *votes):
    """Votes as (evaluator, score)."""
    rows = [said(Holistic(score=score), minute=n, evaluator=who) for n, (who, score) in enumerate(votes)]
    return resolve(round_of(rule, 3), rows)["s"]


@pytest.mark.parametrize("rule", [ResolutionRule.MAJORITY, ResolutionRule.TIE_BREAK])
def test_repeated_vote_changes_nothing(rule):
    once = verdict(rule, ("eva", 3), ("ivo", 1), ("uma", 1))
    again = verdict(rule, ("eva", 3), ("eva", 3), ("eva", 3), ("ivo", 1), ("uma", 1))
    assert once.standing is again.standing is Standing.DECIDED
    assert once.passed is again.passed is False


def test_two_votes_of_one_person_are_too_few():
    assert verdict(ResolutionRule.MAJORITY, ("eva", 3), ("eva", 3)).standing is Standing.UNDECIDED


def test_contradicting_votes_of_one_person_cancel():
    assert verdict(ResolutionRule.MAJORITY, ("eva", 3), ("eva", 1), ("ivo", 1)).standing is Standing.UNDECIDED
    assert verdict(ResolutionRule.MAJORITY, ("eva", 3), ("eva", 1), ("ivo", 1), ("uma", 1)).passed is False
    assert verdict(ResolutionRule.MAJORITY, ("eva", 3), ("eva", 1)).standing is Standing.UNDECIDED


def graded(rule, *shares, overlap=3):
    """Grades as (evaluator, number of its draw, share)."""
    parts = [PartPayload(name="p", fraction=share) for _, _, share in shares]
    grades = [GradePayload(score=p.fraction, parts=(p,)) for p in parts]
    each = enumerate(zip(shares, grades, strict=True))
    rows = [said(g, minute=n, evaluator=who, record={"n": draw}) for n, ((who, draw, _), g) in each]
    return resolve(round_of(rule, overlap), rows)["s"]


@pytest.mark.parametrize("rule", [ResolutionRule.MAJORITY, ResolutionRule.TIE_BREAK, ResolutionRule.MEAN])
def test_last_of_several_grades_by_one_person_counts(rule):
    assert graded(rule, ("eva", 1, 0.0), ("eva", 1, 0.0), ("eva", 1, 1.0)).reason == "too few grades"
    changed = graded(rule, ("eva", 1, 0.0), ("ivo", 1, 1.0), ("eva", 1, 1.0), ("uma", 1, 1.0))
    assert (changed.score, changed.passed) == (1.0, True)
    once = graded(rule, ("eva", 1, 0.0), ("ivo", 1, 0.0), ("uma", 1, 1.0))
    again = graded(rule, ("eva", 1, 0.0), ("ivo", 1, 0.0), ("uma", 1, 1.0), ("uma", 1, 1.0), ("uma", 1, 1.0))
    assert (again.score, again.passed) == (once.score, once.passed)


def test_judges_repeats_count_each():
    assert graded(ResolutionRule.MAJORITY, ("judge", 1, 1.0), ("judge", 2, 1.0), ("judge", 3, 0.0)).passed is True
    votes = [said(Holistic(score=2), minute=n, evaluator="judge", record={"n": n}) for n in (1, 2, 3)]
    assert resolve(round_of(ResolutionRule.MAJORITY, 3), votes)["s"].passed is True
