"""Which criteria join several kinds of evaluators, and which kind is asked for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import or_, select

from worksample.records import CheckpointKind, Criterion, EvaluatorKind, Grading, Importance, Instance, Protocol
from worksample.store import Store, schema

BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})
BY_CRITERIA = BY_PROGRAMS | {Protocol.RUBRIC}
"""Protocols whose verdicts are made of criteria; holistic and pairwise answers are about the whole."""
# What only criteria say: inside a text the quotes are escaped.
_OTHERS = ('"by":"person"', '"by":"judge"')
_GATE = '"gate":true'
_KINDS = tuple(f'"kind":"{kind}"' for kind in CheckpointKind)
_i, _s = schema.instances.c, schema.slots.c


@dataclass(frozen=True, slots=True)
class Leaf:
    """`names`: under which its answer may stand, its own first and then those of the branches over it. `by`: whom it is
    asked of, None where the criteria name nobody.
    """

    id: str
    names: tuple[str, ...]
    by: EvaluatorKind | None
    importance: Importance


@dataclass(frozen=True, slots=True)
class AskedCriteria:
    """The criteria of an instance."""

    nodes: tuple[Criterion, ...]
    leaves: tuple[Leaf, ...]


def asked_in(
    store: Store, experiments: Sequence[str], protocol: Protocol, gradings: Mapping[str, str]
) -> dict[str, AskedCriteria]:
    """By instance the criteria of those whose verdicts take more than what one grade says of itself.

    That is where judges or people decide some of them and, in a rubric, where there are gates. `gradings`: instance ->
    digest of the grading in force; by default an instance's own.
    """
    marks = (*_OTHERS, _GATE) if protocol is Protocol.RUBRIC else _OTHERS
    found = _in_force(store, experiments, protocol, gradings, marks)
    return {id: asked_of(grading) for id, grading in found if not _says_itself(grading)}


def kinds_in(
    store: Store, experiments: Sequence[str], protocol: Protocol, gradings: Mapping[str, str]
) -> dict[str, AskedCriteria]:
    """Likewise the criteria of those that name a kind of checkpoint."""
    found = _in_force(store, experiments, protocol, gradings, _KINDS)
    return {id: asked_of(grading) for id, grading in found if any(leaf.kind for leaf in grading.criteria.leaves)}


def _in_force(
    store: Store, experiments: Sequence[str], protocol: Protocol, gradings: Mapping[str, str], marks: Sequence[str]
) -> Iterator[tuple[str, Grading]]:
    """Instance and the grading by which it is judged, of those instances whose criteria may say one of `marks`."""
    if protocol not in BY_CRITERIA:
        return
    planned = select(_s.instance).where(_s.experiment.in_(experiments)).distinct()
    keys = select(_i.id, _i.key).where(_i.id.in_(planned))
    with store.database.reading() as connection:
        here = {row.id: row.key for row in connection.execute(keys)}
        # Other versions of the same work, too: a later grading of it may be the one in force.
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


def _says_itself(grading: Grading) -> bool:
    """Whether one grade says all of the verdict."""
    alone = grading.criteria.kinds <= {EvaluatorKind.PROGRAM.value}
    return alone and (grading.names_evaluators or not _gated(grading.criteria.criteria))


def asked_of(grading: Grading) -> AskedCriteria:
    """Its criteria."""
    nodes, named = grading.criteria.criteria, grading.names_evaluators
    leaves = (
        Leaf(leaf.id, names, EvaluatorKind(leaf.by.value) if named else None, leaf.importance or Importance.IMPORTANT)
        for leaf, names in _leaves(nodes, ())
    )
    return AskedCriteria(nodes, tuple(leaves))


def _leaves(nodes: Iterable[Criterion], above: tuple[str, ...]) -> Iterator[tuple[Criterion, tuple[str, ...]]]:
    for node in nodes:
        names = (node.id, *above)
        if node.parts:
            yield from _leaves(node.parts, names)
        else:
            yield node, names


def _gated(nodes: Iterable[Criterion]) -> bool:
    return any(node.gate or _gated(node.parts) for node in nodes)
