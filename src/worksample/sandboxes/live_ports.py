"""The ports on which programs of a box listen, offered to programs of another box at the same addresses.

Only streams of bytes connect the two boxes: neither sees the files, processes or memory of the other.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

from worksample.box import Box, Endpoint
from worksample.box.config import LOCAL
from worksample.errors import SandboxError

from .endpoints import ConnectionRefused, Target
from .endpoints.connection_ledger import ConnectionRecord
from .endpoints.stream_relay import relay

MOST_PORTS = 64
"""Maximum number of ports that are offered; further ports are left out."""
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_TABLE_LIMIT = 4 << 20
_LISTENS = "0A"
_REACHED = ("0100007F", "00000000", "0" * 32, "0000000000000000FFFF00000100007F", "0" * 24 + "01000000")
"""Addresses that a connection to the loopback reaches, in the form of the kernel: 127.0.0.1, 0.0.0.0, and of IPv6."""


@dataclass(frozen=True, slots=True)
class LivePorts:
    """Ports of a box on which programs listen."""

    box: Box
    ports: tuple[int, ...]

    def targets(self) -> dict[Endpoint, Target]:
        """Return the targets of the endpoints by which another box reaches the ports at its own loopback."""
        return {Endpoint(LOCAL, port): PortTarget(self.box, port) for port in self.ports}


@dataclass(frozen=True, slots=True)
class PortTarget:
    """A target of an endpoint: a port of another box's loopback."""

    box: Box
    port: int

    @property
    def rule(self) -> str:
        """Name of the port, for the record of connections."""
        return f"the agent's port {self.port}"

    async def answer(self, connection: socket.socket, contact: ConnectionRecord) -> None:
        """Connect to the port and relay bytes."""
        try:
            outside = await self.box.dial(self.port)
        except OSError as error:
            raise ConnectionRefused(f"{self.rule} does not answer: {error.strerror or error}") from None
        except SandboxError as error:
            raise ConnectionRefused(f"the agent's box has ended: {error.what}") from None
        await relay(connection, outside, contact)


async def find_live_ports(box: Box) -> LivePorts:
    """Return the ports of a box on which programs listen, except those of the box's own endpoints. No port if the box
    has ended.
    """
    own = {(_kernel_form(box.config.addresses[one.name]), one.port) for one in box.config.endpoints}
    found: set[int] = set()
    for table in _TABLES:
        try:
            data = await box.read(table, _TABLE_LIMIT)
        except (OSError, SandboxError):
            continue
        found |= {port for address, port in _listening(data) if address in _REACHED and (address, port) not in own}
    return LivePorts(box, tuple(sorted(found))[:MOST_PORTS])


def _listening(table: bytes) -> set[tuple[str, int]]:
    """Return (address, port) of each listening socket in a table of the kernel."""
    found = set()
    for line in table.decode("ascii", "replace").splitlines()[1:]:
        words = line.split()
        if len(words) > 3 and words[3] == _LISTENS:
            address, _, port = words[1].partition(":")
            found.add((address, int(port, 16)))
    return found


def _kernel_form(address: str) -> str:
    return "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
