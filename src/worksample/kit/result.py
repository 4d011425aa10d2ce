"""What a grader may return."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from worksample.errors import Cause, GraderError
from worksample.records import Criteria, Grade

from .compose import program_nodes


def checked(result: Any, criteria: Criteria) -> Grade:
    """What `grade` returned, if it is a grade that answers the criteria. GraderError (`grader.malformed`) otherwise."""
    if not isinstance(result, Grade):
        raise GraderError(f"grade() returned {type(result).__name__}, no Grade", cause=Cause.GRADER_MALFORMED)
    try:
        grade = Grade.model_validate(result.model_dump())
    except (ValidationError, ValueError) as error:
        raise GraderError(f"the grade is malformed: {error}", cause=Cause.GRADER_MALFORMED) from error
    wanted, given = {n.id for n in program_nodes(criteria.criteria)}, {p.name for p in grade.parts}
    if wanted and given and wanted != given:
        odd = sorted(wanted ^ given)
        raise GraderError(f"grade and criteria.toml differ in {', '.join(odd)}", cause=Cause.GRADER_MALFORMED)
    return grade
