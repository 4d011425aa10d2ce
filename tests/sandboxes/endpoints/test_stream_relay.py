"""A relay between two sockets loses no early bytes."""

from __future__ import annotations

import asyncio
import socket

import pytest

from worksample.sandboxes.endpoints.connection_ledger import ConnectionRecord
from worksample.sandboxes.endpoints.stream_relay import _RelaySide, relay


async def test_greeting_of_a_service_that_ends_at_once_is_relayed() -> None:
    program, inside = socket.socketpair()
    outside, service = socket.socketpair()
    contact = ConnectionRecord("target", "name")
    service.sendall(b"hello\n")
    service.close()
    with program:
        program.setblocking(False)
        work = asyncio.create_task(relay(inside, outside, contact))
        assert await _all(program) == b"hello\n"
        program.shutdown(socket.SHUT_WR)
        await asyncio.wait_for(work, 60)
    assert contact.received == 6


@pytest.mark.parametrize("ended", [False, True])
async def test_bytes_read_before_the_other_side_connects_are_kept(ended: bool) -> None:
    """Python 3.11.2 reads in spite of a pause at the beginning: what a service said first was lost."""
    loop, contact = asyncio.get_running_loop(), ConnectionRecord("target", "name")
    near, far = _RelaySide(contact, True), _RelaySide(contact, False)
    near.other, far.other = far, near
    program, inside = socket.socketpair()
    outside, service = socket.socketpair()
    with program, service:
        program.setblocking(False)
        await loop.connect_accepted_socket(lambda: far, outside)
        far.get_buffer(-1)[:6] = b"hello\n"
        far.buffer_updated(6)
        if ended:
            far.eof_received()
        await loop.connect_accepted_socket(lambda: near, inside)
        if not ended:
            service.sendall(b"more\n")
            service.shutdown(socket.SHUT_WR)
        assert await _all(program) == (b"hello\n" if ended else b"hello\nmore\n")
        program.shutdown(socket.SHUT_WR)
        await asyncio.wait_for(asyncio.gather(near.over, far.over), 60)


async def _all(end: socket.socket) -> bytes:
    found = b""
    async with asyncio.timeout(60):
        while piece := await asyncio.get_running_loop().sock_recv(end, 1 << 16):
            found += piece
    return found
