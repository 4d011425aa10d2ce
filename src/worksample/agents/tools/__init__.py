"""Tools of an agent: shell, Python, files, plan, memory, web, the interfaces of the task, and `submit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.agents.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.tool import ToolDef


def toolset(
    workspace: Workspace,
    names: Sequence[str],
    *,
    submits: bool = True,
    interfaces: bool = True,
    search_url: str = "",
) -> list[ToolDef]:
    """Return the tools with these names, such as `bash` or `memory`. Tools that the task or the agent cannot use are
    left out. With `interfaces`, add the tools of the task's interfaces. With `submits`, add the tool `submit`, which
    ends the work.
    """
    from . import bash, files, image, library_tools, python, submit, web

    out: list[ToolDef] = []
    if "bash" in names:
        out.append(bash.bash(workspace))
    if "python" in names:
        out.append(python.python(workspace))
    if "files" in names:
        out += files.files(workspace)
    if "image" in names and workspace.vision:
        out.append(image.view_image(workspace))
    if "search" in names:
        out += library_tools.search_files(workspace)
    if "plan" in names:
        out.append(library_tools.plan(workspace))
    if "memory" in names:
        out.append(library_tools.memory(workspace))
    if "fetch" in names and web.has_web(workspace):
        out.append(web.fetch(workspace))
    if "web_search" in names and search_url and web.has_web(workspace):
        out.append(web.web_search(workspace, search_url))
    if interfaces:
        out += interface_tools(workspace)
    return [*out, submit.submit()] if submits else out


def reading_tools(workspace: Workspace, names: Sequence[str]) -> list[ToolDef]:
    """Return the tools of a sub-agent that only reads: files, pictures, search in files, and pages if the agent itself
    reads them.
    """
    from . import files, library_tools

    chosen = [name for name in names if name in ("image", "fetch")]
    read = [files.read_file(workspace), *library_tools.search_files(workspace)]
    return [*read, *toolset(workspace, chosen, submits=False, interfaces=False)]


def interface_tools(workspace: Workspace) -> list[ToolDef]:
    """Return the tools of the task's interfaces that the agent uses: the browser and the desktop."""
    from .interfaces import browser_tools, desktop_tools

    return [
        *(browser_tools() if "browser" in workspace.interfaces else []),
        *(desktop_tools() if "desktop" in workspace.interfaces else []),
    ]
