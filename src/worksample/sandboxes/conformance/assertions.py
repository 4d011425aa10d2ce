"""Assertions and stream helpers that the conformance checks share."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator
from contextlib import contextmanager

from worksample.box.interface import Box, Reader

PATIENCE = 60.0
"""Maximum seconds that a check waits for an event."""


@contextmanager
def raises(kind: type[BaseException], text: str = "", number: int | None = None) -> Iterator[None]:
    """Raise AssertionError unless the block raises an error of type `kind` whose message contains `text`. If `number`
    is given, the error must also have this errno.
    """
    try:
        yield
    except kind as found:
        assert text in str(found), f"{found} does not say {text!r}"
        got = getattr(found, "errno", None)
        assert number in (None, got), f"errno {got and errno.errorcode.get(got)} instead of {number}"
    else:
        raise AssertionError(f"the call did not raise {kind.__name__}")


async def read_rest(reader: Reader) -> bytes:
    """Read a stream to its end."""
    found = bytearray()
    async with asyncio.timeout(PATIENCE):
        while data := await reader.read():
            found += data
    return bytes(found)


async def read_exactly(reader: Reader, count: int) -> bytes:
    """Read exactly `count` bytes of a stream."""
    found = bytearray()
    async with asyncio.timeout(PATIENCE):
        while len(found) < count:
            data = await reader.read(count - len(found))
            assert data, f"the stream ended after {len(found)} of {count} bytes"
            found += data
    return bytes(found)


async def wait_until(box: Box, test: str) -> None:
    """Wait until a shell command succeeds in the box."""
    async with asyncio.timeout(PATIENCE):
        while (await box.run(["sh", "-c", test])).returncode:
            await asyncio.sleep(0.02)
