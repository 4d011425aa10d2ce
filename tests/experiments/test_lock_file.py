"""The lock file, also if two runs of one experiment begin together."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from experiments.material import some_material
from worksample.experiments.planning.experiment_plan import plan
from worksample.experiments.planning.lock_file import LOCK_NAME, write_lock

AT = datetime(2026, 1, 1, tzinfo=UTC)
MANY = 8


def test_concurrent_runs_write_one_complete_lock(tmp_path: Path) -> None:
    planned = plan(some_material(), author="ann", at=AT, versions={"worksample": "1"}, settings={})
    barrier = threading.Barrier(MANY)

    def write(folder: Path) -> Path:
        barrier.wait(120)
        return write_lock(planned, folder)

    with ThreadPoolExecutor(MANY) as pool:
        for turn in range(30):
            folder = tmp_path / str(turn)
            assert set(pool.map(write, [folder] * MANY)) == {folder / LOCK_NAME}
            assert [path.name for path in folder.iterdir()] == [LOCK_NAME]
            assert json.loads((folder / LOCK_NAME).read_text())["experiment"] == planned.experiment.id


def test_existing_lock_stays(tmp_path: Path) -> None:
    planned = plan(some_material(), author="ann", at=AT, versions={"worksample": "1"}, settings={})
    path = write_lock(planned, tmp_path)
    before = path.read_bytes()
    later = plan(some_material(), author="bob", at=AT.replace(year=2027), versions={"worksample": "2"}, settings={})
    assert write_lock(later, tmp_path) == path and path.read_bytes() == before
