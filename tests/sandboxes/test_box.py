"""A box does what its interface says."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from worksample.errors import SandboxError
from worksample.sandboxes import Box, BoxConfig, BoxLimits, Mount, open_box

pytestmark = pytest.mark.box


@pytest.fixture(params=["bubblewrap", "none"])
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Box]:
    (tmp_path / "brief.md").write_text("Add the numbers.")
    config = BoxConfig(mounts=(Mount(str(tmp_path), "/task/input"),), env=(("COLOUR", "green"),))
    async with open_box(config, kind=request.param) as opened:
        yield opened


async def test_a_command_gets_its_input_environment_and_folder(box: Box) -> None:
    done = await box.run(["sh", "-c", "cat; echo $COLOUR $SIZE; pwd"], input=b"hello\n", env={"SIZE": "9"})
    assert done.returncode == 0 and done.stderr == b""
    assert done.stdout.startswith(b"hello\ngreen 9\n") and done.stdout.rstrip().endswith(b"/task/scratch")


async def test_large_input_goes_through(box: Box) -> None:
    done = await box.run(["wc", "-c"], input=b"x" * 20_000_001)
    assert done.stdout.split() == [b"20000001"]


async def test_input_nobody_reads_does_not_hang(box: Box) -> None:
    assert (await box.run(["true"], input=b"x" * 5_000_000)).returncode == 0


async def test_many_commands_at_once(box: Box) -> None:
    done = await asyncio.gather(*(box.run(["sh", "-c", f"sleep 0.05; echo {n}"]) for n in range(30)))
    assert [int(one.stdout) for one in done] == list(range(30))


async def test_missing_program_and_signals_are_told_as_results(box: Box) -> None:
    assert (await box.run(["no-such-program"])).returncode == 127
    assert (await box.run(["/etc"])).returncode == 126
    assert (await box.run(["echo", "a\0b"])).returncode == 126
    assert (await box.run(["echo", "é\udc80"])).stdout == b"\xc3\xa9\x80\n"
    done = await box.run(["true"], cwd="/no/such/folder")
    assert done.returncode == 127 and b"/no/such/folder" in done.stderr
    assert (await box.run(["sh", "-c", "kill -9 $$"])).returncode == -9


async def test_a_timeout_ends_the_command_and_what_it_started(box: Box) -> None:
    done = await box.run(["sh", "-c", "echo begun; sleep 100 & sleep 100"], timeout=0.3)
    assert done.timed_out and done.stdout == b"begun\n"


async def test_output_beyond_the_limit_is_dropped(box: Box) -> None:
    done = await box.run(["sh", "-c", "head -c 3000000 /dev/zero; echo end >&2"], output_limit=1000)
    assert done.truncated and done.returncode == 0 and len(done.stdout) + len(done.stderr) == 1000


async def test_a_background_process_outlives_its_command(box: Box) -> None:
    await box.run(["sh", "-c", "(sleep 0.3; echo late > late.txt) >/dev/null 2>&1 &"])
    for _ in range(100):
        if (await box.run(["test", "-s", "late.txt"])).returncode == 0:
            break
        await asyncio.sleep(0.05)
    assert await box.read("late.txt", 100) == b"late\n"


async def test_files_are_written_and_read(box: Box) -> None:
    await box.write("deep/er/data.bin", b"\x00\xff" * 700_000)
    assert await box.read("/task/scratch/deep/er/data.bin", 1_400_000) == b"\x00\xff" * 700_000
    await box.write("deep/er/data.bin", b"short", 0o600)
    assert await box.read("deep/er/data.bin", 5) == b"short"


async def test_files_that_cannot_be_read_say_why(box: Box) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        await box.read("nowhere", 10)
    with pytest.raises(IsADirectoryError):
        await box.read("/task/output", 10)
    await box.write("large", b"x" * 11)
    with pytest.raises(OSError) as caught:
        await box.read("large", 10)
    assert caught.value.errno == errno.EFBIG
    await box.run(["mkfifo", "pipe"])
    with pytest.raises(OSError) as caught:
        await box.read("pipe", 10)
    assert caught.value.errno == errno.EINVAL


async def test_mounted_input_is_there(box: Box) -> None:
    assert (await box.run(["cat", "/task/input/brief.md"])).stdout == b"Add the numbers."
    assert await box.read("/task/input/brief.md", 100) == b"Add the numbers."


async def test_output_can_be_walked_from_the_host_while_frozen(box: Box) -> None:
    await box.run(["sh", "-c", "echo result > /task/output/a.txt; (while :; do date >> /task/output/log; done) &"])
    while (await box.run(["test", "-s", "/task/output/log"])).returncode:
        await asyncio.sleep(0.02)
    await box.freeze()
    descriptor = os.open(box.output_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        inner = os.open("a.txt", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=descriptor)
        assert os.read(inner, 100) == b"result\n"
        os.close(inner)
        before = os.stat("log", dir_fd=descriptor).st_size
        await asyncio.sleep(0.2)
        assert os.stat("log", dir_fd=descriptor).st_size == before
        assert await box.read("/task/output/a.txt", 100) == b"result\n"
        with pytest.raises(SandboxError, match="frozen"):
            await box.run(["true"])
        await box.thaw()
        await asyncio.sleep(0.2)
        assert os.stat("log", dir_fd=descriptor).st_size > before
        await box.clear()
    finally:
        os.close(descriptor)


async def test_a_closed_box_refuses_and_closes_again(box: Box) -> None:
    await box.kill()
    await box.close()
    await box.close()
    with pytest.raises(SandboxError, match="closed"):
        await box.run(["true"])


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
async def test_in_the_background_it_gets_what_others_leave(kind: str) -> None:
    async with open_box(BoxConfig(), kind=kind) as usual, open_box(BoxConfig(background=True), kind=kind) as last:
        assert (await usual.run(["nice"])).stdout == b"%d\n" % os.getpriority(os.PRIO_PROCESS, 0)
        assert (await last.run(["nice"])).stdout == b"19\n"


@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
async def test_a_box_cancelled_at_any_moment_leaves_nothing(
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
def test_what_no_box_can_give_is_refused(config: BoxConfig) -> None:
    with pytest.raises(SandboxError):
        open_box(config)


async def test_a_missing_mount_is_told_by_name() -> None:
    with pytest.raises(SandboxError, match="/nowhere/at/all"):
        async with open_box(BoxConfig(mounts=(Mount("/nowhere/at/all", "/task/input"),))):
            pass


async def test_mounts_below_writable_folders_and_other_places(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    mounts = (Mount(str(tmp_path), "/task/scratch/data/in"), Mount(str(tmp_path / "a.txt"), "/opt/tool/a.txt"))
    async with open_box(BoxConfig(mounts=mounts, writable=("/workspace", "/root"), limits=BoxLimits(time=20))) as box:
        done = await box.run(["cat", "/task/scratch/data/in/a.txt", "/opt/tool/a.txt"])
        assert done.stdout == b"aa"
        assert (await box.run(["touch", "/workspace/x", "/root/x", "/opt/x"])).returncode == 0
        assert (await box.run(["touch", "/task/scratch/data/in/x"])).returncode == 1
        assert (await box.run(["bash", "-lc", "python -c 'print(6*7)'"])).stdout == b"42\n"
