"""Files of work made elsewhere: folders and archives."""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sandboxes.capture.material import instance, write
from worksample.errors import CaptureError, UsageError
from worksample.experiments.submission_intake import hand_in
from worksample.records import Origin, Reported, Submission, now
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", create=True) as opened:
        yield opened


def paths(store: Store, submission: Submission) -> list[str]:
    return [e.path for e in store.manifest(submission.parts["output"].manifest).files]


def test_folder_is_submitted_with_its_facts(store: Store, tmp_path: Path) -> None:
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


def test_work_dated_in_the_future_is_refused(store: Store, tmp_path: Path) -> None:
    made, folder = instance(store, tmp_path), write(tmp_path / "work", {"report.csv": "x"})
    with pytest.raises(UsageError, match="in the future"):
        hand_in(store, made, folder, entrant="Eve", at=now() + timedelta(days=2))
    assert store.find(Submission) == []
    # East of here it is tomorrow already.
    assert hand_in(store, made, folder, entrant="Eve", at=now() + timedelta(hours=13)).entrant == "Eve"


def test_archive_and_folder_give_the_same_content(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    folder = write(tmp_path / "work", {"report.csv": "x", "notes/read.me": "y"})
    with zipfile.ZipFile(tmp_path / "work.zip", "w") as z:
        z.write(folder / "report.csv", "report.csv")
        z.write(folder / "notes" / "read.me", "notes/read.me")
    one = hand_in(store, made, folder, entrant="a")
    two = hand_in(store, made, tmp_path / "work.zip", entrant="b")
    assert one.content == two.content
    assert one.id != two.id


def test_single_top_folder_is_removed(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    wrapped = write(tmp_path / "w", {"final (2)/report.csv": "x", "final (2)/notes/read.me": "y"})
    submission = hand_in(store, made, wrapped, entrant="a")
    assert paths(store, submission) == ["notes/read.me", "report.csv"]
    assert submission.note == "taken from the only folder, final (2)"
    named = write(tmp_path / "n", {"notes/read.me": "y"})
    assert paths(store, hand_in(store, made, named, entrant="a")) == ["notes/read.me"]


def test_invalid_submissions_are_refused(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        hand_in(store, made, tmp_path / "none", entrant="a")
    work = write(tmp_path / "work", {"report.csv": "x"})
    with pytest.raises(UsageError, match="needs an entrant"):
        hand_in(store, made, work, entrant=" ")
    with pytest.raises(UsageError, match="not by a control"):
        hand_in(store, made, work, entrant="a", origin=Origin.CONTROL)
    with pytest.raises(CaptureError, match="not a ZIP"):
        hand_in(store, made, work / "report.csv", entrant="a")
    with (work / "huge").open("wb") as f:
        f.truncate(1 << 40)
    with pytest.raises(CaptureError, match="exceeds"):
        hand_in(store, made, work, entrant="a")
    assert store.find(Submission) == []


def test_desktop_litter_is_left_out_and_reported(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path)
    names = (
        ".DS_Store",
        "sub/._b.txt",
        "sub/Thumbs.db",
        "sub/desktop.ini",
        "~$report.docx",
        "sub/.report.csv.swp",
        "~WRL0001.tmp",
        ".~lock.a.odt#",
        "__MACOSX/a",
    )
    kept = ("report.csv", "sub/b.txt", "._", "thumbs.db.txt", "~$notes.txt", "report.swp")
    folder = write(tmp_path / "work", dict.fromkeys((*names, *kept), "x"))
    got = hand_in(store, made, folder, entrant="Eve")
    assert sorted(paths(store, got)) == sorted(kept) and got.parts["output"].files == len(kept)
    assert ".DS_Store" in got.note and "and 4 more" in got.note


@pytest.mark.parametrize("names", [(), ("folder/",), (".DS_Store",)])
def test_archive_without_files_is_refused(names: tuple[str, ...], store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path, deliverables=("report.csv",))
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as z:
        for name in names:
            z.writestr(name, "")
    with pytest.raises(UsageError, match="no file was handed in") as refused:
        hand_in(store, made, tmp_path / "none.zip", entrant="Eve")
    assert "report.csv" in refused.value.next
    assert store.find(Submission) == []


@pytest.mark.parametrize(
    ("name", "step"),
    [("work.tar.gz", "unpack it"), ("work.7z", "unpack it"), ("report.pdf", "put the file into a folder")],
)
def test_unsupported_archive_names_the_supported_ones(name: str, step: str, store: Store, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x1f\x8b something")
    with pytest.raises(CaptureError, match="work is handed in as a folder or a ZIP archive") as refused:
        hand_in(store, instance(store, tmp_path), tmp_path / name, entrant="Eve")
    assert refused.value.next.startswith(step)


def test_document_is_not_unpacked_as_an_archive(store: Store, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "report.docx", "w") as z:
        z.writestr("word/document.xml", "<w/>")
    with pytest.raises(CaptureError, match="a document, not an archive"):
        hand_in(store, instance(store, tmp_path), tmp_path / "report.docx", entrant="Eve")


def test_deliverable_named_like_litter_is_kept(store: Store, tmp_path: Path) -> None:
    made = instance(store, tmp_path, deliverables=("desktop.ini",))
    folder = write(tmp_path / "work", {"desktop.ini": "x", "Thumbs.db": "x"})
    assert paths(store, hand_in(store, made, folder, entrant="Eve")) == ["desktop.ini"]


def test_macos_archive_gets_the_names_of_the_task(store: Store, tmp_path: Path) -> None:
    """Its names are UTF-8 without the flag for it, with accents apart, beside a folder of attributes."""
    made = instance(store, tmp_path, deliverables=("Entwürfe/Café.csv",))
    with zipfile.ZipFile(tmp_path / "mac.zip", "w") as z:
        for name in ("Auftrag/Entwürfe/Café.csv", "__MACOSX/Auftrag/Entwürfe/._Café.csv"):
            z.writestr(_Unflagged(unicodedata.normalize("NFD", name)), "x")
    got = hand_in(store, made, tmp_path / "mac.zip", entrant="Eve")
    assert paths(store, got) == ["Entwürfe/Café.csv"]
    assert "taken from the only folder, Auftrag" in got.note and "composed" in got.note


class _Unflagged(zipfile.ZipInfo):
    """A member as macOS writes it."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode(), self.flag_bits
