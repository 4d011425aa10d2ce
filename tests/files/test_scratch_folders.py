"""Scratch folders are removed with their work, or by the next process if it was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worksample.files.machine import host_id, machine_id
from worksample.files.scratch_folder import process_namespace, scratch_folder, sweep_scratch_folders

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
    pid, started, space, host, boot, word = left.name.split("-")[2:]
    machine = f"{host}-{boot}"
    others = [
        f"worksample-test-{pid}-{started}-{int(space) + 1}-{machine}-{word}",  # only its container can see the process
        f"worksample-test-{pid}-{started}-{space}-{machine}",
        f"worksample-test-{pid}-{started}-{space}-{machine}-{word}.txt",
        f"other-{left.name}",
    ]
    for name in others:
        (tmp_path / name).mkdir()
    (tmp_path / "to").mkdir()
    (tmp_path / f"worksample-link-{pid}-{started}-{space}-{machine}-{word}").symlink_to("to")
    with scratch_folder("test", tmp_path) as living:
        assert sweep_scratch_folders(tmp_path) == [left.name]
        assert living.is_dir()
    assert len(list(tmp_path.iterdir())) == len(others) + 2
    assert sweep_scratch_folders(tmp_path / "nowhere") == []


def test_reused_process_id_is_another_process(tmp_path: Path) -> None:
    with scratch_folder("test", tmp_path) as living:
        _, purpose, pid, started, *rest = living.name.split("-")
        earlier = tmp_path / f"worksample-{purpose}-{os.getpid()}-{int(started) - 1}-{'-'.join(rest)}"
        earlier.mkdir()
        assert pid == str(os.getpid()) and sweep_scratch_folders(tmp_path) == [earlier.name]


DEAD = (1 << 22) + 1
"""A process number that no kernel assigns."""
DAY = 86_400.0


@pytest.mark.parametrize(
    ("machine", "age", "removed"),
    [
        pytest.param(machine_id(), 0.0, True, id="this-boot"),
        pytest.param(f"{host_id()}-00000000", 50 * 365 * DAY, True, id="earlier-boot-of-this-host"),
        pytest.param(f"{host_id()}-00000000", 0.0, False, id="another-host-of-the-same-name"),
        pytest.param("00000000-00000000", 400 * DAY, False, id="another-host"),
        pytest.param("", 0.0, False, id="older-name-fresh"),
        pytest.param("", 8 * DAY, True, id="older-name-long-unchanged"),
    ],
)
def test_only_folders_known_to_be_left_behind_are_removed(
    tmp_path: Path, machine: str, age: float, removed: bool
) -> None:
    """Machines that share a home on NFS have equal numbers of processes and of their first process namespace."""
    maker = f"{DEAD}-12345-{process_namespace()}{'-' if machine else ''}{machine}"
    folder = tmp_path / f"worksample-unpack-{maker}-0123abcd"
    folder.mkdir()
    os.utime(folder, (time.time() - age,) * 2)
    assert bool(sweep_scratch_folders(tmp_path)) is removed
    assert folder.exists() is not removed
