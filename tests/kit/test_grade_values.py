"""A grader's own values behave like the records of the same names, without importing pydantic for valid input."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from records.strategies import criteria
from worksample import kit, records
from worksample.kit.criteria import CaseCriteria
from worksample.records.grade_tree import asked_of

WORDS = ("critical", "not_applicable", "1", "0.5", "\ud800", "x" * 20_001)
MOMENTS = (
    datetime(2026, 3, 9, 8, tzinfo=UTC), datetime(2026, 3, 9, 8, 0, 0, 5000, tzinfo=UTC),
    datetime(2026, 3, 9, 8, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 3, 9, 8), "2026-03-09T08:00:00Z",
)  # fmt: skip
OTHERS = (
    records.Importance.CRITICAL,
    records.SkipReason.CANNOT_JUDGE,
    records.By.JUDGE,
    "grade",
    ["a"],
    ("a",),
    [],
    {},
)
VALUES = (*MOMENTS, *OTHERS)
NUMBERS = st.one_of(st.integers(-2, 2), st.sampled_from((2**53, 2**53 + 1, 10**400)), st.floats())
ODD = st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=3), st.sampled_from(WORDS), st.sampled_from(VALUES))
"""What graders give by mistake, and now and then what is right."""
FIELDS = ("name", "points", "fraction", "importance", "gate", "reason", "skip", "at", "parts", "marks")


@st.composite
def fields(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """Keywords of a part: plausible ones, of which one may be anything."""
    share = draw(st.one_of(st.sampled_from((0, 1, 0.5, 1.0)), st.none()))
    made: dict[str, Any] = {"name": draw(st.text(max_size=5)), "fraction": share}
    if share is None:
        made["skip"] = draw(st.sampled_from((*records.SkipReason, "cannot_judge")))
    if draw(st.booleans()):
        made["points"] = draw(st.sampled_from((1, 2.5, 3)))
    if draw(st.integers(0, 3)) == 0:
        made["at"] = draw(st.sampled_from(MOMENTS))
    if depth and draw(st.booleans()):
        made["parts"] = draw(st.lists(fields(depth=depth - 1), max_size=2))
    if draw(st.integers(0, 2)) == 0:
        name = draw(st.sampled_from(FIELDS))
        made[name] = draw(ODD)
    return made


def built(part: Any, given: dict[str, Any]) -> Any:
    """The part, its own parts first, as an author writes them."""
    inner = given.get("parts")
    if isinstance(inner, list) and all(isinstance(one, dict) for one in inner):
        given = {**given, "parts": tuple(built(part, one) for one in inner)}
    return part(**given)


def said(part: Any, given: dict[str, Any]) -> Any:
    """Its JSON, or what is wrong with it."""
    try:
        return built(part, given).plain()
    except ValidationError as error:
        return [(fault["type"], fault["loc"]) for fault in error.errors()]


@given(fields())
def test_part_is_accepted_or_refused_like_its_record(given: dict[str, Any]) -> None:
    assert _exactly(said(kit.GradePart, given)) == _exactly(said(records.PartPayload, given))


@given(st.one_of(ODD, st.floats(0, 1)), ODD, ODD)
def test_grade_is_accepted_or_refused_like_its_record(score: Any, reason: Any, parts: Any) -> None:
    for more in ({}, {"reason": reason}, {"parts": parts}, {"composition": reason}, {"type": reason}, {"extra": 1}):
        found = []
        for grade in (kit.Grade, records.GradePayload):
            try:
                found.append(_exactly(grade(score=score, **more).plain()))
            except ValidationError as error:
                found.append(str([(fault["type"], fault["loc"]) for fault in error.errors()]))
        assert found[0] == found[1]


def _exactly(value: Any) -> str:
    """With 1 and 1.0 apart, for digests tell them apart."""
    return json.dumps(value, sort_keys=True)


@given(st.lists(fields(), min_size=1, max_size=3))
def test_grade_computes_the_same_as_its_record(given: list[dict[str, Any]]) -> None:
    try:
        parts = tuple(built(kit.GradePart, one) for one in given)
    except ValidationError:
        return
    own = kit.Grade(score=0.5, parts=parts)
    record = records.GradePayload.model_validate(own.plain())
    for name in ("full", "partial", "undecided", "void"):
        assert getattr(own, name) == getattr(record, name)
    assert [leaf.plain() for leaf in own.leaves] == [leaf.plain() for leaf in record.leaves]
    assert [part.passed for part in own.leaves] == [part.passed for part in record.leaves]
    assert records.GradePayload(score=0.5, parts=parts).plain() == own.plain(), "a record takes a grader's own parts"


@given(criteria, st.integers(0, 4))
def test_criteria_compute_the_same_as_their_record(flat: records.Criteria, below: int) -> None:
    parts = flat.criteria[:below]
    branch = [records.Criterion(id="branch-over-them", text="all", gate=True, parts=parts)] if parts else []
    record = records.Criteria(criteria=(*branch, *(c.replaced(implies_others=False) for c in flat.criteria[below:])))
    own = CaseCriteria.of(json.loads(json.dumps(record.plain())))
    assert (own.total, own.kinds) == (record.total, record.kinds)
    assert [leaf.id for leaf in own.leaves] == [leaf.id for leaf in record.leaves]
    for by in records.By:
        kept, same = asked_of(own.criteria, by.value), asked_of(record.criteria, by.value)
        assert [(node.id, node.worth) for node in kept] == [(node.id, node.worth) for node in same]


def test_values_are_frozen_comparable_and_copied_with_checks() -> None:
    part = kit.GradePart(name="a", fraction=1)
    assert part == kit.GradePart(name="a", fraction=1.0) and hash(part) == hash(part.replaced())
    with pytest.raises(AttributeError):
        part.fraction = 0.0  # type: ignore[misc]
    with pytest.raises(ValidationError):
        part.replaced(fraction=math.nan)
    with pytest.raises(TypeError):
        kit.GradePart("a")  # type: ignore[misc]


def test_correct_grader_imports_neither_pydantic_nor_unused_modules(tmp_path: Path) -> None:
    """They would be two thirds of its time."""
    (tmp_path / "grade.py").write_text(
        "import sys\nfrom worksample.kit import Case, Grade, checklist\n"
        "def grade(case: Case) -> Grade:\n"
        "    made = checklist(case, a=lambda: case.text('none.txt') == '', b=True)\n"
        "    heavy = {'pydantic', 'sqlite3', 'zipfile', 'hashlib', 'socket', 'numpy', 'traceback'} & set(sys.modules)\n"
        "    return made.replaced(reason=str(sorted(heavy)))\n"
    )
    case = {"folders": {name: str(tmp_path) for name in ("grader", "output")}, "result": str(tmp_path / "result.json")}
    (tmp_path / "case.json").write_text(json.dumps(case))
    subprocess.run([sys.executable, "-P", "-m", "worksample.kit", str(tmp_path / "case.json")], check=True)
    grade = json.loads((tmp_path / "result.json").read_text())["grade"]
    assert (grade["reason"], grade["score"]) == ("[]", 0.5)
