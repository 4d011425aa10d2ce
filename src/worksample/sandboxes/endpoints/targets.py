"""Where endpoints lead: to a host that was allowed, to what answers in this process, or nowhere."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, SupportsIndex

from .connection_ledger import ConnectionRecord
from .host_rules import HostRule, address_refusal
from .stream_relay import relay

DIAL_SECONDS = 10.0
"""Of one address."""
MOST_ADDRESSES = 4
"""Of one name: one with hundreds must not keep an endpoint busy."""
AddressCheck = Callable[[str], str]
"""Why an address is not dialled, or ""."""


class ConnectionRefused(Exception):
    """Nothing was let through; what it says names the rule."""


class Target(Protocol):
    """What answers the connections of an endpoint."""

    @property
    def rule(self) -> str:
        """Why it is reached, in words, for the record."""
        ...

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Serve one connection and close it. Refused, and the connection left open, where nothing is let through."""
        ...


@dataclass(frozen=True, slots=True)
class RefusingTarget:
    """An endpoint that nobody serves."""

    why: str = "nobody serves it"

    @property
    def rule(self) -> str:
        return "none"

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Refused."""
        raise ConnectionRefused(self.why)


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """A host that the operator allowed, by its exact name."""

    allowed: HostRule
    refusing: AddressCheck = address_refusal

    @property
    def rule(self) -> str:
        return f"allow {self.allowed}"

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Dial, then carry bytes."""
        outside = await dial(self.allowed.name, self.allowed.port, contact, self.refusing)
        await relay(connection, outside, contact)


@dataclass(frozen=True, slots=True)
class StreamTarget:
    """What answers in this process."""

    rule: str
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Hand it over as streams whose bytes are counted."""
        loop = asyncio.get_running_loop()
        reader = _CountingReader(contact)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, connection)
        writer = _CountingWriter(contact, transport, protocol, reader, loop)
        try:
            await self.serve(reader, writer)
            await writer.drain()
        except ConnectionError as error:
            contact.failed = f"the program in the box broke off: {error}"
        finally:
            writer.close()


class _CountingReader(asyncio.StreamReader):
    def __init__(self, contact: ConnectionRecord) -> None:
        super().__init__(limit=1 << 17)
        self._contact = contact

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        given = bytes(data)
        self._contact.sent += len(given)
        super().feed_data(given)


class _CountingWriter(asyncio.StreamWriter):
    def __init__(
        self,
        contact: ConnectionRecord,
        transport: asyncio.WriteTransport,
        protocol: asyncio.BaseProtocol,
        reader: asyncio.StreamReader,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(transport, protocol, reader, loop)
        self._contact = contact

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._contact.received += len(data)
        super().write(data)


async def dial(
    name: str, port: int, contact: ConnectionRecord, refusing: AddressCheck = address_refusal
) -> socket.socket:
    """A connection to a host. Its name is resolved anew, and what is dialled is an address that was looked at.

    Refused where the name cannot be resolved, where one of its addresses is in a refused network (all are then
    refused: a name that leads inside and outside is not to be trusted), and where nothing answers.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConnectionRefused(f"{name} cannot be resolved: {error}") from None
    for *_, place in found:
        if why := refusing(str(place[0])):
            raise ConnectionRefused(f"{name}: {why}")
    failure = "it has no address"
    for family, kind, number, _, place in found[:MOST_ADDRESSES]:
        own = socket.socket(family, kind, number)
        own.setblocking(False)
        done = False
        try:
            async with asyncio.timeout(DIAL_SECONDS):
                await loop.sock_connect(own, place)
            done = True
        except (OSError, TimeoutError) as error:
            failure = str(error) or f"nothing answered within {DIAL_SECONDS:.0f} s"
        finally:
            if not done:
                own.close()
        if done:
            host, number = str(place[0]), port
            contact.peer = f"[{host}]:{number}" if ":" in host else f"{host}:{number}"
            return own
    raise ConnectionRefused(f"{name}:{port} does not answer: {failure}")
