"""The network of an image build: a loopback interface on which only the allowed hosts listen.

The listening sockets are created in the build's network namespace before any untrusted program runs there. They are
passed to this process, which accepts connections, connects to the hosts and records the connections, as for the
endpoints of a box.
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
"""Endpoint of the proxy through which builds reach hosts that are allowed only by a wildcard."""


@dataclass
class BuildNetwork:
    """The endpoints of one image build. `ledger` records the build's connections."""

    settings: BuildSettings
    ledger: ConnectionLedger = field(default_factory=ConnectionLedger)

    def __post_init__(self) -> None:
        self.endpoints = tuple(self.targets())
        self._addresses = BoxConfig(network="endpoints", endpoints=self.endpoints).addresses

    @property
    def hosts(self) -> str:
        """The content of the file /etc/hosts in the build."""
        named = (f"{address} {name}" for name, address in self._addresses.items())
        return "\n".join(["127.0.0.1 localhost", *named]) + "\n"

    @property
    def env(self) -> dict[str, str]:
        """Environment variables that name the proxy. Empty if no wildcard is allowed."""
        if PROXY not in self.endpoints:
            return {}
        direct = ",".join(["localhost", "127.0.0.0/8", *(one.name for one in self.endpoints if one != PROXY)])
        return {"HTTPS_PROXY": f"http://{PROXY}", "https_proxy": f"http://{PROXY}", "NO_PROXY": direct}

    def arguments(self, descriptor: int) -> list[str]:
        """Return the arguments of the program enter_namespaces.py: the socket over which it sends the listening
        sockets, and the addresses and ports to listen on.
        """
        return [str(descriptor), ",".join(f"{self._addresses[one.name]}:{one.port}" for one in self.endpoints)]

    @contextlib.contextmanager
    def serve(self) -> Iterator[socket.socket]:
        """Serve the endpoints until the `with` block ends. Yield the socket that enter_namespaces.py needs. The caller
        closes this socket after that program has received it.
        """
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
