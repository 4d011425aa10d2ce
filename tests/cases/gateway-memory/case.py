"""Headers without an end, one header without an end, and 64 bodies of 31 MB that are never whole."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from models.wire import listening, memory, mock_gateway, status

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
BODY = 31 << 20


async def _flood(port: int, first: bytes, piece: bytes, times: int) -> bytes:
    """All that is answered to whoever sends so many pieces."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(first)
        for _ in range(times):
            writer.write(piece)
            await writer.drain()
    except ConnectionError:
        pass
    try:
        return await reader.readline()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def check(room: Path, fixtures: pytest.FixtureRequest) -> None:
    """What is held stays below what docs/reference/boxes.md says, whatever is sent."""

    async def work() -> None:
        gateway = mock_gateway()
        many = b"".join(b"h%d: %s\r\n" % (n, b"x" * 1000) for n in range(1000))
        async with listening(gateway.http) as (port, raised):
            before = memory()
            assert status(await _flood(port, HEAD, many, 40)) == 431
            assert status(await _flood(port, HEAD + b"A: ", b"x" * (1 << 20), 40)) == 431
            length = b"Content-Length: %d\r\n\r\n" % BODY
            bodies = [asyncio.create_task(_flood(port, HEAD + length, b" " * (1 << 20), 30)) for _ in range(64)]
            highest = 0
            while not all(task.done() for task in bodies) and sum(task.done() for task in bodies) < 62:
                await asyncio.wait([task for task in bodies if not task.done()], return_when=asyncio.FIRST_COMPLETED)
                highest = max(highest, gateway.http.held)
            assert 0 < highest <= gateway.http.limits.held_bytes == 64 << 20
            assert memory() - before < 400 << 20  # both ends of all connections are in this process
            for task in bodies:
                task.cancel()
            await asyncio.gather(*bodies, return_exceptions=True)
        assert (raised, gateway.failure.error) == ([], None)

    asyncio.run(work())
