"""Whom a grading needs: which kinds of evaluators have something to answer under it."""

from __future__ import annotations

from worksample.records import EvaluatorKind, Grading, Protocol

BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})


def default_evaluator(protocol: Protocol) -> EvaluatorKind:
    """Who is asked where nobody says: programs under the protocols that are theirs, people under the others."""
    return EvaluatorKind.PROGRAM if protocol in BY_PROGRAMS else EvaluatorKind.PERSON


def evaluator_kinds(grading: Grading) -> frozenset[EvaluatorKind]:
    """Those that its criteria name.

    Without criteria programs under the protocols that are theirs, and people elsewhere: no judge stands in for them
    unless somebody asks for one. Criteria of a rubric that all name the program name nobody
    (`Grading.names_evaluators`): they are people's.
    """
    named = frozenset(map(EvaluatorKind, grading.criteria.kinds))
    whole = grading.protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE)
    return (
        named if named and grading.names_evaluators and not whole else frozenset({default_evaluator(grading.protocol)})
    )
