"""Transport to a task's MCP server: the standard streams of a program in the box, or HTTP from within the box."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from worksample.errors import ForeignInputError, SandboxError
from worksample.files.scratch_folder import scratch_folder
from worksample.files.untrusted import check_shape
from worksample.records import McpSpec
from worksample.sandboxes.endpoints import ConnectionRecord, relay
from worksample.tasks.mcp_servers import OWN

if TYPE_CHECKING:
    import httpx2

    from worksample.box import Box

LONGEST = 16 << 20
"""Maximum number of bytes of one message from an MCP server that is a program."""


@contextlib.asynccontextmanager
async def streams(server: McpSpec, box: Box, folder: str) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams for a session of the package `mcp`. Raises SandboxError if the server's program cannot be
    started.
    """
    async with _over_http(server, box) if server.url else _over_program(server, box, folder) as ends:
        yield ends


@contextlib.asynccontextmanager
async def _over_program(server: McpSpec, box: Box, folder: str) -> AsyncIterator[tuple[Any, Any]]:
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    process = await box.start(server.argv, cwd=folder, env=server.env)
    into, read = anyio.create_memory_object_stream[Any](16)
    write, out = anyio.create_memory_object_stream[Any](16)

    async def from_box() -> None:
        async with into:
            waiting = bytearray()
            with contextlib.suppress(SandboxError):
                while piece := await process.stdout.read():
                    waiting += piece
                    if b"\n" not in piece:
                        if len(waiting) > LONGEST:
                            return
                        continue
                    *lines, rest = bytes(waiting).split(b"\n")
                    waiting = bytearray(rest)
                    for line in filter(bytes.strip, lines):
                        try:
                            check_shape(line)
                            message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                        except (
                            ValueError,
                            ForeignInputError,
                        ):  # programs may also print other text
                            continue
                        await into.send(message)

    async def to_box() -> None:
        with contextlib.suppress(BrokenPipeError, SandboxError):
            async for message in out:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.write(text.encode() + b"\n")

    async def drain() -> None:
        with contextlib.suppress(SandboxError):
            while await process.stderr.read():
                pass

    tasks = [asyncio.create_task(each()) for each in (from_box, to_box, drain)]
    try:
        yield read, write
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (into, read, write, out):
            stream.close()
        with contextlib.suppress(SandboxError):
            await process.kill()


@contextlib.asynccontextmanager
async def _over_http(server: McpSpec, box: Box) -> AsyncIterator[tuple[Any, Any]]:
    """Connect through the box's endpoint, as a program in the box would. So the box's rules apply to the connection,
    and it is recorded.
    """
    import httpx2

    parts = urlsplit(server.url)
    address = "127.0.0.1" if parts.hostname in OWN else box.config.addresses[parts.hostname or ""]
    port = parts.port or (443 if parts.scheme == "https" else 80)
    with scratch_folder("mcp") as place:
        path = str(place / "door")
        async with _forwarding(path, box, address, port):
            timeout = httpx2.Timeout(60, read=None)

            def client(headers: Any = None, timeout: Any = timeout, auth: Any = None) -> httpx2.AsyncClient:
                transport = httpx2.AsyncHTTPTransport(uds=path)
                return httpx2.AsyncClient(
                    transport=transport, timeout=timeout, trust_env=False, headers=headers, auth=auth
                )

            async with _http_streams(server, client) as ends:
                yield ends


@contextlib.asynccontextmanager
async def _http_streams(server: McpSpec, client: Callable[..., httpx2.AsyncClient]) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of a session over HTTP, with server-sent events or streamable HTTP."""
    if server.sse:
        from mcp.client.sse import sse_client

        # A tool may take as long as the agent's commands; the call has its own time limit.
        async with sse_client(server.url, timeout=60, sse_read_timeout=None, httpx_client_factory=client) as ends:  # type: ignore[arg-type]
            yield ends
        return
    from mcp.client.streamable_http import streamable_http_client

    async with client() as own, streamable_http_client(server.url, http_client=own) as ends:
        yield ends[0], ends[1]


@contextlib.asynccontextmanager
async def _forwarding(path: str, box: Box, address: str, port: int) -> AsyncIterator[None]:
    """Forward connections from a Unix socket on the host to an address on the loopback interface of the box."""
    own = socket.socket(socket.AF_UNIX)
    own.setblocking(False)
    own.bind(path)
    own.listen()
    going: set[asyncio.Task[None]] = set()

    async def carry(near: socket.socket) -> None:
        with near, contextlib.suppress(OSError, SandboxError):
            far = await box.dial(port, address)
            await relay(
                near, far, ConnectionRecord(path, "own")
            )  # the endpoint records the connection; this is only our side of it

    async def accept() -> None:
        while True:
            near, _ = await asyncio.get_running_loop().sock_accept(own)
            task = asyncio.create_task(carry(near))
            going.add(task)
            task.add_done_callback(going.discard)

    accepting = asyncio.create_task(accept())
    try:
        yield
    finally:
        tasks = [accepting, *going]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        own.close()
