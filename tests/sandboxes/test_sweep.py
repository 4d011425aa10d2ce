"""A killed platform leaves no process behind, and what else it leaves is swept away."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from worksample.box import BoxConfig, open_box
from worksample.errors import SandboxError
from worksample.sandboxes import available, sweep
from worksample.sandboxes.host_state import runtime_folder, started_at

pytestmark = pytest.mark.box

PLATFORM = """
import asyncio, json, os, sys
from worksample.box import BoxConfig, open_box

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
    """Boxes that were swept; groups that other killed runs left on this machine are swept too, and are not ours."""
    return [line for line in sweep() if not line.startswith("control group")]


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


def test_folders_of_plain_boxes_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _killed(tmp_path, "none", "running")
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    assert len(_swept()) == 1 and not list((tmp_path / "plain").iterdir())


NEXT = """
import asyncio, sys
from worksample.box import BoxConfig, open_box

async def main():
    async with open_box(BoxConfig(label="next"), kind=sys.argv[1]):
        pass

asyncio.run(main())
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
def test_the_next_run_sweeps_what_a_killed_one_left(tmp_path: Path, kind: str) -> None:
    owner = _killed(tmp_path, kind, "running")
    assert len(list(tmp_path.glob("*/*/owner.json"))) == 1
    env = {**os.environ, "WORKSAMPLE_RUNTIME_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", NEXT, kind], env=env, check=True)
    assert not list(tmp_path.glob("*/*/owner.json")) and not any(Path(folder).exists() for folder in owner["groups"])


def test_only_a_container_of_its_own_can_say_that_a_box_is_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = _killed(tmp_path, "none", "running")
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    [file] = tmp_path.glob("*/*/owner.json")
    boot, _ = owner["here"].split(" ")
    file.write_text(json.dumps(owner | {"here": f"{boot} pid:[1]"}))
    assert _swept() == []
    file.write_text(json.dumps(owner | {"here": "another-boot pid:[1]", "child": os.getpid()}))
    assert len(_swept()) == 1


async def test_living_boxes_are_not_swept() -> None:
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


async def test_a_closed_box_leaves_nothing() -> None:
    before = _traces()
    for _ in range(5):
        async with open_box(BoxConfig()) as box:
            await box.run(["true"])
    assert _traces() == before


async def test_a_box_that_is_killed_from_outside_is_lost_and_says_so() -> None:
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


async def test_a_cancelled_command_is_ended() -> None:
    async with open_box(BoxConfig()) as box:
        running = asyncio.create_task(box.run(["bash", "-c", "sleep 61 & sleep 61"]))
        await asyncio.sleep(0.3)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.sleep(0.1)
        assert b"sleep" not in (await box.run(["ps", "ax"])).stdout


async def test_many_boxes_at_once_have_ids_of_their_own() -> None:
    async def one(number: int) -> tuple[bytes, bytes]:
        async with open_box(BoxConfig(python="none")) as box:
            await box.write("/task/output/n", str(number).encode())
            return (await box.run(["cat", "/task/output/n"])).stdout, (await box.run(["id", "-u"])).stdout

    done = await asyncio.gather(*(one(number) for number in range(12)))
    assert [int(number) for number, _ in done] == list(range(12))
    assert len({uid for _, uid in done}) == (12 if os.geteuid() == 0 else 1)
