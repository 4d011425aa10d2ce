"""Boxes of each kind fulfil the box interface."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from worksample.box import BoxConfig, BoxLimits, FairTimeout, Mount, Reader
from worksample.errors import SandboxError
from worksample.sandboxes import available, conformance, installed_kinds, open_box

pytestmark = pytest.mark.box

KINDS = [kind for kind in installed_kinds() if kind != "docker"]
"""Those that need no daemon; `test_docker_box.py` has the other."""


@pytest.mark.parametrize("name", conformance.CHECKS)
@pytest.mark.parametrize("kind", KINDS)
async def test_box_fulfils_the_interface(kind: str, name: str, tmp_path: Path) -> None:
    async with conformance.open_conformance_box(kind, tmp_path) as box:
        await conformance.CHECKS[name](box)


@pytest.mark.parametrize("kind", KINDS)
def test_box_works_on_the_event_loop_of_the_app(kind: str, tmp_path: Path) -> None:
    import uvloop

    async def all_of_it() -> None:
        for number, name in enumerate(
            (
                "large_input_goes_through",
                "cancelled_requests_leave_the_box_as_it_was",
                "what_goes_in_comes_out_whole",
                "killing_works_while_writing_and_reading",
                "programs_connect_to_the_host",
                "the_host_connects_to_a_program",
                "sockets_end_with_the_box",
                "a_closed_box_refuses_and_closes_again",
            )
        ):
            (folder := tmp_path / str(number)).mkdir()
            async with conformance.open_conformance_box(kind, folder) as box:
                await conformance.CHECKS[name](box)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(all_of_it())


async def test_commands_are_killed_first_if_memory_is_short() -> None:
    async with open_box(BoxConfig()) as box:
        assert (await box.run(["cat", "/proc/self/oom_score_adj"])).stdout == b"1000\n"


async def test_cancelled_writes_never_cut_a_frame() -> None:
    async with open_box(BoxConfig(limits=BoxLimits(disk=64 << 20))) as box:
        for attempt in range(40):
            data = b"x" * (1 << 16 + attempt % 6)
            writes = [asyncio.ensure_future(box.write(f"large{n}", data)) for n in range(3)]
            for _ in range(2 + attempt % 5):
                await asyncio.sleep(0)
            await asyncio.sleep(0.0005 * (attempt % 8))
            for write in writes:
                write.cancel()
            await asyncio.gather(*writes, return_exceptions=True)
        assert (await box.run(["echo", "alive"])).stdout == b"alive\n"
        await box.write("large", data)
        assert await box.read("large", len(data)) == data


async def test_failed_start_for_lack_of_processes_leaks_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    async with open_box(BoxConfig(limits=BoxLimits(processes=4))) as box:
        [owner] = tmp_path.glob("boxes/*/owner.json")
        server = Path(f"/proc/{json.loads(owner.read_text())['child']}/fd")
        running = []
        while not (await box.run(["true"])).returncode:
            running.append(await box.start(["sleep", "1000"]))
        assert len(running) <= 4
        before = len(list(server.iterdir()))
        failed = [await box.run(["true"]) for _ in range(30)]
        assert all(done.returncode == 126 and b"temporarily unavailable" in done.stderr for done in failed)
        with pytest.raises(OSError, match="temporarily unavailable"):
            await box.listen("sock")
        assert len(list(server.iterdir())) == before
        await running[0].kill()
        assert await running[0].stdout.read() == b""
        assert (await box.run(["true"])).returncode == 0


def _with_number(pid: int) -> subprocess.Popen[bytes] | None:
    """A process and group of another's that has this number; None where nobody could get it."""
    for _ in range(200):
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
        process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        if process.pid == pid:
            return process
        process.kill()
        process.wait()
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give out a process number again")
async def test_reused_process_ids_are_never_signalled() -> None:
    async with open_box(BoxConfig(), kind="none") as box:
        pid = int((await box.run(["sh", "-c", "echo $$"])).stdout)
        other = _with_number(pid)
        await box.freeze()
        await box.thaw()
        await box.clear()
    if other is not None:
        try:
            assert other.poll() is None
        finally:
            other.kill()
            other.wait()


async def test_plain_box_reaps_ended_processes() -> None:
    async with open_box(BoxConfig(), kind="none") as box:
        await box.run(["sh", "-c", "sleep 1000 >/dev/null 2>&1 &"])
        for _ in range(100):
            await box.run(["true"])
        states = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat") if _mine(path)]
        assert len([state for state in states if ") Z " in state]) <= 40
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(40):
            await box.run(["true"])
        assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors + 2


def _mine(path: Path) -> bool:
    try:
        return path.read_text().rpartition(")")[2].split()[1] == str(os.getpid())
    except OSError:
        return False


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
async def test_background_box_gets_the_remaining_processor_time(kind: str) -> None:
    async with open_box(BoxConfig(), kind=kind) as usual, open_box(BoxConfig(background=True), kind=kind) as last:
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert (await usual.run(["nice"])).stdout == b"%d\n" % own
        assert (await last.run(["nice"])).stdout == b"%d\n" % min(19, own + 19)


BURN = "import sys, time\nwhile time.process_time() < float(sys.argv[1]):\n    pass\nprint(time.process_time())"
GOES_ON = (
    "import time\nwhile True:\n    for _ in range(100_000):\n        pass\n    print(time.process_time(), flush=True)"
)


@pytest.mark.skipif(available().parents.cpu is None, reason="no control groups for processors")
async def test_background_box_yields_on_one_processor() -> None:
    # Each command is a session of its own, and sessions have equal shares whatever their priority.
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})  # boxes inherit it
    try:
        async with open_box(BoxConfig()) as usual, open_box(BoxConfig(background=True)) as last:
            beside = await last.start(["python3", "-c", GOES_ON])
            await beside.stdout.read(100)
            worked = float((await usual.run(["python3", "-c", BURN, "0.4"])).stdout)
            await beside.kill()
            said = b"".join([piece async for piece in _pieces(beside.stdout)])
            hurried = await last.start(["python3", "-c", GOES_ON])
            await hurried.stdout.read(100)
            await last.hurry()
            also = float((await usual.run(["python3", "-c", BURN, "0.4"])).stdout)
            await hurried.kill()
            faster = b"".join([piece async for piece in _pieces(hurried.stdout)])
    finally:
        os.sched_setaffinity(0, before)
    assert float(said.split()[-1]) - float(said.split()[0]) < worked / 3
    assert float(faster.split()[-1]) - float(faster.split()[0]) > also / 3


HIDES = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel then counts the children's time nowhere
while True:
    try:
        child = os.fork()
    except OSError:  # as many as the box may have
        time.sleep(0.005)
        continue
    if child == 0:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        os._exit(0)
    time.sleep(0.001)
"""


@pytest.mark.skipif(available().parents.unified is None, reason="no control group that counts")
async def test_program_with_hidden_children_is_not_starved() -> None:
    async with open_box(BoxConfig(python="none", limits=BoxLimits(processes=64))) as box:
        done = await box.run(["python3", "-c", HIDES], timeout=FairTimeout(0.4, backstop=6.0))
    assert done.timed_out and not done.starved


async def _pieces(reader: Reader) -> AsyncIterator[bytes]:
    while piece := await reader.read(1 << 16):
        yield piece


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
async def test_box_cancelled_at_any_moment_leaves_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path))
    open_files = len(list(Path("/proc/self/fd").iterdir()))

    async def live() -> None:
        async with open_box(BoxConfig(), kind=kind) as opened:
            await opened.run(["true"])

    for moment in range(40):
        task = asyncio.create_task(live())
        await asyncio.sleep(moment * 0.003)
        for _ in range(1 + moment % 3):  # who waits may be cancelled again while the box closes
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(task, return_exceptions=True)
        assert not list(tmp_path.glob("*/*/owner*")), f"cancelled after {moment * 3} ms"
    assert len(list(Path("/proc/self/fd").iterdir())) <= open_files + 2


@pytest.mark.parametrize(
    "config",
    [
        BoxConfig(network="full"),
        BoxConfig(python="conda"),
        BoxConfig(output="task/output"),
        BoxConfig(output="/task/../etc"),
        BoxConfig(output="/proc/1"),
        BoxConfig(scratch="/task/output"),
        BoxConfig(mounts=(Mount("/tmp", "/usr"),)),
        BoxConfig(env=(("A=B", "c"),)),
    ],
)
def test_impossible_configs_are_refused(config: BoxConfig) -> None:
    with pytest.raises(SandboxError):
        open_box(config)


async def test_missing_mount_is_named() -> None:
    with pytest.raises(SandboxError, match="/nowhere/at/all"):
        async with open_box(BoxConfig(mounts=(Mount("/nowhere/at/all", "/task/input"),))):
            pass


async def test_mounts_below_writable_folders_work(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    mounts = (Mount(str(tmp_path), "/task/scratch/data/in"), Mount(str(tmp_path / "a.txt"), "/opt/tool/a.txt"))
    async with open_box(BoxConfig(mounts=mounts, writable=("/workspace", "/root"), limits=BoxLimits(time=20))) as box:
        done = await box.run(["cat", "/task/scratch/data/in/a.txt", "/opt/tool/a.txt"])
        assert done.stdout == b"aa"
        assert (await box.run(["touch", "/workspace/x", "/root/x", "/opt/x"])).returncode == 0
        assert (await box.run(["touch", "/task/scratch/data/in/x"])).returncode == 1
        assert (await box.run(["bash", "-lc", "python -c 'print(6*7)'"])).stdout == b"42\n"
