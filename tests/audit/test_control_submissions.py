"""Control submissions: one of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes.capture.material import instance, write
from worksample.audit.control_submissions import KINDS, control, control_case
from worksample.errors import UsageError
from worksample.records import Origin, Protocol, Submission
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", create=True) as opened:
        yield opened


def files(store: Store, submission: Submission, part: str = "output") -> dict[str, str]:
    manifest = store.manifest(submission.parts[part].manifest)
    return {e.path: store.blobs.read(str(e.blob)).decode() for e in manifest.files}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("reference", {"report.csv": "right"}),
        ("nothing", {}),
        ("empty", {"report.csv": "", "notes/read.me": ""}),
        ("inputs", {"a.csv": "1", "b.csv": "longer", "report.csv": "longer"}),
    ],
)
def test_each_kind_of_control_is_made(store: Store, tmp_path: Path, kind: str, expected: dict[str, str]) -> None:
    made = instance(store, tmp_path, inputs={"a.csv": "1", "b.csv": "longer"}, reference={"report.csv": "right"})
    submission = control(store, made, kind)
    assert files(store, submission) == expected
    assert store.get(Submission, submission.id) == submission
    assert (submission.origin, submission.control, submission.instance) == (Origin.CONTROL, kind, made.id)
    assert submission.parts["output"].files == len(expected)
    laid = store.folder(submission.parts["output"].manifest)
    assert {p.relative_to(laid).as_posix(): p.read_text() for p in laid.rglob("*") if p.is_file()} == expected


def test_every_kind_was_tried() -> None:
    assert set(KINDS) == {"reference", "nothing", "empty", "inputs"}


def test_cases_are_below_those_with_the_reference(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path, reference={"report.csv": "right", "notes/read.me": "r"})
    case = write(tmp_path / "case", {"output/report.csv": "wrong", "probes/state.json": "{}"})
    alone = control_case(store, made, "swapped", case)
    assert files(store, alone) == {"report.csv": "wrong"}
    assert files(store, alone, "probes") == {"state.json": "{}"}
    assert alone.control == "swapped"
    over = control_case(store, made, "swapped", case, base=Protocol.PROGRAM)
    assert files(store, over) == {"report.csv": "wrong", "notes/read.me": "r"}


def test_impossible_control_is_refused(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    with pytest.raises(UsageError, match="unknown kind of control"):
        control(store, made, "magic")
    with pytest.raises(UsageError, match="not graded under rubric") as caught:
        control(store, made, "reference", protocol=Protocol.RUBRIC)
    assert "program" in caught.value.next
