"""A state that services cannot start with is refused before any of them starts, with a typed error."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from worksample.errors import POLICY, Cause, ExportError
from worksample.records import CaptureStatus, Environment, Origin, Submission, SubmissionPart
from worksample.workplace.restored_workplace import exported_state
from worksample.workplace.service_programs import version_lines
from worksample.workplace.state_compatibility import STAMP, require_state, write_stamp

NAMES = ("files", "git", "calendar")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    root = tmp_path / "state"
    for name in NAMES:
        (root / name).mkdir(parents=True)
    write_stamp(root, "0" * 64, NAMES, datetime(2026, 3, 2, 9, tzinfo=UTC))
    return root


def restamped(**changed: object) -> Callable[[Path], object]:
    def change(root: Path) -> None:
        said = json.loads((root / STAMP).read_text())
        (root / STAMP).write_text(json.dumps({**said, **changed}))

    return change


def elsewhere(root: Path) -> None:
    (root / STAMP).rename(root.parent / "outside.json")
    (root / STAMP).symlink_to(root.parent / "outside.json")


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "killed before its end": (lambda root: (root / "git").rmdir(), "incomplete: the folders git"),
    "killed at its beginning": (lambda root: (root / STAMP).unlink(), "incomplete"),
    "half a stamp": (lambda root: (root / STAMP).write_text('{"format": 1, "serv'), "incomplete"),
    "a stamp that is a link": (elsewhere, "incomplete"),
    "no table": (lambda root: (root / STAMP).write_text("[1]"), "not a JSON object"),
    "nested without end": (lambda root: (root / STAMP).write_text("[" * 100_000), "incomplete"),
    "of a later format": (restamped(format=2), "its format is 2, and this version's is 1"),
    "of another calendar": (
        restamped(services={**version_lines(NAMES), "calendar": "radicale 9"}),
        "of radicale 9, but this machine has radicale 3",
    ),
    "without a service": (restamped(services=version_lines(("files", "git"))), "the state has no data of the "
        "services calendar"),
    "services that are none": (restamped(services=7), "lists no services"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_invalid_state_is_refused(state: Path, fault: str) -> None:
    require_state(state, NAMES)
    change, said = FAULTS[fault]
    change(state)
    with pytest.raises(ExportError, match=said) as caught:
        require_state(state, NAMES)
    assert caught.value.cause is Cause.GRADER_STATE


def left(state: Path, status: CaptureStatus | None, reason: str = "") -> Submission:
    part = None if status is None else SubmissionPart(manifest="1" * 64, status=status, reason=reason)
    return Submission(
        id="s1", instance="i", work="2" * 64, capture="3" * 64, origin=Origin.PERSON, entrant="p", author="p",
        at=datetime.now(UTC), parts={} if part is None else {"exports": part},
    )  # fmt: skip


def test_incomplete_export_is_not_restored(state: Path) -> None:
    """A trial that was killed, or whose agent left more than is taken: ungraded, and its rate is bounded by a 0."""
    environment = Environment(services=NAMES)
    whole = state.rename(state.parent / "workplace")

    def found(status: CaptureStatus | None, reason: str = "") -> Path:
        return exported_state(left(whole, status, reason), environment, lambda digest: whole.parent)

    assert found(CaptureStatus.COMPLETE) == whole
    for status in (CaptureStatus.PARTIAL, CaptureStatus.ABSENT):
        with pytest.raises(ExportError, match="incomplete: the box was lost"):
            found(status, "the box was lost")
    with pytest.raises(ExportError, match="has no exported state"):
        found(None)
    assert POLICY[Cause.GRADER_STATE].by_deliverable
    assert not POLICY[Cause.GRADER_STATE].retry


def test_security_updates_keep_their_version_line() -> None:
    assert version_lines(("calendar", "git")) == {"calendar": "radicale 3", "git": "git"}
