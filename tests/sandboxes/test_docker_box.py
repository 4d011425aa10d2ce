"""Docker boxes fulfil the box interface."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes import daemon
from sandboxes.images import machine
from worksample.box import BoxConfig, Mount, Root
from worksample.errors import POLICY, Boundary, SandboxError, SandboxUnavailable
from worksample.sandboxes import conformance, open_box, require_kind, sweep
from worksample.sandboxes.containers import docker_daemon as containers

SWEEP = "sandboxes/test_sweeper.py::test_closed_box_leaves_nothing"


@pytest.fixture(scope="module")
def _daemon() -> Iterator[str]:
    with daemon.running() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", url)
        yield url


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return machine.make(tmp_path_factory.mktemp("image") / "root")


def _checks(quick: str) -> list[object]:
    return [pytest.param(n, marks=pytest.mark.thorough(quick=quick.format(n))) for n in conformance.CHECKS]


@pytest.mark.docker
@pytest.mark.parametrize(
    "name", _checks("sandboxes/test_box_interface.py::test_box_fulfils_the_interface[bubblewrap-{}]")
)
@pytest.mark.parametrize("root", ["machine", "image"])
async def test_docker_box_fulfils_the_interface(
    root: str, name: str, _daemon: str, folder: Path, tmp_path: Path
) -> None:
    async with conformance.open_conformance_box(
        "docker", tmp_path, Root(str(folder)) if root == "image" else None
    ) as box:
        await conformance.CHECKS[name](box)


LIVE = """
import asyncio, sys
from worksample.box import BoxConfig
from worksample.sandboxes import open_box
async def live():
    async with open_box(BoxConfig(label="left"), kind="docker") as box:
        await box.start(["sleep", "1000"])
        if sys.argv[1] == "frozen":
            await box.freeze()
        print("ready", flush=True)
        sys.stdin.read()
asyncio.run(live())
"""


def _living(state: str, dies: daemon.Started | None = None) -> subprocess.Popen[str]:
    """Another process with a box, whose daemon may be ended as soon as it has it."""
    if dies is not None:
        dies.start()
    words = [sys.executable, "-c", LIVE, state]
    one = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert one.stdout is not None and one.stdout.readline() == "ready\n"
    if dies is not None:
        dies.kill()
    return one


def _end(one: subprocess.Popen[str], number: int) -> None:
    one.send_signal(number)
    one.wait()
    assert one.stdin is not None and one.stdout is not None
    one.stdin.close()
    one.stdout.close()


def _containers(url: str) -> list[str]:
    found = containers.connect(url).api.containers(all=True, filters={"label": containers.LABEL})
    return [one["State"] for one in found]


@pytest.mark.docker
@pytest.mark.thorough(quick=SWEEP)
def test_leftovers_of_killed_processes_are_removed_and_living_boxes_stay(
    _daemon: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path / "runtime"))
    stays, goes, frozen, lost = (_living(state) for state in ("runs", "runs", "frozen", "frozen"))
    for one in (goes, frozen, lost):
        _end(one, signal.SIGKILL)
    for folder in (tmp_path / "runtime/containers").glob(f"{lost.pid}-*"):
        shutil.rmtree(folder)  # a folder for temporary files was emptied: the daemon knows whose it was
    for _ in range(600):
        if sorted(_containers(_daemon)) == ["paused", "paused", "running"]:
            break
        time.sleep(0.1)  # a box that is not frozen ends by itself, at once
    assert sorted(_containers(_daemon)) == ["paused", "paused", "running"]
    assert sum("left" in line for line in sweep()) == 2
    assert sorted(_containers(_daemon)) == ["paused", "running"]
    assert len(containers.sweep_containers(_daemon)) == 1
    assert _containers(_daemon) == ["running"]
    assert stays.stdin is not None
    stays.stdin.close()
    assert stays.wait() == 0
    assert stays.stdout is not None
    stays.stdout.close()
    assert _containers(_daemon) == [] and not list((tmp_path / "runtime/containers").iterdir())


@pytest.mark.docker
@pytest.mark.thorough(quick=SWEEP)
async def test_dying_daemon_is_no_fault_of_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path / "runtime"))
    with daemon.started() as own:
        monkeypatch.setenv("DOCKER_HOST", own.url)
        async with open_box(BoxConfig(), kind="docker") as box, open_box(BoxConfig(), kind="docker") as frozen:
            await box.write("/task/output/done.txt", b"work")
            await frozen.freeze()
            own.kill()
            assert (await box.run(["cat", "/task/output/done.txt"])).stdout == b"work"
            with pytest.raises(SandboxError, match="cannot be paused") as failure:
                await box.freeze()
            assert POLICY[failure.value.cause].boundary is Boundary.SANDBOX
            with pytest.raises(SandboxError, match=r"Docker|no Docker daemon"):
                async with open_box(BoxConfig(), kind="docker"):
                    pass
            assert sweep() == []  # ours live, and nobody can be asked
        other = _living("frozen", own)
        assert other.stdin is not None and other.stdout is not None
        other.stdin.close()
        assert other.wait() == 0
        other.stdout.close()
        assert sweep() == []  # what is left has nobody to remove it
        own.start()
        assert sum("left" in line for line in sweep()) == 1
        assert _containers(own.url) == []


@pytest.mark.docker
@pytest.mark.thorough(quick=SWEEP)
async def test_docker_box_cancelled_at_any_moment_leaves_nothing(
    _daemon: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))

    async def live() -> None:
        async with open_box(BoxConfig(), kind="docker") as opened:
            await opened.run(["true"])

    await live()
    descriptors = _descriptors(_daemon)
    for moment in range(20):
        task = asyncio.create_task(live())
        await asyncio.sleep(moment * 0.06)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not list((tmp_path / "containers").iterdir()), f"cancelled after {moment * 60} ms"
    assert _containers(_daemon) == []
    assert _descriptors(_daemon) <= descriptors + 2


def _descriptors(url: str) -> int:
    """How many are open, but for the connections that the client of the daemon keeps: at most 25."""
    return sum(_peer(number) != url.removeprefix("unix://") for number in range(1 << 12) if _open(number))


def _open(number: int) -> bool:
    return Path(f"/proc/self/fd/{number}").is_symlink()


def _peer(number: int) -> object:
    own = os.dup(number)
    try:
        with socket.socket(fileno=own) as other:
            own = -1
            return other.getpeername()
    except OSError:
        return None
    finally:
        if own >= 0:
            os.close(own)


@pytest.mark.docker
@pytest.mark.thorough(quick=SWEEP)
async def test_mounts_below_a_read_only_mount_are_read_only(_daemon: str, tmp_path: Path) -> None:
    for name in ("in/below", "in/open", "other"):
        (tmp_path / name).mkdir(parents=True)
    subprocess.run(["mount", "--bind", tmp_path / "other", tmp_path / "in/below"], check=True)
    try:
        mounts = (
            Mount(str(tmp_path / "in"), "/task/input"),
            Mount(str(tmp_path / "in/open"), "/task/input/open", writable=True),
        )
        async with open_box(BoxConfig(mounts=mounts), kind="docker") as box:
            done = await box.run(["sh", "-c", "cd /task/input; touch x; touch below/x; touch open/x; ls -R ."])
            assert done.stderr.count(b"Read-only") == 2
    finally:
        subprocess.run(["umount", tmp_path / "in/below"], check=True)
    assert [path.name for path in tmp_path.rglob("x")] == ["x"] and (tmp_path / "in/open/x").exists()


def test_missing_daemon_names_the_command_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    with pytest.raises(SandboxUnavailable, match="no Docker daemon answers") as failure:
        require_kind("docker")
    assert failure.value.next is not None and "docker.io" in failure.value.next
    monkeypatch.setenv("DOCKER_HOST", "tcp://docker.example.com:2375")
    with pytest.raises(SandboxUnavailable, match="on another machine"):
        require_kind("docker")
