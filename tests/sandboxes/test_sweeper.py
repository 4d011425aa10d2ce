"""A killed platform leaves no process, and its other leftovers are removed."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sandboxes.test_guarded_subprocess import gone, running
from worksample.box import BoxConfig
from worksample.errors import SandboxError
from worksample.files.machine import boot_id, host_id, machine_id
from worksample.files.scratch_folder import process_namespace, started_at
from worksample.sandboxes import available, cgroups, open_box, sweep
from worksample.sandboxes.host_state import (
    BoxFolder,
    cache_folder,
    prefixes_folder,
    runtime_folder,
    workplaces_folder,
)
from worksample.sandboxes.processes_by_variable import MAKER
from worksample.sandboxes.shared_folders import make_once

pytestmark = pytest.mark.box

PLATFORM = """
import asyncio, json, os, sys
from worksample.box import BoxConfig
from worksample.sandboxes import open_box

async def main():
    async with open_box(BoxConfig(label="doomed"), kind=sys.argv[1]) as box:
        await box.run(["bash", "-c", "for n in 1 2 3; do setsid sleep 300 >/dev/null 2>&1 & done; disown -a"])
        if sys.argv[2] == "frozen":
            await box.freeze()
        print("ready", flush=True)
        await asyncio.sleep(300)

asyncio.run(main())
"""


def _killed(tmp_path: Path, kind: str, state: str) -> dict[str, Any]:
    """Start a platform with a box, kill it, and return what its owner file says."""
    env = {**os.environ, "WORKSAMPLE_RUNTIME_DIR": str(tmp_path)}
    words = [sys.executable, "-c", PLATFORM, kind, state]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=env, text=True) as platform:
        assert platform.stdout is not None
        assert platform.stdout.readline() == "ready\n"
        [folder] = (tmp_path / ("plain" if kind == "none" else "boxes")).iterdir()
        owner = dict(json.loads((folder / "owner.json").read_text()))
        platform.kill()
    return owner


def _gone(pid: int, started: int) -> bool:
    for _ in range(3000):
        if started_at(pid) != started:
            return True
        time.sleep(0.02)
    return False


def _swept() -> list[str]:
    """Boxes that were swept; what else other killed runs left on this machine is swept too, and is not ours."""
    others = ("control group", "folder", "half")
    return [line for line in sweep() if not line.startswith(others) and "bubblewrap had not let go" not in line]


@pytest.mark.parametrize("state", ["running", "frozen"])
def test_no_process_outlives_a_killed_platform(tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = _killed(tmp_path, "bubblewrap", state)
    assert _gone(owner["child"], owner["child_started"]) and _gone(owner["holder"], owner["holder_started"])
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    for folder in owner["groups"]:
        with suppress(FileNotFoundError):  # another process may sweep the groups of who is dead before we do
            assert not (Path(folder) / "cgroup.procs").read_text()
    [line] = _swept()
    assert line.endswith("doomed")
    assert not list((tmp_path / "boxes").iterdir()) and not any(Path(folder).exists() for folder in owner["groups"])
    assert _swept() == []


def test_folders_of_plain_boxes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _killed(tmp_path, "none", "running")
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    assert len(_swept()) == 1 and not list((tmp_path / "plain").iterdir())


NEXT = """
import asyncio, sys
from worksample.box import BoxConfig
from worksample.sandboxes import open_box

async def main():
    async with open_box(BoxConfig(label="next"), kind=sys.argv[1]):
        pass

asyncio.run(main())
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
def test_next_run_removes_leftovers_of_a_killed_one(tmp_path: Path, kind: str) -> None:
    owner = _killed(tmp_path, kind, "running")
    assert len(list(tmp_path.glob("*/*/owner.json"))) == 1
    env = {**os.environ, "WORKSAMPLE_RUNTIME_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", NEXT, kind], env=env, check=True)
    assert not list(tmp_path.glob("*/*/owner.json")) and not any(Path(folder).exists() for folder in owner["groups"])


def test_only_the_same_container_can_tell_that_a_box_is_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = _killed(tmp_path, "none", "running")
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    [file] = tmp_path.glob("*/*/owner.json")
    boot, _ = owner["here"].split(" ")
    file.write_text(json.dumps(owner | {"here": f"{boot} pid:[1]"}))
    assert _swept() == []
    file.write_text(json.dumps(owner | {"here": "another-boot pid:[1]", "child": os.getpid()}))
    os.utime(file, (0, 0))  # before this boot
    assert len(_swept()) == 1


async def test_living_boxes_are_not_removed() -> None:
    async with open_box(BoxConfig(label="living")) as box:
        sweep()
        assert (await box.run(["echo", "still here"])).stdout == b"still here\n"


def _traces() -> tuple[int, int, int]:
    """Our box folders, control groups and open descriptors."""
    groups = [
        path
        for parent in (available().parents.memory, available().parents.unified)
        if parent
        for path in parent.glob(f"worksample-{os.getpid()}-*")
    ]
    return (
        len(list((runtime_folder() / "boxes").glob(f"{os.getpid()}-*"))),
        len(groups),
        len(list(Path("/proc/self/fd").iterdir())),
    )


async def test_closed_box_leaves_nothing() -> None:
    boxes, groups, descriptors = _traces()
    for _ in range(5):
        async with open_box(BoxConfig()) as box:
            await box.run(["true"])
    after = _traces()
    # One that an earlier test of this process left may be closed meanwhile; each box that leaked would add five.
    assert after[:2] == (boxes, groups) and after[2] <= descriptors


async def test_box_killed_from_outside_is_lost_and_says_so() -> None:
    async with open_box(BoxConfig()) as box:
        waiting = asyncio.create_task(box.run(["sleep", "60"]))
        await box.write("/task/output/kept", b"kept")
        owner = json.loads(next((runtime_folder() / "boxes").glob(f"{os.getpid()}-*/owner.json")).read_text())
        os.kill(owner["child"], signal.SIGKILL)
        with pytest.raises(SandboxError, match="lost"):
            await waiting
        with pytest.raises(SandboxError, match="lost"):
            await box.run(["true"])
        await box.kill()
        assert (box.output_path / "kept").read_bytes() == b"kept"
        assert await box.read("/task/output/kept", 10) == b"kept"


async def test_cancelled_command_is_ended() -> None:
    async with open_box(BoxConfig()) as box:
        running = asyncio.create_task(box.run(["bash", "-c", "sleep 61 & sleep 61"]))
        await asyncio.sleep(0.3)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.sleep(0.1)
        assert b"sleep" not in (await box.run(["ps", "ax"])).stdout


async def test_concurrent_boxes_have_separate_user_ids() -> None:
    async def one(number: int) -> tuple[bytes, bytes]:
        async with open_box(BoxConfig(python="none")) as box:
            await box.write("/task/output/n", str(number).encode())
            return (await box.run(["cat", "/task/output/n"])).stdout, (await box.run(["id", "-u"])).stdout

    done = await asyncio.gather(*(one(number) for number in range(12)))
    assert [int(number) for number, _ in done] == list(range(12))
    assert len({uid for _, uid in done}) == (12 if os.geteuid() == 0 else 1)


PLAIN = """
import asyncio, sys
from worksample.box import BoxConfig
from worksample.sandboxes import open_box

async def main():
    async with open_box(BoxConfig(), kind="none") as box:
        script = "setsid sh -c 'while :; do sleep 0.05; done' " + sys.argv[1] + " </dev/null >/dev/null 2>&1 &"
        await box.run(["bash", "-c", script])
        print("ready", flush=True)
        if sys.argv[2] == "killed":
            await asyncio.sleep(300)

asyncio.run(main())
"""


@pytest.mark.parametrize("ends", ["killed", "closed"])
def test_process_outside_its_group_ends_with_the_box_or_next_run(tmp_path: Path, ends: str) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    env = {**os.environ, "WORKSAMPLE_RUNTIME_DIR": str(tmp_path)}
    words = [sys.executable, "-c", PLAIN, mark, ends]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=env, text=True) as platform:
        assert platform.stdout is not None and platform.stdout.readline() == "ready\n"
        if ends == "killed":
            platform.kill()
    if ends == "killed":
        assert running(mark)  # one, or two in the moment in which it forks
        subprocess.run([sys.executable, "-c", NEXT, "none"], env=env, check=True)
    assert gone(mark)


FORKED = """
import subprocess, sys, time
from worksample.sandboxes.processes_by_variable import maker_environment

code = "import time; time.sleep(1000)"
subprocess.Popen([sys.executable, "-c", code, sys.argv[1]], env=maker_environment(), start_new_session=True)
print("begun", flush=True)
time.sleep(300)
"""


def test_children_that_bubblewrap_never_released_end_with_the_next_run(tmp_path: Path) -> None:
    """It waits for a word of its parent, and was killed with it before it could ask to be told of that."""
    mark = f"mark-{secrets.token_hex(8)}"
    env = {**os.environ, "WORKSAMPLE_RUNTIME_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", FORKED, mark], stdout=subprocess.PIPE, env=env, text=True) as platform:
        assert platform.stdout is not None and platform.stdout.readline() == "begun\n"
        # While its platform lives it is left alone.
        subprocess.run([sys.executable, "-c", NEXT, "none"], env=env, check=True)
        assert len(running(mark)) == 2
        platform.kill()
    assert len(running(mark)) <= 1  # none where another process swept before we do
    subprocess.run([sys.executable, "-c", NEXT, "none"], env=env, check=True)
    assert gone(mark)


async def test_box_does_not_see_its_creators_mark() -> None:
    async with open_box(BoxConfig()) as box:
        told = await box.run(["bash", "-c", "cat /proc/*/environ; env"])
    assert b"PATH=" in told.stdout and MAKER.encode() not in told.stdout


def test_cgroups_are_recorded_before_they_are_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform that was killed in between, in a group of the machine's in which nobody looks by name."""
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    parents = available().parents
    if parents.memory is None:
        pytest.skip("no control groups can be made here")
    folder = BoxFolder("doomed", groups=partial(cgroups.planned_folders, parents))
    made = [Path(path) for path in folder.owner.groups]
    for path in made:
        path.mkdir()
    owner = json.loads((folder.path / "owner.json").read_text())
    (folder.path / "owner.json").write_text(json.dumps(owner | {"started": 1}))
    assert [line for line in _swept() if "doomed" in line]
    assert not any(path.exists() for path in made)


def test_cgroups_of_other_namespaces_stay() -> None:
    """Containers may share control groups: a sweep in one took groups that boxes of another were about to enter."""
    parent = available().parents.memory or available().parents.unified
    if parent is None:
        pytest.skip("no control groups can be made here")
    dead = (1 << 22) + 1  # more than there are numbers of processes
    space = Path("/proc/self/ns/pid").stat().st_ino
    ours, theirs, older = (parent / f"worksample-{dead}-{rest}" for rest in (f"aa-{space}", f"bb-{space + 1}", "cc"))
    for group in (ours, theirs, older):
        group.mkdir()
    try:
        sweep()
        assert (ours.exists(), theirs.exists(), older.exists()) == (False, True, False)
    finally:
        for group in (ours, theirs, older):
            with contextlib.suppress(FileNotFoundError):
                group.rmdir()


def test_partial_folders_of_killed_creators_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("runtime", "cache", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    cache, beginnings = cache_folder(), prefixes_folder()
    maker = f"1-1-{process_namespace()}-{machine_id()}"
    halves = [cache / ".toolbox-1.new", cache / "agents" / ".program.new", cache / "images" / ".abc.new"]
    halves += [beginnings / ".def.new", cache / "images" / f"worksample-image-{maker}-00000000"]
    halves += [tmp_path / "temporary" / f"worksample-audit-{maker}-00000000"]
    whole = [cache / "toolbox-2", cache / "images" / "whole", cache / ".toolbox-3.new", beginnings / "whole"]
    for folder in (*halves, *whole):
        (folder / "deep").mkdir(parents=True)
        if folder.suffix == ".new":
            folder.with_suffix(".lock").write_text(machine_id())
    try:
        with (cache / ".toolbox-3.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # its maker lives
            assert len([line for line in sweep() if line.startswith(("folder", "half"))]) >= len(halves)
        assert not any(half.exists() for half in halves) and all(folder.exists() for folder in whole)
    finally:
        shutil.rmtree(beginnings)


def test_workplace_without_a_keeper_leaves_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    kept, dead, trial, begun = (workplaces_folder() / name for name in ("kept", "dead", "trial-1", "trial-2"))
    for folder in (kept, dead, trial, begun):
        folder.mkdir(parents=True)
    for folder in (kept, dead, trial):
        (folder / "lock").write_text(machine_id())
        (folder / "log").touch()
        with socket.socket(socket.AF_UNIX) as own:
            own.bind(str(folder / "control"))
    with (kept / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep()
    assert sorted(path.name for path in kept.iterdir()) == ["control", "lock", "log"]
    assert sorted(path.name for path in dead.iterdir()) == ["lock", "log"]  # what its keeper said last
    assert not trial.exists() and not begun.exists()


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that several machines share, with the cache and the runtime folder of each."""
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path / "runtime"))
    return tmp_path


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("host", ["00000000", "", host_id()], ids=["named", "older-version", "same-name"])
def test_living_box_of_another_machine_stays(host: str) -> None:
    folder = BoxFolder("trial of machine A")
    owner = json.loads((folder.path / "owner.json").read_text())
    elsewhere = {**owner, "here": "another-boot-id pid:[4026531836]", "host": host}
    if not host:
        del elsewhere["host"]
    (folder.path / "owner.json").write_text(json.dumps(elsewhere))
    assert not [line for line in _swept() if "machine A" in line]
    assert folder.path.is_dir()


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(("host", "age"), [(host_id(), 10 * 365), ("", 8)], ids=["earlier-boot", "older-version"])
def test_box_that_an_earlier_boot_left_is_removed(host: str, age: int) -> None:
    folder = BoxFolder("trial before the restart")
    owner = json.loads((folder.path / "owner.json").read_text())
    (folder.path / "owner.json").write_text(json.dumps({**owner, "here": "another-boot-id pid:[1]", "host": host}))
    os.utime(folder.path / "owner.json", (time.time() - age * 86_400,) * 2)
    assert [line for line in _swept() if "before the restart" in line]
    assert not folder.path.exists()


@pytest.mark.usefixtures("shared")
def test_box_folder_of_another_machine_without_owner_file_stays() -> None:
    dead = (1 << 22) + 1
    boxes = BoxFolder("here").path.parent
    names = (f"{dead}-00000000-0123456789ab", f"{dead}-0123456789ab")  # of another boot, of an earlier version
    for name in names:
        (boxes / name).mkdir()
    ours = boxes / f"{dead}-{boot_id()}-0123456789ab"
    ours.mkdir()
    sweep()
    assert all((boxes / name).is_dir() for name in names) and not ours.exists()


def test_work_that_another_machine_locked_stays(shared: Path) -> None:
    """On NFS without locks a machine does not see those of another one, but it reads their files."""
    half, place = cache_folder() / ".toolbox-9.new", workplaces_folder() / "trial-9"
    for folder, lock in ((half, half.with_suffix(".lock")), (place, place / "lock")):
        folder.mkdir(parents=True)
        lock.write_text("00000000-00000000")
    sweep()
    assert half.is_dir() and place.is_dir() and shared.is_dir()


@pytest.mark.usefixtures("shared")
def test_waiting_for_a_folder_does_not_unsign_its_lock(tmp_path: Path) -> None:
    folder = tmp_path / "made"

    def fill(fresh: Path) -> None:
        lock = fresh.with_suffix(".lock")
        lock.open("a").close()  # as one that waits opens it
        assert lock.read_text() == machine_id() and folder.parent == fresh.parent

    assert make_once(folder, fill).is_dir()


def test_hint_for_the_runtime_folder_names_a_folder_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path / "link"))
    with pytest.raises(SandboxError) as refused:
        runtime_folder()
    assert refused.value.next is not None
    assert "HOME" not in refused.value.next and "hostname" in refused.value.next
