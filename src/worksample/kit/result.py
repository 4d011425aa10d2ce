"""What a grader may return."""

from __future__ import annotations

import math
from typing import Any

from pydantic import ValidationError

from worksample.errors import Cause, GraderError
from worksample.records import Criteria, Grade, GradePart

from .compose import program_nodes

SLACK = 1e-6
"""How far a score may lie from its parts: rounding."""


def checked(result: Any, criteria: Criteria) -> Grade:
    """What `grade` returned, if it is a grade that answers the criteria. GraderError (`grader.malformed`) otherwise."""
    if not isinstance(result, Grade):
        raise GraderError(f"grade() returned {type(result).__name__}, no Grade", cause=Cause.GRADER_MALFORMED)
    try:
        grade = Grade.model_validate(result.model_dump())
    except ValidationError as error:
        from worksample.manifests import in_words

        raise GraderError(f"the grade is malformed: {in_words(error, Grade)}", cause=Cause.GRADER_MALFORMED) from error
    except ValueError as error:
        raise GraderError(f"the grade is malformed: {error}", cause=Cause.GRADER_MALFORMED) from error
    wanted, given = {n.id for n in program_nodes(criteria.criteria)}, {p.name for p in grade.parts}
    if not given and len(criteria.kinds) > 1:
        what = "a grade without parts speaks for the whole, and others decide some of the criteria: give parts"
        raise GraderError(what, cause=Cause.GRADER_MALFORMED)
    if wanted and given and wanted != given:
        odd = sorted(wanted ^ given)
        raise GraderError(f"grade and criteria.toml differ in {', '.join(odd)}", cause=Cause.GRADER_MALFORMED)
    _agree(grade)
    return grade


def _agree(grade: Grade) -> None:
    """Refuse a score that its own parts contradict, where nothing says why. With parts a score is theirs."""
    shares = [_share(list(grade.parts)), _share([p for p in grade.parts if not p.gate])]
    if any(p.gate and not p.passed for p in grade.parts):
        shares.append(0.0)
    known = {share for share in shares if share is not None}
    if known and not grade.reason.strip() and all(abs(grade.score - share) > SLACK for share in known):
        parts = " or ".join(f"{share:.4g}" for share in sorted(known))
        what = f"the score is {grade.score:.4g}, its parts come to {parts}, and no reason says why"
        raise GraderError(what, cause=Cause.GRADER_MALFORMED)


def _share(parts: list[GradePart]) -> float | None:
    counted = [p for p in parts if p.fraction is not None]
    total = math.fsum(p.points for p in counted)
    return math.fsum(p.points * (p.fraction or 0.0) for p in counted) / total if total else None
