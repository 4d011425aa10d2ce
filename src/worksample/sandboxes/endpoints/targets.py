"""Targets of endpoints: a host that the operator allowed, a handler in this process, or a refusal."""

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
"""Maximum seconds to connect to one IP address."""
MOST_ADDRESSES = 4
"""Maximum IP addresses that are tried per host name, so that a name with hundreds of addresses does not occupy an
endpoint for long.
"""
AddressCheck = Callable[[str], str]
"""Type of a function that returns why the platform must not connect to an IP address, or "" if it may."""


class ConnectionRefused(Exception):
    """Error: a rule refused a connection. The message names the rule."""


class Target(Protocol):
    """The target of an endpoint: handles the endpoint's connections."""

    @property
    def rule(self) -> str:
        """Name of the rule that allows connections to this target, for the record of connections."""
        ...

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Serve one connection and close it. To refuse the connection, raise ConnectionRefused and leave the connection
        open.
        """
        ...


@dataclass(frozen=True, slots=True)
class RefusingTarget:
    """A target that refuses every connection."""

    why: str = "nobody serves it"

    @property
    def rule(self) -> str:
        return "none"

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Refuse the connection by raising ConnectionRefused."""
        raise ConnectionRefused(self.why)


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """A host that the operator allowed by its exact name."""

    allowed: HostRule
    refusing: AddressCheck = address_refusal

    @property
    def rule(self) -> str:
        return f"allow {self.allowed}"

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Connect to the host and relay bytes between the box and the host."""
        outside = await dial(self.allowed.name, self.allowed.port, contact, self.refusing)
        await relay(connection, outside, contact)


@dataclass(frozen=True, slots=True)
class StreamTarget:
    """A target that calls a handler in this process with a connection's input and output streams."""

    rule: str
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Call the handler with the connection's streams. The bytes of both streams are counted."""
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
    """Connect to a host and return the socket. The host name is resolved at every call, and the platform connects only
    to addresses that `refusing` has checked.

    Raises ConnectionRefused if the name cannot be resolved, if no address answers, or if any address of the name lies
    in a refused network. A name with addresses both inside and outside the refused networks is not trusted at all.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ConnectionRefused(f"{name} cannot be resolved: {error}") from None
    for *_, place in found:
        if why := refusing(str(place[0])):
            raise ConnectionRefused(f"{name}: {why}")
    failure = "the name has no address"
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
    raise ConnectionRefused(f"the host {name}:{port} does not answer: {failure}")
