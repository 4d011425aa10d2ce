"""What the checks have in common."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator
from contextlib import contextmanager

from worksample.box.interface import Box, Reader

PATIENCE = 60.0
"""Seconds in which anything that is waited for has to happen."""


@contextmanager
def raises(kind: type[BaseException], text: str = "", number: int | None = None) -> Iterator[None]:
    """AssertionError unless the block raises it, with the text in it, and the errno."""
    try:
        yield
    except kind as found:
        assert text in str(found), f"{found} does not say {text!r}"
        got = getattr(found, "errno", None)
        assert number in (None, got), f"errno {got and errno.errorcode.get(got)} instead of {number}"
    else:
        raise AssertionError(f"no {kind.__name__} was raised")


async def read_rest(reader: Reader) -> bytes:
    """All that a stream still gives."""
    found = bytearray()
    async with asyncio.timeout(PATIENCE):
        while data := await reader.read():
            found += data
    return bytes(found)


async def read_exactly(reader: Reader, count: int) -> bytes:
    """So many bytes of a stream."""
    found = bytearray()
    async with asyncio.timeout(PATIENCE):
        while len(found) < count:
            data = await reader.read(count - len(found))
            assert data, f"the stream ended after {len(found)} of {count} bytes"
            found += data
    return bytes(found)


async def wait_until(box: Box, test: str) -> None:
    """Wait until a line of shell succeeds in the box."""
    async with asyncio.timeout(PATIENCE):
        while (await box.run(["sh", "-c", test])).returncode:
            await asyncio.sleep(0.02)
