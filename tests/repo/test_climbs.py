"""A submission's way from the end of its trial to the leaderboard, and a regrade, climb no more than they did."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

import worksample
from repo.climbs import SOURCES, Climbs, code_of
from worksample.files import HashSink, scan
from worksample.store import Store

STARTER = SOURCES / "suites" / "starter"
SINK = ("files.folder_scanner", "store.blobs")
"""The scanner of a folder puts contents into the sink that it is given."""
CLOSED = ("runs.trial_close", "experiments.experiment_runner")
"""A closed trial is announced to its experiment, which grades the submission at once."""
INGESTED = ("tasks.package_ingestion", "store.blobs")
"""The ingestion of a package puts manifests into the sink that it is given."""

BROKERED = ("sandboxes.request_broker", "grading.program_requests")
"""The broker of a grader's requests answers with the functions that the grading gives it."""


@dataclass
class Walks:
    submission: Climbs
    regrade: Climbs


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Walks:
    """A task of the starter suite, run by a script and graded again by another grader."""
    folder = tmp_path_factory.mktemp("climbs")
    task, store = shutil.copytree(STARTER / "tasks" / "bug-fix-invoice", folder / "bug-fix-invoice"), folder / "store"
    agent = {"name": "good", "harness": "scripted", "script": str(STARTER / "scripts" / "good")}
    found = Walks(Climbs(begin="runs.trial_close.close"), Climbs())
    with found.submission.record():
        run = worksample.run([task], [agent], store=store, only=["bug-fix-invoice/rounding"], name="climbs")
        assert len(run.board.rows) == 1
    grader = task / "grade.py"
    grader.write_text(f"{grader.read_text()}\n# another version\n")
    with found.regrade.record():
        assert worksample.grade(run, tasks=[task]).adopted
    return found


@pytest.mark.box
def test_a_submission_climbs_twice_on_its_way_to_the_leaderboard(walks: Walks) -> None:
    assert {"runs", "grading", "results", "reports"} <= walks.submission.packages
    assert walks.submission.modules <= {SINK, CLOSED, BROKERED}, walks.submission.pairs


@pytest.mark.box
def test_a_regrade_climbs_twice(walks: Walks) -> None:
    assert {"experiments", "grading", "tasks", "results"} <= walks.regrade.packages
    assert walks.regrade.modules <= {SINK, INGESTED, BROKERED}, walks.regrade.pairs


def test_a_value_from_a_higher_layer_that_is_called_is_a_climb(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file.txt").write_text("text")
    with Store.open(tmp_path / "store", create=True) as store, Climbs().record() as found:
        scan(folder, HashSink())
        assert not found.pairs
        scan(folder, store.blobs)
    assert found.modules == {SINK}


def test_a_function_handed_to_a_thread_or_task_is_known_by_its_code() -> None:
    assert code_of(partial(HashSink().put, b"data")) is HashSink.put.__code__
    assert code_of(len) is None
