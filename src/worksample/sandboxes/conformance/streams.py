"""Conformance checks of programs in a box whose input and output are streams."""

from __future__ import annotations

import asyncio
import time

from worksample.box.interface import Box
from worksample.errors import SandboxError

from .assertions import PATIENCE, raises, read_exactly, read_rest, wait_until

_ECHO = 'while IFS= read -r line; do echo "got $line"; done; echo end; echo words >&2; exit 3'
_PRINTS = """
import os
sent = 0
while sent < 20_000_000:
    sent += os.write(1, b"x" * 50_000)
    open("written", "w").write(str(sent))
"""


async def a_conversation(box: Box) -> None:
    process = await box.start(["sh", "-c", _ECHO])
    for word in (b"one", b"two", b"three"):
        await process.stdin.write(word + b"\n")
        assert await read_exactly(process.stdout, len(word) + 5) == b"got " + word + b"\n"
    await process.stdin.close()
    await process.stdin.close()
    assert await read_rest(process.stdout) == b"end\n"
    assert await read_rest(process.stderr) == b"words\n"
    ended = await process.wait()
    assert ended.returncode == 3 and not ended.timed_out and ended.seconds > 0, ended
    assert await process.stdout.read() == b"" and (await process.wait()) == ended


async def what_goes_in_comes_out_whole(box: Box) -> None:
    data = bytes(range(256)) * 20_000
    process = await box.start(["cat"])

    async def feed() -> None:
        for start in range(0, len(data), 300_007):
            await process.stdin.write(data[start : start + 300_007])
        await process.stdin.close()

    _, found = await asyncio.gather(feed(), read_rest(process.stdout))
    assert found == data
    assert (await process.wait()).returncode == 0


async def a_stream_has_no_limit_of_its_own(box: Box) -> None:
    process = await box.start(["head", "-c", "30000000", "/dev/zero"])
    assert len(await read_rest(process.stdout)) == 30_000_000
    assert (await process.wait()).returncode == 0


async def a_program_waits_for_a_slow_reader(box: Box) -> None:
    """Check that a full pipe stops a program: until somebody reads the pipe, the program can write only little."""
    process = await box.start(["python3", "-c", _PRINTS])
    await wait_until(box, "test -s written")
    before, now = -1, 0
    async with asyncio.timeout(PATIENCE):
        while before != now:
            await asyncio.sleep(0.5)
            before, now = now, int(await box.read("written", 20) or 0)
    assert now < 4 << 20, f"{now} bytes went somewhere"
    assert len(await read_rest(process.stdout)) == 20_000_000


async def a_writer_waits_for_a_slow_program(box: Box) -> None:
    process = await box.start(["sh", "-c", "until test -e go; do sleep 0.02; done; wc -c"])
    sent = 0

    async def feed() -> None:
        nonlocal sent
        for _ in range(1000):
            await process.stdin.write(b"x" * 10_000)
            sent += 10_000
        await process.stdin.close()

    feeding = asyncio.create_task(feed())
    before = -1
    async with asyncio.timeout(PATIENCE):
        while before != sent or not sent:
            before = sent
            await asyncio.sleep(0.3)
    assert sent < 4 << 20, f"{sent} bytes went somewhere"
    await box.write("go", b"")
    await feeding
    assert (await read_rest(process.stdout)).split() == [b"10000000"]


async def one_that_floods_does_not_starve_the_others(box: Box) -> None:
    floods = [await box.start(["cat", "/dev/zero"]) for _ in range(2)]

    async def drink() -> None:
        while await floods[0].stdout.read():
            pass

    drinking = asyncio.create_task(drink())  # and the other stream is not read
    began = time.monotonic()
    for number in range(20):
        assert (await asyncio.wait_for(box.run(["echo", str(number)]), PATIENCE)).stdout == b"%d\n" % number
    assert time.monotonic() - began < PATIENCE
    for flood in floods:
        await flood.kill()
    await drinking
    assert (await floods[1].wait()).returncode == -9


async def killing_works_while_writing_and_reading(box: Box) -> None:
    process = await box.start(["sleep", "1000"])
    writing = asyncio.create_task(process.stdin.write(b"x" * 10_000_000))
    reading = asyncio.create_task(process.stdout.read())
    await asyncio.sleep(0.1)
    assert not writing.done() and not reading.done()
    await process.kill()
    async with asyncio.timeout(PATIENCE):
        with raises(BrokenPipeError):
            await writing
        assert await reading == b""
        assert (await process.wait()).returncode == -9
    await process.kill()
    with raises(BrokenPipeError):
        await process.stdin.write(b"x")


async def nobody_reads_what_is_written(box: Box) -> None:
    process = await box.start(["sh", "-c", "exec 0<&-; touch closed; sleep 1000"])
    await wait_until(box, "test -e closed")
    with raises(BrokenPipeError):
        async with asyncio.timeout(PATIENCE):
            while True:
                await process.stdin.write(b"x" * 1000)
    await process.kill()


async def output_of_one_that_has_ended_can_still_be_read(box: Box) -> None:
    process = await box.start(["sh", "-c", "echo said; echo wrong >&2"])
    assert (await process.wait()).returncode == 0
    await wait_until(box, "true")
    assert await read_rest(process.stdout) == b"said\n"
    assert await read_rest(process.stderr) == b"wrong\n"


async def everything_that_was_said_before_the_end_is_heard(box: Box) -> None:
    for count in (1, 1000, 60_000, 1_000_000):
        for _ in range(8):
            process = await box.start(["sh", "-c", f"head -c {count} /dev/zero; head -c {count} /dev/zero >&2"])
            out, err = await asyncio.gather(read_rest(process.stdout), read_rest(process.stderr))
            assert len(out) == len(err) == count, f"{len(out)} and {len(err)} of {count} bytes"
    process = await box.start(["sh", "-c", "head -c 30000 /dev/zero >&2"])
    await process.wait()
    assert len(await read_rest(process.stderr)) == 30_000


async def what_it_left_in_the_background_is_not_heard(box: Box) -> None:
    process = await box.start(["sh", "-c", "(sleep 1000; echo late) & echo early"])
    assert await read_rest(process.stdout) == b"early\n"
    assert (await process.wait()).returncode == 0


async def one_that_cannot_be_started_says_so_when_it_is_waited_for(box: Box) -> None:
    process = await box.start(["no-such-program"])
    assert (await process.wait()).returncode == 127
    assert b"no-such-program" in await read_rest(process.stderr)
    assert await read_rest(process.stdout) == b""
    with raises(BrokenPipeError):
        async with asyncio.timeout(PATIENCE):
            while True:
                await process.stdin.write(b"x")


async def its_time_is_limited(box: Box) -> None:
    process = await box.start(["sh", "-c", "echo begun; sleep 1000"], timeout=0.5)
    assert await read_rest(process.stdout) == b"begun\n"
    ended = await process.wait()
    assert ended.timed_out and ended.returncode == -9, ended


async def a_cancelled_read_or_write_loses_nothing(box: Box) -> None:
    process = await box.start(["cat"])
    for _ in range(20):
        reading = asyncio.create_task(process.stdout.read())
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await process.stdin.write(b"0123456789")
        assert await read_exactly(process.stdout, 10) == b"0123456789"
    await process.stdin.close()
    assert (await process.wait()).returncode == 0


async def streams_end_with_the_box(box: Box) -> None:
    process = await box.start(["sleep", "1000"])
    reading = asyncio.create_task(process.stdout.read())
    await asyncio.sleep(0.05)
    await box.close()
    async with asyncio.timeout(PATIENCE):
        with raises(SandboxError):
            await reading
    with raises(SandboxError):
        await process.stdin.write(b"x" * 1_000_000)
