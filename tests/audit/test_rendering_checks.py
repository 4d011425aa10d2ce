"""Report to a task's author on how people see its inputs and reference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from people.worlds import folder_of
from store.worlds import EMPTY, NOTHING, instance_of
from viewing.material import picture
from worksample.audit.rendering_checks import reference_notes, rendering_notes
from worksample.records import Deliverable, Grading, Instance, Protocol
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = Store.open(tmp_path / "s", create=True)
    found.blobs.put(NOTHING)
    yield found
    found.close()


def task(store: Store, name: str, inputs: dict[str, bytes], reference: dict[str, bytes]) -> Instance:
    base = instance_of(name)
    grading = Grading(protocol=Protocol.HOLISTIC, reference=folder_of(store, reference), grader=EMPTY)
    work = base.work.replaced(inputs=folder_of(store, inputs))
    return base.replaced(work=work, grading={Protocol.HOLISTIC: grading, Protocol.RUBRIC: grading})


@pytest.mark.box
async def test_unshowable_files_are_named_and_the_rest_counted(store: Store) -> None:
    good = {"a.png": picture("PNG"), "notes.txt": b"hello"}
    bad = {"plan.bin": bytes(range(256)), "photo.png": picture("PNG")[:60]}
    one, two = task(store, "one", good, bad), task(store, "two", good, {"notes.txt": b"bye"})
    *named, summary = await rendering_notes(store, [one, two])
    assert [note.split(":")[0] for note in named] == [one.key, one.key]
    assert named[0].startswith(f"{one.key}: reference/photo.png: shown as ")
    assert "reference/plan.bin" in named[1] and named[1].endswith("too little of it is visible to judge it")
    assert summary == "people are shown 5 files (2 image, 2 text, 1 card); 2 of them have a problem"


@pytest.mark.box
async def test_no_problem_is_one_line(store: Store) -> None:
    found = await rendering_notes(store, [task(store, "one", {}, {"notes.txt": b"hello"})])
    assert found == ["people are shown 1 file (1 text); none has a problem"]


async def test_package_without_files_has_no_report(store: Store) -> None:
    assert await rendering_notes(store, [task(store, "one", {}, {})]) == []


@pytest.mark.box
def test_task_check_includes_the_report(tmp_path: Path) -> None:
    from audit.small_task import faulty
    from worksample.audit import AuditConfig, check

    report = check(faulty(tmp_path, ("none",)), AuditConfig(repeats=1))
    (said,) = [note for note in report.notes if note.startswith("people are shown")]
    assert "none has a problem" in said
    quiet = check(faulty(tmp_path / "again", ("none",)), AuditConfig(repeats=1, rendering=False))
    assert not any(note.startswith("people are shown") for note in quiet.notes)


def test_visible_part_of_a_reference_is_reported(store: Store) -> None:
    files = {"report.md": b"done", "expected.json": b"{}"}
    whole = task(store, "one", {}, files)
    whole = whole.replaced(work=whole.work.replaced(deliverables=(Deliverable(name="report.md", format="md"),)))
    part = whole.replaced(shown_reference=folder_of(store, {"report.md": b"done"}))
    none = whole.replaced(shown_reference=folder_of(store, {}))
    assert reference_notes(store, [whole, part, none, task(store, "two", {}, {})]) == [
        f"{whole.key}: reference files that evaluators see: expected.json, report.md; not deliverables: expected.json "
        "([reference] in task.toml can hide them from evaluators)",
        f"{part.key}: reference files that evaluators see: report.md; not: expected.json",
        f"{none.key}: reference files that evaluators see: nothing; not: expected.json, report.md",
    ]
