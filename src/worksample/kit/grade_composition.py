"""Compositions: functions that combine the results of several parts into one grade (ALE C.3.3, TAC 4.1).

A part has the name of its criterion. Its value is a function without arguments, such as `lambda: tabular(...)`, so that
a missing or malformed deliverable fails only this part. Points, importances, gates and nesting come from
`criteria.toml`. If the task has no criteria, parts may have any name, and every part has the weight 1. Compositions can
be nested: if a part returns the Grade of another composition, the parts of that Grade become parts of the criterion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from worksample.errors import Cause, DeliverableError, GraderError
from worksample.records.grade_tree import By, CriterionNode, Node, asked_of
from worksample.records.pass_rules import is_full

from .case import Case
from .check_score import Check, fraction_of, shorten
from .criteria import CaseCriterion
from .grade import Grade, GradePart
from .source import LIVE, NOT_REGRADABLE

Result = Check | Grade | bool | float
Thunk = Callable[[], Result] | Result
Parts = Mapping[str, Thunk]
Answered = tuple[float, str, tuple[GradePart, ...], datetime | None]
"""The result of one criterion: its share from 0 to 1, the reason, its parts, and the time at which the share was
earned.
"""

_scope: ContextVar[tuple[CriterionNode, ...] | None] = ContextVar("scope", default=None)


def weighted(
    case: Case, parts: Parts | None = None, /, *, weights: Mapping[str, float] | None = None, **more: Thunk
) -> Grade:
    """Return a grade whose score is the weighted mean of the parts' shares.

    The weights are the points in `criteria.toml`. `weights` is only allowed if the task has no criteria.
    """
    return _compose("weighted", case, {**(parts or {}), **more}, weights=weights)


def checklist(case: Case, parts: Parts | None = None, /, **more: Thunk) -> Grade:
    """Return a grade in which each part earns all of its points or none (ALE C.3.3: independent yes/no questions)."""
    return _compose("checklist", case, {**(parts or {}), **more}, binary=True)


def checkpoints(case: Case, parts: Parts | None = None, /, **more: Thunk) -> Grade:
    """Return a grade whose score is the earned points divided by all points, with partial credit (TAC 4.1).

    If the last criterion has `implies_others` and passes, all points are earned. `Grade.full` is S_full, and
    `Grade.partial` is S_partial.
    """
    return _compose("checkpoints", case, {**(parts or {}), **more})


def gate_and_score(case: Case, *, gates: Parts, score: Parts) -> Grade:
    """Return a grade with the weighted score of the parts in `score`, or with 0 if a gate fails (ALE C.3.3).

    A gate fails unless its share is 1. If a gate fails, the parts in `score` are not run and count as 0.
    """
    both = [name for name in gates if name in score]
    if both or not gates or not score:
        raise _mismatch(
            f"{both[0]!r} is given both as a gate and as a score"
            if both
            else "gate_and_score needs both gates and scores"
        )
    return _compose("gate_and_score", case, {**gates, **score}, gates=frozenset(gates))


def file_pairs(case: Case, pairs: str | Iterable[str] | Mapping[str, str], compare: Callable[..., Result]) -> Grade:
    """Return a grade whose score is the mean over pairs of a deliverable and a file of the reference (ALE C.3.3).

    pairs: a glob over the file names of the reference, a list of names that both sides share, or a mapping from
    deliverable to reference. compare: a function that is called with both paths, the deliverable's first.
    """
    if isinstance(pairs, str):
        pairs = case.references(pairs)
    named = dict(pairs) if isinstance(pairs, Mapping) else {name: name for name in pairs}
    if not named:
        raise _mismatch("file_pairs() was given no pair")
    references = {got: case.reference(want) for got, want in named.items()}

    def thunk(got: str) -> Callable[[], Result]:
        return lambda: compare(case.output(got), references[got])

    nodes = _nodes(case)
    token = _scope.set(())
    try:
        grade = _compose("file_pairs", case, {got: thunk(got) for got in named})
    finally:
        _scope.reset(token)
    if not nodes:
        return grade
    if len(nodes) != 1:
        raise _mismatch("file_pairs answers only one criterion; wrap it in another composition")
    return _compose("file_pairs", case, {nodes[0].id: grade})


def _mismatch(what: str) -> GraderError:
    return GraderError(
        what, cause=Cause.GRADER_MALFORMED, next="correct grade.py or criteria.toml, then worksample task check FOLDER"
    )


def _nodes(case: Case) -> tuple[CriterionNode, ...]:
    """Return the criteria that the current composition must answer. At the top level, these are the task's criteria for
    programs. Inside a part, these are the parts of the part's criterion.
    """
    scope = _scope.get()
    return program_nodes(case.criteria.criteria) if scope is None else scope


def program_nodes(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the tree of criteria without the criteria that judges or people decide."""
    return asked_of(nodes, By.PROGRAM.value)


def _compose(
    name: str, case: Case, parts: Parts, *, binary: bool = False, gates: frozenset[str] = frozenset(),
    weights: Mapping[str, float] | None = None,
) -> Grade:  # fmt: skip
    nodes = _nodes(case)
    if not parts:
        raise _mismatch(f"{name}() was given no part")
    if weights is not None and (nodes or set(weights) != set(parts)):
        raise _mismatch("weights belong in criteria.toml" if nodes else "the names of weights and parts differ")
    nodes = nodes or tuple(_free_criterion(p, (weights or {}).get(p, 1.0), p in gates) for p in parts)
    _names_agree(nodes, parts, gates)
    found = _evaluate(nodes, parts, gates, binary)
    made = tuple(_part(node, found) for node in nodes)
    closed = _failed_gates(nodes, made)
    counted = [p for p in made if not (gates and p.name in gates)]
    if nodes[-1].implies_others and made[-1].passed and not closed:
        counted = [p if p.gate else _imply(p, made[-1]) for p in counted]
        made = tuple(next((c for c in counted if c.name == p.name), p) for p in made)
    score = 0.0 if closed else _share(counted)
    reason = _gate_reason(closed[0]) if closed else ""
    return Grade(score=score, parts=made, composition=name, reason=reason)


def _free_criterion(name: str, points: float, gate: bool) -> CaseCriterion:
    """Return a criterion for a part that is not in `criteria.toml`. Raises GraderError if `points` is not above 0."""
    if not 0 < points < math.inf:
        raise _mismatch(f"the weight of {name!r} is {points}; it must be more than 0")
    return CaseCriterion(id=name, text="-", points=points, gate=gate)


def _share(parts: Iterable[GradePart]) -> float:
    counted = [p for p in parts if p.fraction is not None]
    total = math.fsum(p.points for p in counted)
    return min(1.0, math.fsum(p.points * (p.fraction or 0.0) for p in counted) / total) if total else 0.0


def _names_agree(nodes: Sequence[CriterionNode], parts: Parts, gates: frozenset[str]) -> None:
    """Raise GraderError if the parts do not match the criteria.

    Each criterion needs exactly one answer, either by its own name or by the names of its parts. Unknown names are not
    allowed. `criteria.toml` must mark the same criteria as gates as the grader does.
    """
    known: dict[str, CriterionNode] = {}

    def walk(level: Sequence[CriterionNode], covered: bool) -> None:
        for node in level:
            given = node.id in parts
            known[node.id] = node
            if given and covered:
                raise _mismatch(f"the criterion {node.id!r} is answered twice: by itself and by the one above it")
            if not given and not covered and not node.parts:
                raise _mismatch(f"grade.py does not answer the criterion {node.id!r}")
            walk(node.parts, covered or given)

    walk(nodes, False)
    stray = [name for name in parts if name not in known]
    if stray:
        raise _mismatch(f"criteria.toml has no criterion {stray[0]!r} for programs; it has {', '.join(known)}")
    if gates:
        wrong = [n for n in parts if known[n].gate != (n in gates)]
        if wrong:
            side = "a gate" if known[wrong[0]].gate else "not a gate"
            raise _mismatch(f"criteria.toml and grade.py disagree about gates: {wrong[0]!r} is {side} in criteria.toml")


def _evaluate(nodes: Sequence[CriterionNode], parts: Parts, gates: frozenset[str], binary: bool) -> dict[str, Answered]:
    """Run the parts and return the result of each criterion. Gates run first; the other parts run only if all gates
    passed.
    """
    found: dict[str, Answered] = {}
    by_id = {n.id: n for n in _walk(nodes)}
    order = [*(n for n in parts if n in gates), *(n for n in parts if n not in gates)]
    closed = ""
    for name in order:
        if closed and name not in gates:
            found[name] = (0.0, f"not checked: the gate {closed} failed", (), None)
            continue
        share, reason, inner, at = _answer(name, by_id[name], parts[name])
        if (binary or name in gates) and not is_full(share):
            share = 0.0
        found[name] = (share, reason, inner, at if share else None)
        if name in gates and share == 0.0:
            closed = closed or name
    return found


def _walk(nodes: Sequence[CriterionNode]) -> list[CriterionNode]:
    return [n for node in nodes for n in (node, *_walk(node.parts))]


def _answer(name: str, node: CriterionNode, thunk: Thunk) -> Answered:
    token, seen = _scope.set(node.parts), LIVE.set(False)
    try:
        share, reason, inner, at = _run_thunk(name, thunk)
        marked = f"{NOT_REGRADABLE}: {reason}" if reason else NOT_REGRADABLE
        return share, shorten(marked) if LIVE.get() else reason, inner, at
    finally:
        LIVE.reset(seen)
        _scope.reset(token)


def _run_thunk(name: str, thunk: Thunk) -> Answered:
    try:
        result: Any = thunk() if callable(thunk) else thunk
    except DeliverableError as error:
        return 0.0, shorten(str(error)), (), None
    if isinstance(result, Grade):
        return fraction_of(result.score, name), result.reason, result.parts, None
    if isinstance(result, Check):
        return result.fraction, result.reason, (), result.at
    return fraction_of(result, f"part {name!r}"), "", (), None


def _part(node: CriterionNode, found: Mapping[str, Answered]) -> GradePart:
    if node.id in found:
        share, reason, inner, at = found[node.id]
    else:
        inner = tuple(_part(p, found) for p in node.parts)
        closed = _failed_gates(node.parts, inner)
        share, reason = (0.0, _gate_reason(closed[0])) if closed else (_share(inner), "")
        at = None
    return GradePart(
        name=shorten(node.id), points=node.worth, fraction=share, importance=node.importance, gate=node.gate,
        reason=reason, at=at, parts=inner,
    )  # fmt: skip


def _failed_gates(nodes: Sequence[CriterionNode], parts: Sequence[GradePart]) -> list[str]:
    """Return the names of the failed gates among these criteria. A failed gate sets the score of the criterion above it
    to 0.
    """
    passed = {p.name: p.passed for p in parts}
    return [node.id for node in nodes if node.gate and not passed.get(shorten(node.id), True)]


def _gate_reason(gate: str) -> str:
    return shorten(f"0 because the gate {gate} failed")


def _imply(part: GradePart, by: GradePart) -> GradePart:
    if part.passed:
        return part
    reason = shorten(f"implied by {by.name}; by itself: {part.fraction:.3g} {part.reason}")
    return part.replaced(fraction=1.0, reason=reason, at=by.at)
