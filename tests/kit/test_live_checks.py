"""Live checks in a grader: results are read, dependent parts are marked, and a failed check leaves it ungraded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worksample.errors import ReferenceUnreadable
from worksample.kit import Case, Check, checkpoints
from worksample.kit.workplace import Workplace


def office(tmp_path: Path, kept: object) -> Workplace:
    (tmp_path / "workplace").mkdir()
    (tmp_path / "live.json").write_text(json.dumps(kept))
    return Workplace(tmp_path / "workplace")


def test_part_with_a_live_check_is_marked(tmp_path: Path) -> None:
    left = office(tmp_path, {"regradable": False, "found": {"open": 2, "page": "ok"}})
    grade = checkpoints(
        Case({}), seen=lambda: Check(float(left.live("open") == 2), "two are open"), other=lambda: True,
        page=lambda: left.live("page") == "ok",
    )  # fmt: skip
    reasons = {part.name: part.reason for part in grade.parts}
    marked = "seen live, not regradable"
    assert reasons == {"seen": f"{marked}: two are open", "other": "", "page": marked}
    assert grade.score == 1.0


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ({"failed": "live.py ended with exit status 1"}, "exit status 1"),
        ({"found": {"other": 1}}, "has no such result"),
        ({}, "found nothing"),
    ],
)
def test_failed_live_check_leaves_it_ungraded(tmp_path: Path, kept: object, said: str) -> None:
    left = office(tmp_path, kept)
    with pytest.raises(ReferenceUnreadable, match=said):
        checkpoints(Case({}), seen=lambda: left.live("open") == 2)


def test_missing_live_check_invents_nothing(tmp_path: Path) -> None:
    (tmp_path / "workplace").mkdir()
    with pytest.raises(ReferenceUnreadable):
        Workplace(tmp_path / "workplace").live("open")
