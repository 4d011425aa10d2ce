"""Conformance checks of commands that run until they exit, and of freezing, clearing and closing a box."""

from __future__ import annotations

import asyncio
import os

from worksample.box.interface import Box
from worksample.box.timeout import FairTimeout
from worksample.errors import SandboxError

from .assertions import PATIENCE, raises, wait_until


async def a_command_gets_its_input_environment_and_folder(box: Box) -> None:
    done = await box.run(["sh", "-c", "cat; echo $COLOUR $SIZE; pwd"], input=b"hello\n", env={"SIZE": "9"})
    assert done.returncode == 0 and done.stderr == b"", done
    assert done.stdout.startswith(b"hello\ngreen 9\n") and done.stdout.rstrip().endswith(b"/task/scratch"), done


async def large_input_goes_through(box: Box) -> None:
    done = await box.run(["wc", "-c"], input=b"x" * 20_000_001)
    assert done.stdout.split() == [b"20000001"], done


async def input_nobody_reads_does_not_hang(box: Box) -> None:
    assert (await box.run(["true"], input=b"x" * 5_000_000)).returncode == 0


async def many_commands_at_once(box: Box) -> None:
    done = await asyncio.gather(*(box.run(["sh", "-c", f"sleep 0.05; echo {n}"]) for n in range(30)))
    assert [int(one.stdout) for one in done] == list(range(30)), done


async def missing_programs_and_signals_are_told_as_results(box: Box) -> None:
    assert (await box.run(["no-such-program"])).returncode == 127
    assert (await box.run(["/etc"])).returncode == 126
    assert (await box.run(["echo", "a\0b"])).returncode == 126
    assert (await box.run(["echo", "é\udc80"])).stdout == b"\xc3\xa9\x80\n"
    done = await box.run(["true"], cwd="/no/such/folder")
    assert done.returncode == 127 and b"/no/such/folder" in done.stderr, done
    assert (await box.run(["sh", "-c", "kill -9 $$"])).returncode == -9


async def a_timeout_ends_the_command_and_what_it_started(box: Box) -> None:
    done = await box.run(["sh", "-c", "echo begun; sleep 100 & sleep 100"], timeout=0.5)
    assert done.timed_out and done.stdout == b"begun\n", done


_ON_ONE_PROCESSOR = "import os, time; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
_SPINS = _ON_ONE_PROCESSOR + "while True: pass"
_COMPUTES = _ON_ONE_PROCESSOR + "while time.process_time() < 0.4: pass"


async def a_fair_timeout_ends_what_sleeps_and_what_computes(box: Box) -> None:
    for words in (["sleep", "1000"], ["sh", "-c", "while :; do :; done"]):
        done = await box.run(words, timeout=FairTimeout(0.3))
        assert done.timed_out and not done.starved and done.counted >= 0.3, done


async def a_fair_timeout_does_not_count_what_others_take_of_the_processor(box: Box) -> None:
    others = [await box.start(["python3", "-c", _SPINS]) for _ in range(6)]
    done = await box.run(["python3", "-c", _COMPUTES], timeout=FairTimeout(1.2))
    assert done.returncode == 0 and not done.timed_out, done
    assert 0.3 < done.counted < done.seconds, done
    starved = await box.run(["python3", "-c", _SPINS], timeout=FairTimeout(1000, backstop=0.5))
    assert starved.timed_out and starved.starved and starved.counted < 1000, starved
    for other in others:
        await other.kill()


async def a_fair_timeout_stands_still_while_it_is_held(box: Box) -> None:
    timeout = FairTimeout(0.4)
    box.hold(timeout, True)
    running = asyncio.create_task(box.run(["sh", "-c", "until test -e go; do sleep 0.05; done"], timeout=timeout))
    assert (await box.run(["sleep", "1"])).returncode == 0
    await box.write("go", b"")
    assert not (await running).timed_out, running
    running = asyncio.create_task(box.run(["sleep", "1000"], timeout=timeout))
    box.hold(timeout, False)
    assert (await running).timed_out


async def output_beyond_the_limit_is_dropped(box: Box) -> None:
    done = await box.run(["sh", "-c", "head -c 3000000 /dev/zero; echo end >&2"], output_limit=1000)
    assert done.truncated and done.returncode == 0 and len(done.stdout) + len(done.stderr) == 1000


async def a_background_process_outlives_its_command(box: Box) -> None:
    await box.run(["sh", "-c", "(sleep 0.3; echo late > late.txt) >/dev/null 2>&1 &"])
    await wait_until(box, "test -s late.txt")
    assert await box.read("late.txt", 100) == b"late\n"


async def a_cancelled_command_is_killed(box: Box) -> None:
    running = asyncio.create_task(box.run(["sh", "-c", "echo $$ > pid; exec sleep 1000"]))
    await wait_until(box, "test -s pid")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await wait_until(box, "! kill -0 $(cat pid)")


async def cancelled_requests_leave_the_box_as_it_was(box: Box) -> None:
    for attempt in range(60):
        size = (1 << 16) << (attempt % 6)
        data = b"x" * size
        work = box.write("large", data) if attempt % 2 else box.run(["cat"], input=data, output_limit=size)
        task = asyncio.ensure_future(work)
        for _ in range(attempt % 7):  # the cancellation must arrive before the first wait
            await asyncio.sleep(0)
        if attempt % 3 == 0:
            await asyncio.sleep(0.001 * (attempt % 10))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        done = await asyncio.wait_for(box.run(["echo", str(attempt)]), PATIENCE)
        assert done.stdout == b"%d\n" % attempt, done


async def a_frozen_box_stands_still_and_goes_on(box: Box) -> None:
    await box.run(["sh", "-c", "echo result > /task/output/a.txt; (while :; do date >> /task/output/log; done) &"])
    await wait_until(box, "test -s /task/output/log")
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
        for refused in (box.run(["true"]), box.start(["true"]), box.listen("s"), box.connect("s")):
            with raises(SandboxError, "frozen"):
                await refused
        await box.thaw()
        async with asyncio.timeout(PATIENCE):
            while os.stat("log", dir_fd=descriptor).st_size == before:
                await asyncio.sleep(0.02)
    finally:
        os.close(descriptor)


async def clearing_ends_what_runs_and_nothing_else(box: Box) -> None:
    running = await box.start(["sleep", "1000"])
    await box.write("kept", b"1")
    await box.run(["sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! > pid"])
    await box.clear()
    async with asyncio.timeout(PATIENCE):
        assert (await running.wait()).returncode == -9
    await wait_until(box, "! kill -0 $(cat pid)")
    assert await box.read("kept", 10) == b"1"


async def a_closed_box_refuses_and_closes_again(box: Box) -> None:
    await box.kill()
    for closed in (False, True):
        for refused in (box.run(["true"]), box.start(["true"]), box.listen("s"), box.connect("s"), box.clear()):
            with raises(SandboxError, "closed"):
                await refused
        if not closed:
            await box.close()
    await box.close()
