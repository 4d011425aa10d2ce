"""`[reference]`: the part of a reference that people see."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.helpers_package import TASK, small, write
from worksample.files import HashSink
from worksample.files.config_files import FaultyManifest
from worksample.records import Entry, EntryKind, Instance, Manifest, Protocol
from worksample.store.record_references import blobs_of
from worksample.tasks import ingest, read_package
from worksample.tasks.shown_reference import ReferenceVisibility


def first_of(root: Path, table: str = "") -> Instance:
    write(root, {"task.toml": TASK.replace("[[instance]]", table + "[[instance]]", 1)})
    return ingest(read_package(root), HashSink()).instances[0]


def folder(*paths: str) -> Manifest:
    return Manifest(
        entries=tuple(
            Entry(path=p.rstrip("/"), kind=EntryKind.FOLDER)
            if p.endswith("/")
            else Entry(path=p, size=1, blob="0" * 64)
            for p in sorted(paths)
        )
    )


@pytest.mark.parametrize(
    ("shown", "seen"),
    [
        (ReferenceVisibility(hide=("expected.json",)), ["a.csv", "site", "site/index.html"]),
        (ReferenceVisibility(hide=("site/",)), ["a.csv", "expected.json"]),
        (ReferenceVisibility(show=("*.html",)), ["site", "site/index.html"]),
        (ReferenceVisibility(show=("*.csv", "site/")), ["a.csv", "site", "site/index.html"]),
        (ReferenceVisibility(hide=("*",)), []),
    ],
)
def test_patterns_select_visible_files(shown: ReferenceVisibility, seen: list[str]) -> None:
    found = shown.of(folder("a.csv", "expected.json", "site/", "site/index.html"))
    assert found is not None
    assert [entry.path for entry in found.entries] == seen


def test_hidden_part_changes_only_the_instance(tmp_path: Path) -> None:
    root = small(tmp_path)
    write(root, {"reference/one/expected.json": "{}"})
    before, after = first_of(root), first_of(root, '[reference]\nhide = ["expected.json"]\n')
    assert before.shown_reference is None and after.shown_reference is not None
    assert after.id != before.id
    assert (after.shown_reference, True) in set(blobs_of(after))
    assert after.grading_digest(Protocol.PROGRAM) == before.grading_digest(Protocol.PROGRAM)
    assert after.work_digest == before.work_digest
    # A record that hides nothing is written as it was before there was anything to hide.
    assert "shown_reference" not in before.plain()
    assert Instance.model_validate(after.plain()) == after


def test_instance_without_the_hidden_file_shows_all(tmp_path: Path) -> None:
    root = small(tmp_path)
    write(root, {"reference/two/expected.json": "{}"})
    assert first_of(root, '[reference]\nhide = ["expected.json"]\n').shown_reference is None


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('hide = ["expected.josn"]', "reference.hide: 'expected.josn' matches no file in reference/one, reference/two"),
        ('hide = ["answer.txt"]\nshow = ["answer.txt"]', "reference.hide: cannot be given together with show"),
        ('hidden = ["answer.txt"]', "reference.hidden: is not a key"),
    ],
)
def test_invalid_patterns_are_named(tmp_path: Path, table: str, says: str) -> None:
    root = small(tmp_path)
    with pytest.raises(FaultyManifest) as raised:
        first_of(root, f"[reference]\n{table}\n")
    assert says in str(raised.value)
