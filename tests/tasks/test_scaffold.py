from __future__ import annotations

from pathlib import Path

import pytest

from worksample.audit import check
from worksample.errors import UsageError
from worksample.files import HashSink
from worksample.tasks import ingest, read_package, scaffold


def test_scaffold_is_a_valid_package_with_its_own_canary(tmp_path: Path) -> None:
    first, second = (read_package(scaffold(tmp_path, id, title='The "new" task')) for id in ("one", "two"))
    assert first.title == "The 'new' task"
    assert [i.name for i in first.instances] == ["march", "april"]
    assert len(first.cases) == 3
    assert first.canary != second.canary
    assert not list(tmp_path.rglob("*.txt.txt"))
    assert len(ingest(first, HashSink()).instances) == 2


def test_scaffold_overwrites_nothing(tmp_path: Path) -> None:
    scaffold(tmp_path, "one")
    with pytest.raises(UsageError, match="exists already"):
        scaffold(tmp_path, "one")
    with pytest.raises(UsageError, match="is not a task's id"):
        scaffold(tmp_path, "../One")


@pytest.mark.thorough(
    quick="repo/test_doc_snippets.py::test_commands_of_a_page_can_be_typed[docs/tutorials/own-task.md]"
)
@pytest.mark.box
@pytest.mark.long
def test_scaffold_passes_the_audit(tmp_path: Path) -> None:
    report = check(read_package(scaffold(tmp_path, "new-task")))
    assert [str(f) for f in report.findings] == []
