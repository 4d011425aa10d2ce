"""Tools of a task's MCP servers, for models that the platform itself calls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from worksample.agents.workspace import Workspace, clip_middle
from worksample.errors import Cause, SandboxError
from worksample.extras import need
from worksample.models.storable_text import scrub
from worksample.records import McpSpec
from worksample.sandboxes.cancellation_shield import to_the_end

from .config_formats import servers_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef
    from mcp import ClientSession

    from worksample.box import Box

END_SECONDS = 10.0
"""Maximum time in seconds in which the sessions with MCP servers close after the work."""
START_SECONDS = 60.0
"""Maximum time in seconds until an MCP server has listed its tools."""
MOST_TOOLS = 200
"""Maximum number of tools of one MCP server."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@asynccontextmanager
async def tools_of(workspace: Workspace) -> AsyncIterator[list[ToolDef]]:
    """Yield the tools of the task's MCP servers in the current sandbox. If the task has no servers, yield an empty list
    and start nothing.
    """
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
    """Start all MCP servers and yield their tools. Each tool is named `SERVER__TOOL`.

    Raises SandboxError (`service.start`) if a server does not start. Raises MissingExtra if the package `mcp` is not
    installed.
    """
    need("mcp")
    held = _Sessions(box, servers, workspace)
    task = asyncio.create_task(held.hold())
    try:
        yield await held.ready
    finally:
        held.over.set()
        await to_the_end(asyncio.wait((task,), timeout=END_SECONDS))
        task.cancel()
        await to_the_end(asyncio.wait((task,)))


class _Sessions:
    """Sessions with MCP servers, which run in a task of their own. They use task groups, which would otherwise wrap the
    exception that ends the work.
    """

    def __init__(self, box: Box, servers: Sequence[McpSpec], workspace: Workspace) -> None:
        self._box, self._servers, self._workspace = box, servers, workspace
        self.ready: asyncio.Future[list[ToolDef]] = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()

    async def hold(self) -> None:
        """Open all sessions and publish their tools. Close the sessions at the end of the work. A failure in between is
        reported by the tool call that it affects.
        """
        try:
            async with AsyncExitStack() as stack:
                found: list[ToolDef] = []
                for server in self._servers:
                    session = await _session(server, self._box, self._workspace, stack)
                    found += [
                        _tool(server.name, session, one, self._workspace) for one in await _list_tools(server, session)
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
        raise _start_error(server, error) from error
    return session


async def _list_tools(server: McpSpec, session: ClientSession) -> list[Any]:
    import anyio
    from mcp.shared.exceptions import MCPError

    try:
        with anyio.fail_after(START_SECONDS):
            tools = list((await session.list_tools()).tools)
    except (MCPError, OSError, TimeoutError, ValueError) as error:
        raise _start_error(server, error) from error
    names = [one.name for one in tools]
    if len(tools) > MOST_TOOLS or len(set(names)) < len(names):
        raise _start_error(
            server, f"the server offers {len(tools)} tools (at most {MOST_TOOLS}), or two with the same name"
        )
    for name in names:
        if not _NAME.fullmatch(f"{server.name}__{name}"):
            raise _start_error(server, f"models cannot call a tool named {name[:80]!r}")
    return tools


def _start_error(server: McpSpec, why: object) -> SandboxError:
    said = str(why) or type(why).__name__
    return SandboxError(
        f"the server does not list its tools: {said}",
        where=f"MCP server {server.name}",
        next="fix the server in the task's task.toml, or in its image",
        cause=Cause.SERVICE_START,
    )


def _tool(server: str, session: ClientSession, offered: Any, workspace: Workspace) -> ToolDef:
    from inspect_ai.tool import ToolDef, ToolError, ToolParams
    from mcp.shared.exceptions import MCPError

    async def execute(**given: Any) -> str:
        try:
            done = await session.call_tool(offered.name, given, read_timeout_seconds=workspace.command_time_most)
        except (MCPError, OSError, RuntimeError, ValueError) as error:
            # The server runs in the agent's box, or the agent's request broke it: tell the model.
            raise ToolError(clip_middle(str(error) or type(error).__name__, workspace.tool_output)) from None
        text = clip_middle(scrub("\n".join(map(_text, done.content))), workspace.tool_output)
        if done.is_error:
            raise ToolError(text or "the MCP server's tool failed without a message")
        return text or "[no output]"

    parameters = ToolParams.model_validate(
        {key: offered.input_schema[key] for key in ("properties", "required") if key in offered.input_schema}
    )
    for name, parameter in parameters.properties.items():
        parameter.description = parameter.description or name
    about = clip_middle(offered.description or offered.name, 4000)
    return ToolDef(
        execute,
        name=f"{server}__{offered.name}",
        description=about,
        parameters=parameters,
        parallel=False,
        max_output=0,
    )


def _text(part: Any) -> str:
    """Return a part of a tool's result as text. For content that is not text, return its kind."""
    if part.type == "text":
        return str(part.text)
    if part.type == "resource" and getattr(part.resource, "text", None) is not None:
        return str(part.resource.text)
    return f"[{part.type}]"
