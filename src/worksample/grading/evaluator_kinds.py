"""Kinds of evaluators that a grading needs: programs, judges or people."""

from __future__ import annotations

from worksample.records import EvaluatorKind, Grading, Protocol

BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})


def default_evaluator(protocol: Protocol) -> EvaluatorKind:
    """Return the kind of evaluator that is asked by default: programs under their own protocols, people under the
    others.
    """
    return EvaluatorKind.PROGRAM if protocol in BY_PROGRAMS else EvaluatorKind.PERSON


def evaluator_kinds(grading: Grading) -> frozenset[EvaluatorKind]:
    """Return the kinds of evaluators that a grading's criteria name.

    Without criteria, programs evaluate under program protocols and people under all others: a judge replaces a person
    only
    if the task asks for one. A rubric whose criteria all name the program counts as people's
    (`Grading.names_evaluators`).
    """
    named = frozenset(map(EvaluatorKind, grading.criteria.kinds))
    whole = grading.protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE)
    return (
        named if named and grading.names_evaluators and not whole else frozenset({default_evaluator(grading.protocol)})
    )
