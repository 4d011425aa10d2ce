"""How a program in the box finds its browser: an endpoint at which the platform speaks MCP."""

from __future__ import annotations

from worksample.records import McpSpec

from .workspace import Workspace

BROWSER_HOST, BROWSER_PORT = "browser.internal", 80


def browser_server(workspace: Workspace) -> tuple[McpSpec, ...]:
    """It, as one more server of the task's; none where the task has no browser."""
    if "browser" not in workspace.instance.work.environment.interfaces:
        return ()
    return (McpSpec(name="browser", url=f"http://{BROWSER_HOST}/mcp"),)
