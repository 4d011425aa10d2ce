"""Work that was done elsewhere."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from submissions.material import instance, write
from worksample.errors import CaptureError, UsageError
from worksample.records import Origin, Reported, Submission, now
from worksample.store import Store
from worksample.submissions import hand_in


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", create=True) as opened:
        yield opened


def paths(store: Store, submission: Submission) -> list[str]:
    return [e.path for e in store.manifest(submission.parts["output"].manifest).files]


def test_a_folder_with_what_is_known_of_it(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    at = datetime(2026, 5, 1, tzinfo=UTC)
    submission = hand_in(
        store,
        made,
        write(tmp_path / "work", {"report.csv": "x"}),
        entrant="Eve",
        origin=Origin.PERSON,
        at=at,
        reported=Reported(minutes=90),
        author="desk",
    )
    got = store.get(Submission, submission.id)
    assert got == submission
    assert (got.entrant, got.origin, got.at, got.author) == ("Eve", Origin.PERSON, at, "desk")
    assert (got.reported.minutes, got.reported.cost) == (90, None)
    assert (got.trial, got.note, paths(store, got)) == (None, "", ["report.csv"])


def test_work_of_a_day_to_come_is_refused(store: Store, tmp_path: Path) -> None:
    made, folder = instance(store, tmp_path), write(tmp_path / "work", {"report.csv": "x"})
    with pytest.raises(UsageError, match="in the future"):
        hand_in(store, made, folder, entrant="Eve", at=now() + timedelta(days=2))
    assert store.find(Submission) == []
    # East of here it is tomorrow already.
    assert hand_in(store, made, folder, entrant="Eve", at=now() + timedelta(hours=13)).entrant == "Eve"


def test_an_archive_and_a_folder_give_the_same_content(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    folder = write(tmp_path / "work", {"report.csv": "x", "notes/read.me": "y"})
    with zipfile.ZipFile(tmp_path / "work.zip", "w") as z:
        z.write(folder / "report.csv", "report.csv")
        z.write(folder / "notes" / "read.me", "notes/read.me")
    one = hand_in(store, made, folder, entrant="a")
    two = hand_in(store, made, tmp_path / "work.zip", entrant="b")
    assert one.content == two.content
    assert one.id != two.id


def test_the_only_folder_around_everything_is_taken_off(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    wrapped = write(tmp_path / "w", {"final (2)/report.csv": "x", "final (2)/notes/read.me": "y"})
    submission = hand_in(store, made, wrapped, entrant="a")
    assert paths(store, submission) == ["notes/read.me", "report.csv"]
    assert submission.note == "taken from the only folder, final (2)"
    named = write(tmp_path / "n", {"notes/read.me": "y"})
    assert paths(store, hand_in(store, made, named, entrant="a")) == ["notes/read.me"]


def test_what_is_not_taken(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        hand_in(store, made, tmp_path / "none", entrant="a")
    work = write(tmp_path / "work", {"report.csv": "x"})
    with pytest.raises(UsageError, match="needs an entrant"):
        hand_in(store, made, work, entrant=" ")
    with pytest.raises(UsageError, match="not from a control"):
        hand_in(store, made, work, entrant="a", origin=Origin.CONTROL)
    with pytest.raises(CaptureError, match="not a ZIP"):
        hand_in(store, made, work / "report.csv", entrant="a")
    with (work / "huge").open("wb") as f:
        f.truncate(1 << 40)
    with pytest.raises(CaptureError, match="exceeds"):
        hand_in(store, made, work, entrant="a")
    assert store.find(Submission) == []
