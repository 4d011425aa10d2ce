"""The server of a box's endpoints: accepts connections, passes each to the target of its endpoint, and records it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping

from worksample.box import Box, Endpoint

from .connection_ledger import ConnectionLedger
from .stream_relay import reset
from .targets import ConnectionRefused, RefusingTarget, Target

MOST = 64
"""Maximum simultaneous connections of one endpoint. Further connections to this endpoint wait and do not block other
endpoints.
"""


@contextlib.asynccontextmanager
async def serve_endpoints(
    box: Box, targets: Mapping[Endpoint, Target], ledger: ConnectionLedger | None = None
) -> AsyncIterator[ConnectionLedger]:
    """Serve every endpoint of the box's config during the `async with` block, and record every connection. An endpoint
    without a target refuses connections.

    At the end of the block, every connection is aborted. From then on, connections from the box are refused.
    """
    listening = {endpoint: box.serve(endpoint) for endpoint in box.config.endpoints}
    async with serve_sockets(listening, targets, ledger) as kept:
        yield kept


@contextlib.asynccontextmanager
async def serve_sockets(
    listening: Mapping[Endpoint, socket.socket],
    targets: Mapping[Endpoint, Target],
    ledger: ConnectionLedger | None = None,
) -> AsyncIterator[ConnectionLedger]:
    """Serve non-blocking sockets that listen inside a box, as `serve_endpoints` does. Close the sockets at the end of
    the `async with` block.
    """
    ledger = ledger or ConnectionLedger()
    places = [_EndpointServer(endpoint, targets.get(endpoint, RefusingTarget()), ledger) for endpoint in listening]
    for place in places:
        place.open(listening[place.endpoint])
    try:
        yield ledger
    finally:
        await asyncio.gather(*(place.close() for place in places))


class _EndpointServer:
    """The server of one endpoint."""

    def __init__(self, endpoint: Endpoint, target: Target, ledger: ConnectionLedger) -> None:
        self.endpoint = endpoint
        self._target, self._ledger, self._free = target, ledger, asyncio.Semaphore(MOST)
        self._answers: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None
        self._socket: socket.socket | None = None

    def open(self, listening: socket.socket) -> None:
        """Start accepting connections."""
        self._socket = listening
        self._accepting = asyncio.create_task(self._accept(listening))

    async def close(self) -> None:
        """Stop accepting and abort open connections."""
        tasks = [*self._answers, *([self._accepting] if self._accepting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._socket is not None:
            self._socket.close()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._free.acquire()
            connection = None
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError:  # the client is gone, or this process has no descriptor left
                await asyncio.sleep(0.01)
            finally:
                if connection is None:
                    self._free.release()
            if connection is not None:
                task = asyncio.create_task(self._answer(connection))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)

    async def _answer(self, connection: socket.socket) -> None:
        contact = self._ledger.begin(str(self.endpoint), self._target.rule)
        try:
            await self._target.answer(connection, contact)
        except ConnectionRefused as refused:
            contact.refused = str(refused)
        except OSError as error:
            contact.failed = str(error)
        except Exception as error:  # noqa: BLE001 - the boundary of a connection: one that fails ends no other
            contact.failed = f"{type(error).__name__}: {error}"[:500]
        except asyncio.CancelledError:
            contact.failed = contact.failed or "aborted when the box was closed"
            raise
        finally:
            if connection.fileno() >= 0:
                reset(connection)
            self._ledger.end(contact)
            self._free.release()
