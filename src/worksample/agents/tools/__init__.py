"""Tools of an agent: shell, Python, files, images, a browser or a desktop if the task has one, and `submit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.agents.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.tool import ToolDef


def toolset(workspace: Workspace, names: Sequence[str], *, submits: bool = True) -> list[ToolDef]:
    """Return the tools with these names (`bash`, `python`, `files`, `image`). With `submits`, add the tool `submit`,
    which ends the work.
    """
    from . import bash, browser, desktop, files, image, python, submit

    out: list[ToolDef] = []
    if "bash" in names:
        out.append(bash.bash(workspace))
    if "python" in names:
        out.append(python.python(workspace))
    if "files" in names:
        out += files.files(workspace)
    if "image" in names and workspace.vision:
        out.append(image.view_image(workspace))
    if "browser" in workspace.interfaces:
        out += browser.browser()
    if "desktop" in workspace.instance.work.environment.interfaces:
        out += desktop.desktop()
    return [*out, submit.submit()] if submits else out
