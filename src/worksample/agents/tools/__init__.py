"""What an agent can do: shell, Python, files, images, and one way to say that the work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.agents.desk import Desk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.tool import ToolDef


def toolset(desk: Desk, names: Sequence[str], *, submits: bool = True) -> list[ToolDef]:
    """The tools with these names (`bash`, `python`, `files`, `image`) and `submit` where work is closed by a call."""
    from . import bash, files, image, python, submit

    out: list[ToolDef] = []
    if "bash" in names:
        out.append(bash.bash(desk))
    if "python" in names:
        out.append(python.python(desk))
    if "files" in names:
        out += files.files(desk)
    if "image" in names and desk.vision:
        out.append(image.view_image(desk))
    return [*out, submit.submit()] if submits else out
