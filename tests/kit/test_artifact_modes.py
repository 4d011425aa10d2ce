"""Every mode for artifacts: a right file scores 1, a half-right one between, and shortcuts score 0 with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.artifact_files import MODES, Mode
from worksample.errors import DeliverableError, ReferenceUnreadable
from worksample.kit import Check

MODE = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
QUICK = pytest.mark.quick("values", "arrays", "document", "bpmn", "score", "raster")


def score_of(mode: Mode, got: Path, want: Path, given: Path) -> tuple[float, str]:
    """Return the score and its reason; 0 for a malformed deliverable, as a grader's part has it."""
    try:
        check: Check = mode.compare(got, want, trivial=[given])
    except DeliverableError as error:
        return 0.0, str(error)
    return check.fraction, check.reason


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("output", "reference", "input"):
        (tmp_path / name).mkdir()
    return tmp_path


def files_of(mode: Mode, place: Path) -> tuple[Path, Path, Path]:
    got, want, given = (place / name / f"file{mode.ending}" for name in ("output", "reference", "input"))
    mode.right(want)
    mode.input(given)
    return got, want, given


@QUICK
@MODE
def test_a_right_artifact_scores_full_and_a_half_right_one_between(mode: Mode, place: Path) -> None:
    got, want, given = files_of(mode, place)
    mode.right(got)
    full, reason = score_of(mode, got, want, given)
    assert full > 0.999, reason
    mode.half(got)
    part, reason = score_of(mode, got, want, given)
    assert 0 < part < 0.97, (part, reason)
    assert reason


@QUICK
@MODE
def test_shortcuts_score_0_with_a_reason(mode: Mode, place: Path) -> None:
    got, want, given = files_of(mode, place)
    data = want.read_bytes()
    other = b"%PDF-1.7\n" * 20 + data[180:]
    found = {}
    for name, content in {
        "input copied": given.read_bytes(),
        "renamed format": b"\x89PNG\r\n\x1a\n" + bytes(64) if mode.ending != ".png" else b"GIF89a" + bytes(64),
        "another format's head": other,
        "placeholder": b"TODO: the result goes here\n",
        "empty": b"",
        "zeros of the right size": bytes(len(data)),
        "noise of the right size": bytes((i * 97 + 13) % 251 for i in range(len(data))),
    }.items():
        got.write_bytes(content)
        found[name] = score_of(mode, got, want, given)
    mode.filler(got)
    found["valid filler"] = score_of(mode, got, want, given)
    got.unlink()
    got.symlink_to(want)
    assert {name: told for name, told in found.items() if told[0] > 0 or not told[1]} == {}


@QUICK
@MODE
def test_a_broken_reference_is_never_the_agents_fault(mode: Mode, place: Path) -> None:
    got, want, given = files_of(mode, place)
    mode.right(got)
    want.write_bytes(want.read_bytes()[: len(want.read_bytes()) // 3] if mode.ending != ".xyz" else b"no points")
    broken = want.read_bytes()
    want.write_bytes(b"" if mode.name in ("toolpath", "transcript", "plan") else broken)
    with pytest.raises(ReferenceUnreadable):
        mode.compare(got, want, trivial=[given])
    want.unlink()
    with pytest.raises(ReferenceUnreadable):
        mode.compare(got, want, trivial=[given])


@QUICK
@MODE
def test_a_task_whose_input_is_the_answer_is_refused(mode: Mode, place: Path) -> None:
    got, want, given = files_of(mode, place)
    mode.right(got)
    mode.right(given)
    with pytest.raises(ReferenceUnreadable, match="trivial answer"):
        mode.compare(got, want, trivial=[given])
