"""A task's servers as tools of a model that we call."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from worksample.agents.workspace import Workspace, clipped
from worksample.errors import Cause, SandboxError
from worksample.extras import need
from worksample.models.storable_text import scrub
from worksample.records import McpSpec
from worksample.sandboxes.shielded import to_the_end

from .forms import servers_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef
    from mcp import ClientSession

    from worksample.box import Box

END_SECONDS = 10.0
"""For sessions to end when the work is done."""
START_SECONDS = 60.0
"""For a server to say what it offers."""
MOST_TOOLS = 200
"""Of one server."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@asynccontextmanager
async def tools_of(workspace: Workspace) -> AsyncIterator[list[ToolDef]]:
    """The tools of the task's servers in the current sandbox; none, and nothing begun, where it has none."""
    servers = servers_of(workspace)
    if not servers:
        yield []
        return
    from inspect_ai.util import sandbox

    from worksample.sandboxes.provider import box_of

    async with tools_in(box_of(sandbox()), servers, workspace) as found:
        yield found


@asynccontextmanager
async def tools_in(box: Box, servers: Sequence[McpSpec], workspace: Workspace) -> AsyncIterator[list[ToolDef]]:
    """The tools of all servers, called `SERVER__TOOL`, while they run.

    SandboxError (`service.start`) where one cannot be had; MissingExtra without the package `mcp`.
    """
    need("mcp")
    held = _Held(box, servers, workspace)
    task = asyncio.create_task(held.hold())
    try:
        yield await held.ready
    finally:
        held.over.set()
        await to_the_end(asyncio.wait((task,), timeout=END_SECONDS))
        task.cancel()
        await to_the_end(asyncio.wait((task,)))


class _Held:
    """Sessions, in a task of their own: they stand in groups of tasks, which would wrap whatever ends the work."""

    def __init__(self, box: Box, servers: Sequence[McpSpec], workspace: Workspace) -> None:
        self._box, self._servers, self._workspace = box, servers, workspace
        self.ready: asyncio.Future[list[ToolDef]] = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()

    async def hold(self) -> None:
        """Open all, say their tools, and close them when it is over. What comes of servers after that calls tell."""
        try:
            async with AsyncExitStack() as stack:
                found: list[ToolDef] = []
                for server in self._servers:
                    session = await _session(server, self._box, self._workspace, stack)
                    found += [
                        _tool(server.name, session, one, self._workspace) for one in await _listed(server, session)
                    ]
                self.ready.set_result(found)
                await self.over.wait()
        except Exception as error:  # noqa: BLE001 - of a group of tasks the first is what happened
            if not self.ready.done():
                self.ready.set_exception(_first(error))


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _session(server: McpSpec, box: Box, workspace: Workspace, stack: AsyncExitStack) -> ClientSession:
    import anyio
    from mcp import ClientSession
    from mcp.shared.exceptions import MCPError

    from .transport import streams

    try:
        read, write = await stack.enter_async_context(streams(server, box, workspace.scratch))
        session: ClientSession = await stack.enter_async_context(ClientSession(read, write))
        with anyio.fail_after(START_SECONDS):
            await session.initialize()
    except (MCPError, OSError, TimeoutError, ValueError) as error:
        raise _failed(server, error) from error
    return session


async def _listed(server: McpSpec, session: ClientSession) -> list[Any]:
    import anyio
    from mcp.shared.exceptions import MCPError

    try:
        with anyio.fail_after(START_SECONDS):
            tools = list((await session.list_tools()).tools)
    except (MCPError, OSError, TimeoutError, ValueError) as error:
        raise _failed(server, error) from error
    names = [one.name for one in tools]
    if len(tools) > MOST_TOOLS or len(set(names)) < len(names):
        raise _failed(server, f"it offers {len(tools)} tools, or two of one name")
    for name in names:
        if not _NAME.fullmatch(f"{server.name}__{name}"):
            raise _failed(server, f"the name of its tool {name[:80]!r} is none that models can call")
    return tools


def _failed(server: McpSpec, why: object) -> SandboxError:
    said = str(why) or type(why).__name__
    return SandboxError(
        f"it does not say its tools: {said}", where=f"MCP server {server.name}", cause=Cause.SERVICE_START
    )


def _tool(server: str, session: ClientSession, offered: Any, workspace: Workspace) -> ToolDef:
    from inspect_ai.tool import ToolDef, ToolError, ToolParams
    from mcp.shared.exceptions import MCPError

    async def execute(**given: Any) -> str:
        try:
            done = await session.call_tool(offered.name, given, read_timeout_seconds=workspace.command_time_most)
        except (MCPError, OSError, RuntimeError, ValueError) as error:
            # It runs in the agent's box, or is what the agent asks: what breaks is told to the model.
            raise ToolError(clipped(str(error) or type(error).__name__, workspace.tool_output)) from None
        text = clipped(scrub("\n".join(map(_text, done.content))), workspace.tool_output)
        if done.is_error:
            raise ToolError(text or "it failed")
        return text or "[no output]"

    parameters = ToolParams.model_validate(
        {key: offered.input_schema[key] for key in ("properties", "required") if key in offered.input_schema}
    )
    for name, parameter in parameters.properties.items():
        parameter.description = parameter.description or name
    about = clipped(offered.description or offered.name, 4000)
    return ToolDef(
        execute,
        name=f"{server}__{offered.name}",
        description=about,
        parameters=parameters,
        parallel=False,
        max_output=0,
    )


def _text(part: Any) -> str:
    """A part of an answer as a model reads it; what is no text is named."""
    if part.type == "text":
        return str(part.text)
    if part.type == "resource" and getattr(part.resource, "text", None) is not None:
        return str(part.resource.text)
    return f"[{part.type}]"
