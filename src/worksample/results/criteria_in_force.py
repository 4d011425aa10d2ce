"""The criteria by which instances are judged, and the kind of evaluator that answers each criterion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import or_, select

from worksample.records import CheckpointKind, Criterion, EvaluatorKind, Grading, Importance, Instance, Protocol
from worksample.store import Store, schema

BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})
BY_CRITERIA = BY_PROGRAMS | {Protocol.RUBRIC}
"""Protocols whose verdicts are computed from criteria. Under the other protocols, evaluators judge the work as a
whole.
"""
# Marks that only occur in criteria: inside a text the quotes are escaped.
_OTHERS = ('"by":"person"', '"by":"judge"')
_GATE = '"gate":true'
_KINDS = tuple(f'"kind":"{kind}"' for kind in CheckpointKind)
_i, _s = schema.instances.c, schema.slots.c


@dataclass(frozen=True, slots=True)
class LeafCriterion:
    """A criterion without parts. `names` are the names under which a grade may answer it: its own name first, then the
    names of the criteria above it. `by` is the kind of evaluator that answers it, or None if the criteria name none.
    """

    id: str
    names: tuple[str, ...]
    by: EvaluatorKind | None
    importance: Importance


@dataclass(frozen=True, slots=True)
class InstanceCriteria:
    """The criteria of an instance: the whole tree (`nodes`), and the criteria without parts (`leaves`)."""

    nodes: tuple[Criterion, ...]
    leaves: tuple[LeafCriterion, ...]


def joint_criteria(
    store: Store, experiments: Sequence[str], protocol: Protocol, gradings: Mapping[str, str]
) -> dict[str, InstanceCriteria]:
    """Return, by instance, the criteria of those instances whose verdict is more than a single grade.

    Such instances have criteria for judges or people, or gates in a rubric. gradings: the digest of the grading in
    force, by instance; an instance that is missing here uses its own grading.
    """
    marks = (*_OTHERS, _GATE) if protocol is Protocol.RUBRIC else _OTHERS
    found = _in_force(store, experiments, protocol, gradings, marks)
    return {id: criteria_of(grading) for id, grading in found if not _is_one_grade(grading)}


def criteria_with_kinds(
    store: Store, experiments: Sequence[str], protocol: Protocol, gradings: Mapping[str, str]
) -> dict[str, InstanceCriteria]:
    """Return, by instance, the criteria of those instances whose checkpoints have kinds. gradings: see
    `joint_criteria`.
    """
    found = _in_force(store, experiments, protocol, gradings, _KINDS)
    return {id: criteria_of(grading) for id, grading in found if any(leaf.kind for leaf in grading.criteria.leaves)}


def _in_force(
    store: Store, experiments: Sequence[str], protocol: Protocol, gradings: Mapping[str, str], marks: Sequence[str]
) -> Iterator[tuple[str, Grading]]:
    """Yield (instance id, grading in force) for the instances whose stored criteria may contain one of the texts in
    `marks`.
    """
    if protocol not in BY_CRITERIA:
        return
    planned = select(_s.instance).where(_s.experiment.in_(experiments)).distinct()
    keys = select(_i.id, _i.key).where(_i.id.in_(planned))
    with store.database.reading() as connection:
        here = {row.id: row.key for row in connection.execute(keys)}
        # Other versions of the same work are included: the grading in force may be a later one.
        wanted = select(_i.body).where(
            _i.key.in_(select(_i.key).where(_i.id.in_(planned))), or_(*(_i.body.contains(mark) for mark in marks))
        )
        found = [Instance.model_validate_json(body) for body in connection.execute(wanted).scalars()]
    graded = [i for i in found if protocol in i.grading]
    own = {i.id: i for i in graded}
    by_digest = {(i.key, i.grading_digest(protocol)): i for i in graded}
    for id, key in here.items():
        instance = by_digest.get((key, gradings[id])) if id in gradings else own.get(id)
        if instance is not None:
            yield id, instance.grading[protocol]


def _is_one_grade(grading: Grading) -> bool:
    """Return whether a single grade is the verdict, so that no grades of several kinds of evaluators have to be
    joined.
    """
    alone = grading.criteria.kinds <= {EvaluatorKind.PROGRAM.value}
    return alone and (grading.names_evaluators or not _has_gate(grading.criteria.criteria))


def criteria_of(grading: Grading) -> InstanceCriteria:
    """Return the criteria of a grading, as a tree and as a list."""
    nodes, named = grading.criteria.criteria, grading.names_evaluators
    leaves = (
        LeafCriterion(
            leaf.id, names, EvaluatorKind(leaf.by.value) if named else None, leaf.importance or Importance.IMPORTANT
        )
        for leaf, names in _leaves(nodes, ())
    )
    return InstanceCriteria(nodes, tuple(leaves))


def _leaves(nodes: Iterable[Criterion], above: tuple[str, ...]) -> Iterator[tuple[Criterion, tuple[str, ...]]]:
    for node in nodes:
        names = (node.id, *above)
        if node.parts:
            yield from _leaves(node.parts, names)
        else:
            yield node, names


def _has_gate(nodes: Iterable[Criterion]) -> bool:
    return any(node.gate or _has_gate(node.parts) for node in nodes)
