"""Points that add up, and criteria that some control passes and some control fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from worksample.records import By, Criteria, Grade, GradePart, Grading

from .asks import declared_points
from .finding import Check, Finding, error, warning


def check_points(criteria: Criteria, grades: Iterable[tuple[str, Grade]], where: str) -> Iterator[Finding]:
    """The grader's parts carry the points that criteria.toml gives them, and every criterion is answered."""
    wanted = {leaf.id: leaf.worth for leaf in criteria.leaves if leaf.by is By.PROGRAM}
    if not wanted:
        return
    for control, grade in grades:
        given = {part.name: part.points for part in leaves(grade.parts)}
        if not given:
            continue
        for name in sorted(wanted.keys() - given.keys()):
            yield error(Check.POINTS, f"criterion {name!r} gets no answer from the grader ({control})", where)
        for name in sorted(given.keys() - wanted.keys()):
            yield error(Check.POINTS, f"the grader's part {name!r} is no criterion", where, "name it in criteria.toml")
        for name in sorted(wanted.keys() & given.keys()):
            if abs(wanted[name] - given[name]) > 1e-9:
                what = f"{name!r} is worth {wanted[name]:g} in criteria.toml and {given[name]:g} in the grader"
                yield error(Check.POINTS, what, where)
        return


def check_declared(grading: Grading, where: str) -> Iterator[Finding]:
    """Criteria against the points of a grader that lies outside the package."""
    points = declared_points(grading)
    wanted = tuple(leaf.worth for leaf in grading.criteria.leaves if leaf.by is By.PROGRAM)
    if points and wanted and points != wanted:
        listed, given = (" + ".join(f"{p:g}" for p in values) for values in (wanted, points))
        yield error(Check.POINTS, f"the criteria are worth {listed}, the grader's parts {given}", where)


def check_coverage(criteria: Criteria, grades: Iterable[tuple[str, Grade]], where: str) -> Iterator[Finding]:
    """Every criterion is passed by one control and failed by another that is more than an empty folder."""
    passed: set[str] = set()
    failed: set[str] = set()
    for control, grade in grades:
        for part in leaves(grade.parts):
            if part.passed:
                passed.add(part.name)
            elif part.fraction is not None and control.startswith("case "):
                failed.add(part.name)
    for leaf in criteria.leaves:
        if leaf.by is not By.PROGRAM:
            continue
        if leaf.id not in passed:
            yield error(
                Check.COVERAGE, f"no control passes criterion {leaf.id!r}", where, "see why the reference fails"
            )
        if leaf.id not in failed:
            do = f"add cases/<name>/ with a plausible submission that misses {leaf.id}"
            yield warning(Check.COVERAGE, f"no case fails criterion {leaf.id!r}", where, do)


def leaves(parts: Iterable[GradePart]) -> Iterator[GradePart]:
    """The parts that have no parts."""
    for part in parts:
        if part.parts:
            yield from leaves(part.parts)
        else:
            yield part
