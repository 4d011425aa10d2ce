"""Checks of the value that a grader's function `grade` returned."""

from __future__ import annotations

import math
from typing import Any

from worksample.errors import Cause, GraderError
from worksample.records.grade_tree import CriteriaTree, GradeTree, PartNode

from .grade import Grade
from .grade_composition import program_nodes

SLACK = 1e-6
"""Maximum difference between a score and the sum of its parts. Larger differences are not due to rounding."""


def check_result(result: Any, criteria: CriteriaTree) -> Grade:
    """Return the grade that a grader's function `grade` returned.

    Raises GraderError (`grader.malformed`) if the value is not a grade or does not match the criteria. Raises
    pydantic's ValidationError if the value is a record that was built without validation and is invalid.
    """
    if not isinstance(result, GradeTree):
        raise GraderError(
            f"grade() returned {type(result).__name__}, not a Grade",
            cause=Cause.GRADER_MALFORMED,
            next="return a Grade, such as weighted(case, {...})",
        )
    grade = result.replaced() if isinstance(result, Grade) else Grade(**dict(result))  # type: ignore[call-overload]
    require_agreement(grade, criteria)
    return grade


def require_agreement(grade: GradeTree, criteria: CriteriaTree) -> None:
    """Raise GraderError if a grade does not match the criteria, or if its score contradicts its parts."""
    wanted, given = {n.id for n in program_nodes(criteria.criteria)}, {p.name for p in grade.parts}
    if not given and len(criteria.kinds) > 1:
        what = "the grade has no parts, but judges or people decide some of the criteria"
        raise GraderError(
            what, cause=Cause.GRADER_MALFORMED, next="return a part for each criterion that programs decide"
        )
    if wanted and given and wanted != given:
        odd = sorted(wanted ^ given)
        raise GraderError(
            f"grade and criteria.toml differ in {', '.join(odd)}",
            cause=Cause.GRADER_MALFORMED,
            next="correct grade.py or criteria.toml, then worksample task check FOLDER",
        )
    _agree_within(grade)


def _agree_within(grade: GradeTree) -> None:
    """Raise GraderError if a grade's score contradicts its parts and the grade gives no reason."""
    shares = [_share(list(grade.parts)), _share([p for p in grade.parts if not p.gate])]
    if any(p.gate and not p.passed for p in grade.parts):
        shares.append(0.0)
    known = {share for share in shares if share is not None}
    if known and not grade.reason.strip() and all(abs(grade.score - share) > SLACK for share in known):
        parts = " or ".join(f"{share:.4g}" for share in sorted(known))
        what = f"the score is {grade.score:.4g}, its parts add up to {parts}, and no reason explains the difference"
        raise GraderError(
            what, cause=Cause.GRADER_MALFORMED, next="give a reason, or let weighted(case, {...}) compute the score"
        )


def _share(parts: list[PartNode]) -> float | None:
    counted = [p for p in parts if p.fraction is not None]
    total = math.fsum(p.points for p in counted)
    return math.fsum(p.points * (p.fraction or 0.0) for p in counted) / total if total else None
