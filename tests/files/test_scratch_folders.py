"""Scratch folders are removed with their work, or by the next process if it was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from worksample.files.scratch_folder import scratch_folder, sweep_scratch_folders

KILLED = """
import os, sys
from pathlib import Path
from worksample.files.scratch_folder import scratch_folder
with scratch_folder("test", Path(sys.argv[1])) as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text("x")
    (folder / "deep").chmod(0o500)
    os.kill(os.getpid(), 9)
"""


def test_scratch_folder_is_removed_with_its_work(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), scratch_folder("test", tmp_path) as folder:
        (folder / "closed").mkdir()
        (folder / "closed" / "file").write_text("x")
        (folder / "closed").chmod(0o500)
        assert sweep_scratch_folders(tmp_path) == []
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_process_are_removed_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    [left] = tmp_path.iterdir()
    pid, started, space, word = left.name.split("-")[2:]
    others = [
        f"worksample-test-{pid}-{started}-{int(space) + 1}-{word}",  # of a process that only its container can see
        f"worksample-test-{pid}-{started}-{space}",
        f"worksample-test-{pid}-{started}-{space}-{word}.txt",
        f"other-{left.name}",
    ]
    for name in others:
        (tmp_path / name).mkdir()
    (tmp_path / "to").mkdir()
    (tmp_path / f"worksample-link-{pid}-{started}-{space}-{word}").symlink_to("to")
    with scratch_folder("test", tmp_path) as living:
        assert sweep_scratch_folders(tmp_path) == [left.name]
        assert living.is_dir()
    assert len(list(tmp_path.iterdir())) == len(others) + 2
    assert sweep_scratch_folders(tmp_path / "nowhere") == []


def test_reused_process_id_is_another_process(tmp_path: Path) -> None:
    with scratch_folder("test", tmp_path) as living:
        _, purpose, pid, started, space, word = living.name.split("-")
        earlier = tmp_path / f"worksample-{purpose}-{os.getpid()}-{int(started) - 1}-{space}-{word}"
        earlier.mkdir()
        assert pid == str(os.getpid()) and sweep_scratch_folders(tmp_path) == [earlier.name]
