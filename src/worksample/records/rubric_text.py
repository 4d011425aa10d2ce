"""Reader of rubrics in the form in which experts write them: one line for each criterion, `IMPORTANCE - TEXT` (UpBench
A.3).
"""

from __future__ import annotations

import re

from pydantic import ValidationError

from .criteria import Criteria, Criterion
from .grade_tree import By, Importance

LARGEST = 1000
"""Maximum number of criteria in the rubric of one job."""
_LINE = re.compile(r"\s*[-*\u2022]?\s*(critical|important|optional|pitfall)\s*[-:\u2013\u2014]\s*(.+)", re.IGNORECASE)


def read_line(n: int, line: str) -> Criterion:
    """Parse one line of a rubric as the n-th criterion, which people decide. Raises ValueError if the line has another
    format.
    """
    match = _LINE.fullmatch(line)
    if not match:
        raise ValueError(f"line {n} is not `IMPORTANCE - TEXT` with an importance of {', '.join(Importance)}")
    said = match[2].strip()
    if not said:
        raise ValueError(f"criterion {n} has no text")
    return Criterion(id=f"c{n}", text=said, by=By.PERSON, importance=Importance(match[1].lower()))


def read_lines(text: str) -> Criteria:
    """Parse a whole rubric; blank lines are ignored. Raises ValueError if a line has another format or the rubric has
    too many criteria.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > LARGEST:
        raise ValueError(f"the rubric has {len(lines)} criteria; at most {LARGEST} are allowed")
    try:
        return Criteria(criteria=tuple(read_line(n, line) for n, line in enumerate(lines, 1)))
    except ValidationError as e:
        raise ValueError(str(e.errors()[0]["msg"]).removeprefix("Value error, ")) from None
