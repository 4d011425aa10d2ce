"""The network of an image build: a loopback of its own, on which only the allowed hosts listen.

The sockets are bound in the build's namespace before anything untrusted runs there, and handed to this process, which
accepts, dials and records as for a box's endpoints.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from worksample.box import BoxConfig, Endpoint
from worksample.sandboxes.endpoints import (
    AllowedHost,
    ConnectionLedger,
    ConnectProxy,
    HostAllowance,
    Target,
    address_refusal,
    serve_sockets,
)

from .builder_settings import BuildSettings

PROXY = Endpoint("proxy.internal", 3128)
"""Endpoint of the proxy through which builds reach hosts that only a wildcard allows."""


@dataclass
class BuildNetwork:
    """The endpoints of one build. `ledger` records its connections."""

    settings: BuildSettings
    ledger: ConnectionLedger = field(default_factory=ConnectionLedger)

    def __post_init__(self) -> None:
        self.endpoints = tuple(self.targets())
        self._addresses = BoxConfig(network="endpoints", endpoints=self.endpoints).addresses

    @property
    def hosts(self) -> str:
        """The content of the build's hosts file."""
        named = (f"{address} {name}" for name, address in self._addresses.items())
        return "\n".join(["127.0.0.1 localhost", *named]) + "\n"

    @property
    def env(self) -> dict[str, str]:
        """Environment variables that point to the proxy; empty without wildcards."""
        if PROXY not in self.endpoints:
            return {}
        direct = ",".join(["localhost", "127.0.0.0/8", *(one.name for one in self.endpoints if one != PROXY)])
        return {"HTTPS_PROXY": f"http://{PROXY}", "https_proxy": f"http://{PROXY}", "NO_PROXY": direct}

    def arguments(self, descriptor: int) -> list[str]:
        """Return the arguments of enter_namespaces.py: the socket to send over, and what to bind."""
        return [str(descriptor), ",".join(f"{self._addresses[one.name]}:{one.port}" for one in self.endpoints)]

    @contextlib.contextmanager
    def serve(self) -> Iterator[socket.socket]:
        """Serve until the `with` ends; yield the socket for enter_namespaces.py, to be closed here once that has it."""
        ours, theirs = socket.socketpair()
        stopped, stop = socket.socketpair()
        thread = threading.Thread(target=self._serve, args=(ours, stopped), name="build network", daemon=True)
        with ours, theirs, stopped, stop:
            thread.start()
            try:
                yield theirs
            finally:
                theirs.close()
                with contextlib.suppress(OSError):
                    ours.shutdown(socket.SHUT_RDWR)
                stop.close()
                thread.join()

    def _serve(self, ours: socket.socket, stopped: socket.socket) -> None:
        given: list[int] = []
        with contextlib.suppress(OSError):
            _, given, _, _ = socket.recv_fds(ours, 1, len(self.endpoints))
        sockets = [socket.socket(fileno=one) for one in given]
        if len(sockets) == len(self.endpoints):
            asyncio.run(self._relay(dict(zip(self.endpoints, sockets, strict=True)), stopped))
        for one in sockets:
            one.close()

    async def _relay(self, listening: Mapping[Endpoint, socket.socket], stopped: socket.socket) -> None:
        for one in (*listening.values(), stopped):
            one.setblocking(False)
        async with serve_sockets(listening, self.targets(), self.ledger):
            await asyncio.get_running_loop().sock_recv(stopped, 1)

    def targets(self) -> dict[Endpoint, Target]:
        """Return the target of each endpoint."""
        rules = self.settings.rules
        wild = tuple(rule for rule in rules if rule.is_wildcard)
        found: dict[Endpoint, Target] = {
            Endpoint(rule.name, rule.port): AllowedHost(rule, self._refusing) for rule in rules if not rule.is_wildcard
        }
        return {**found, **({PROXY: ConnectProxy(wild, HostAllowance(wild), self._refusing)} if wild else {})}

    def _refusing(self, address: str) -> str:
        why = address_refusal(address)
        return "" if why and self.settings.allows_private(address) else why
