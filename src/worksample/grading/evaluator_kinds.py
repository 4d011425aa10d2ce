"""Kinds of evaluators that a grading needs: programs, judges or people."""

from __future__ import annotations

from worksample.records import EvaluatorKind, Grading, Protocol

BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})


def default_evaluator(protocol: Protocol) -> EvaluatorKind:
    """Return the kind of evaluator that answers by default: programs for the protocols `program` and `checkpoints`,
    people for the others.
    """
    return EvaluatorKind.PROGRAM if protocol in BY_PROGRAMS else EvaluatorKind.PERSON


def evaluator_kinds(grading: Grading) -> frozenset[EvaluatorKind]:
    """Return the kinds of evaluators that the criteria of a grading name.

    Without criteria, programs evaluate under the protocols of programs, and people under all others. A judge replaces a
    person only if the task says so. If all criteria of a rubric name `program`, which is the default value, people
    evaluate (`Grading.names_evaluators`).
    """
    named = frozenset(map(EvaluatorKind, grading.criteria.kinds))
    whole = grading.protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE)
    return (
        named if named and grading.names_evaluators and not whole else frozenset({default_evaluator(grading.protocol)})
    )
