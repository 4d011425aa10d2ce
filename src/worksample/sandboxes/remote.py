"""Processes, connections and listeners of a box that has an exec server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from worksample.box import ProcessEnd
from worksample.errors import SandboxError
from worksample.sandboxes.exchange import BoxExchange, Incoming, Outgoing

from .exec_client import ExecConnection
from .in_box import frames


class RemoteProcess:
    """See Process."""

    def __init__(self, exchange: BoxExchange, kills: Callable[[], int]) -> None:
        """kills: how many processes of the box were ended so far for want of memory."""
        self.stdin: Outgoing = exchange.input
        self.stdout: Incoming = exchange.out
        self.stderr: Incoming = exchange.err
        self._exchange, self._kills, self._before = exchange, kills, kills()

    async def wait(self) -> ProcessEnd:
        """See Process."""
        exchange = self._exchange
        await asyncio.shield(exchange.done)
        timed_out, starved = bool(exchange.flags & frames.TIMED_OUT), bool(exchange.flags & frames.STARVED)
        oom = self._kills() > self._before
        return ProcessEnd(exchange.returncode, timed_out, oom, exchange.seconds, starved, exchange.counted)

    async def kill(self) -> None:
        """See Process."""
        self._exchange.send(frames.KILL, b"")


class RemoteConnection:
    """See Connection."""

    def __init__(self, link: ExecConnection, exchange: BoxExchange) -> None:
        self.reader: Incoming = exchange.out
        self.writer: Outgoing = exchange.input
        self._link, self._exchange = link, exchange

    async def close(self) -> None:
        """See Connection."""
        self._link.release(self._exchange)
        self.reader.finish()
        self.writer.deafen()


class RemoteListener:
    """See Listener."""

    def __init__(self, link: ExecConnection, exchange: BoxExchange) -> None:
        self._link, self._exchange = link, exchange

    async def accept(self) -> RemoteConnection:
        """See Listener."""
        found = await self._exchange.joined.get()
        if found is None:
            self._exchange.joined.put_nowait(None)
            raise SandboxError("nobody listens any more: the listener or the box was closed", where="box")
        return RemoteConnection(self._link, found)

    async def close(self) -> None:
        """See Listener."""
        self._link.release(self._exchange)
        while not self._exchange.joined.empty():
            found = self._exchange.joined.get_nowait()
            if found is not None:
                self._link.release(found)
        self._exchange.joined.put_nowait(None)
