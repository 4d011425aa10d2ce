"""Checks of points and criteria: points add up, each criterion is passed by one control and failed by another, kinds
are complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from worksample.kit.grade_composition import program_nodes
from worksample.records import By, CheckpointKind, Criteria, Criterion, GradePayload, Grading, Instance, PartPayload

from .declared_grader_demands import declared_points
from .findings import AuditCheck, Finding, error, warning


@dataclass(frozen=True, slots=True)
class GradePoints:
    """A grade matched with the criteria. Parts below a criterion that has no parts of its own (such as files of a pair)
    are details.
    """

    parts: Mapping[str, PartPayload]
    """Criterion -> the part that answers it: its own part, or that of the nearest criterion above it that was answered
    as a whole.
    """
    whole: frozenset[str]
    """Criteria that are answered by a part of their own name."""
    missing: tuple[str, ...]
    strange: tuple[str, ...]
    """Parts that match no criterion."""


def match_parts(nodes: Iterable[Criterion], parts: Iterable[PartPayload]) -> GradePoints:
    """Find which part answers each criterion that a program decides."""
    found: dict[str, PartPayload] = {}
    whole: set[str] = set()
    missing: list[str] = []
    strange: list[str] = []

    def walk(level: tuple[Criterion, ...], given: Iterable[PartPayload]) -> None:
        by_name = {part.name: part for part in given}
        strange.extend(by_name.keys() - {node.id for node in level})
        for node in level:
            part = by_name.get(node.id)
            if part is None:
                missing.append(node.id)
                continue
            whole.add(node.id)
            found[node.id] = part
            if part.parts and node.parts:
                walk(node.parts, part.parts)
            else:
                found.update({leaf.id: part for leaf in node.leaves})

    walk(program_nodes(tuple(nodes)), parts)
    return GradePoints(found, frozenset(whole), tuple(sorted(missing)), tuple(sorted(strange)))


def check_points(criteria: Criteria, grades: Iterable[tuple[str, GradePayload]], where: str) -> Iterator[Finding]:
    """Check that the grader's parts carry the points of criteria.toml, and that every criterion is answered."""
    nodes = program_nodes(criteria.criteria)
    worths = {node.id: node.worth for node in _walk(nodes)}
    for control, grade in grades:
        if not grade.parts or not nodes:
            continue
        read = match_parts(nodes, grade.parts)
        for name in read.missing:
            yield error(AuditCheck.POINTS, f"criterion {name!r} is not answered by the grader ({control})", where)
        for name in read.strange:
            yield error(
                AuditCheck.POINTS, f"the grader's part {name!r} is not a criterion", where, "name it in criteria.toml"
            )
        for name in sorted(read.whole):
            given = read.parts[name].points
            if abs(worths[name] - given) > 1e-9:
                what = f"{name!r} is worth {worths[name]:g} in criteria.toml and {given:g} in the grader"
                yield error(AuditCheck.POINTS, what, where)
        return


def _walk(nodes: Iterable[Criterion]) -> Iterator[Criterion]:
    for node in nodes:
        yield node
        yield from _walk(node.parts)


def check_declared(grading: Grading, where: str) -> Iterator[Finding]:
    """Compare the criteria with the points of a grader outside the package."""
    points = declared_points(grading)
    wanted = tuple(leaf.worth for leaf in grading.criteria.leaves if leaf.by is By.PROGRAM)
    if points and wanted and points != wanted:
        listed, given = (" + ".join(f"{p:g}" for p in values) for values in (wanted, points))
        yield error(AuditCheck.POINTS, f"the criteria are worth {listed}, the grader's parts {given}", where)


def check_coverage(criteria: Criteria, grades: Iterable[tuple[str, GradePayload]], where: str) -> Iterator[Finding]:
    """Check that each criterion is passed by one control and failed by another that is more than an empty folder."""
    passed: set[str] = set()
    failed: set[str] = set()
    for control, grade in grades:
        for name, part in match_parts(criteria.criteria, grade.parts).parts.items():
            if part.passed:
                passed.add(name)
            elif part.fraction is not None and control.startswith("case "):
                failed.add(name)
    for leaf in criteria.leaves:
        if leaf.by is not By.PROGRAM:
            continue
        if leaf.id not in passed:
            yield error(
                AuditCheck.COVERAGE,
                f"no control passes criterion {leaf.id!r}",
                where,
                "find out why the reference fails it",
            )
        if leaf.id not in failed:
            do = f"add cases/<name>/ with a plausible submission that misses {leaf.id}"
            yield warning(AuditCheck.COVERAGE, f"no case fails criterion {leaf.id!r}", where, do)


def passed_by(parts: Iterable[PartPayload]) -> dict[str, bool]:
    """Return whether each part passed, by name, at any depth. If two parts share a name, the outer one counts."""
    found: dict[str, bool] = {}
    level = list(parts)
    while level:
        for part in level:
            found.setdefault(part.name, part.passed)
        level = [inner for part in level for inner in part.parts]
    return found


FILE = "criteria.toml"


def check_kinds(instance: Instance) -> Iterator[Finding]:
    """Check the kinds of checkpoints: either all criteria have one or none has, and collaboration needs a service."""
    for grading in instance.grading.values():
        leaves = grading.criteria.leaves
        bare = [leaf.id for leaf in leaves if leaf.kind is None]
        if bare and len(bare) < len(leaves):
            what = f"some criteria have a kind, but {', '.join(bare)} have none: their points count for no kind"
            yield warning(AuditCheck.POINTS, what, FILE, f"give each one of {', '.join(CheckpointKind)}")
        together = [leaf.id for leaf in leaves if leaf.kind is CheckpointKind.COLLABORATION]
        if together and not instance.work.environment.services:
            what = f"{', '.join(together)} rates collaboration, but the task has no service with colleagues to meet"
            yield warning(AuditCheck.POINTS, what, FILE, "choose another kind, or give the task a workplace")
