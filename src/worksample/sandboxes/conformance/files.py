"""Conformance checks of writing files into a box and reading them back."""

from __future__ import annotations

import errno

from worksample.box.interface import Box

from .assertions import raises


async def files_are_written_and_read(box: Box) -> None:
    await box.write("deep/er/data.bin", b"\x00\xff" * 700_000)
    assert await box.read("/task/scratch/deep/er/data.bin", 1_400_000) == b"\x00\xff" * 700_000
    await box.write("deep/er/data.bin", b"short", 0o600)
    assert await box.read("deep/er/data.bin", 5) == b"short"
    done = await box.run(["stat", "-c", "%a %s", "deep/er/data.bin"])
    assert done.stdout == b"600 5\n", done


async def files_that_cannot_be_read_say_why(box: Box) -> None:
    with raises(FileNotFoundError, "nowhere"):
        await box.read("nowhere", 10)
    with raises(IsADirectoryError):
        await box.read("/task/output", 10)
    await box.write("large", b"x" * 11)
    with raises(OSError, number=errno.EFBIG):
        await box.read("large", 10)
    await box.run(["mkfifo", "pipe"])
    with raises(OSError, number=errno.EINVAL):
        await box.read("pipe", 10)


async def mounted_input_is_there(box: Box) -> None:
    assert (await box.run(["cat", "/task/input/brief.md"])).stdout == b"Add the numbers."
    assert await box.read("/task/input/brief.md", 100) == b"Add the numbers."


async def output_is_read_after_the_box_was_killed(box: Box) -> None:
    await box.write("/task/output/a.txt", b"left")
    await box.kill()
    assert await box.read("/task/output/a.txt", 10) == b"left"
    assert (box.output_path / "a.txt").read_bytes() == b"left"
