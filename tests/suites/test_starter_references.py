"""The visible part of the starter suite's references: deliverables only."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.files import HashSink
from worksample.records import Manifest
from worksample.tasks import find_suite, ingest, read_package

TASKS = sorted(path.parent for path in (find_suite("starter").parent / "tasks").glob("*/task.toml"))


class Kept(HashSink):
    """Keeps what is put whole, so that manifests can be read back."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        digest = super().put(data)
        self.held[digest] = data
        return digest


@pytest.mark.parametrize("root", TASKS, ids=lambda root: root.name)
def test_people_see_deliverables_only(root: Path) -> None:
    sink = Kept()
    for instance in ingest(read_package(root), sink).instances:
        (grading,) = instance.grading.values()
        digest = instance.shown_reference or grading.reference
        paths = [e.path for e in Manifest.model_validate_json(sink.held[digest]).files]
        tops = {d.name.split("/")[0] for d in instance.work.deliverables}
        assert {path.split("/")[0] for path in paths} == tops
