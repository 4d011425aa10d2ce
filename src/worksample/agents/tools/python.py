"""Tool that runs Python code with persistent variables. Each trial has one IPython kernel in the box, which starts at
the first use.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
from typing import TYPE_CHECKING

from worksample.agents.workspace import Workspace, clip_middle
from worksample.errors import ForeignInputError
from worksample.files.untrusted import JsonLimits, read_json
from worksample.models.storable_text import scrub

from .tool_definition import tool_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

SLACK = 90
"""Additional seconds for a cell beyond its time limit: to start the kernel, or to kill a kernel that cannot be
interrupted.
"""
SHAPE = JsonLimits(values=100)
"""Limits on the structure of the kernel's JSON answer, which is untrusted."""
LARGEST = 120_000
"""Maximum number of bytes of one request. A request contains the kernel's source and the code, and passes through a
command line and a pipe.
"""


def python(workspace: Workspace) -> ToolDef:
    """Return the tool `python(code, timeout)`. Its result is what the cell printed, and the value of the cell's last
    expression.
    """

    async def execute(code: str, timeout: float | None = None) -> str:
        seconds = workspace.seconds(timeout)
        answer = await cell(code, seconds, workspace)
        text = clip_middle(answer["output"].rstrip("\n"), workspace.tool_output)
        if answer["state"] == "interrupted":
            return f"{text}\n[interrupted after {seconds:g} seconds; variables are kept]"
        if answer["state"] == "lost":
            return f"{text}\n[the kernel is gone: its variables are lost, the next call starts a new one]"
        return text or "[no output]"

    about = (
        f"Run Python in an IPython kernel in {workspace.scratch} that keeps its variables between calls. "
        "The value of the "
        "last expression is shown; `!command` runs a shell command. To look at a figure, save it to a file."
    )
    return tool_of(
        "python",
        about,
        {
            "code": ("string", "The code of one cell.", True),
            "timeout": (
                "number",
                f"Seconds after which the cell is interrupted; {workspace.command_time:g} if not given, "
                f"{workspace.command_time_most:g} at most.",
                False,
            ),
        },
        execute,
    )


@functools.cache
def _source() -> str:
    return importlib.resources.files("worksample.agents.in_box").joinpath("kernel.py").read_text(encoding="utf-8")


async def cell(code: str, seconds: float, workspace: Workspace) -> dict[str, str]:
    """Run one cell. Return `{"output", "state"}`. Raises ToolError if the kernel's answer cannot be read."""
    from inspect_ai.tool import ToolError
    from inspect_ai.util import OutputLimitExceededError, sandbox

    from worksample.sandboxes.provider import memory_kills

    killed = memory_kills(sandbox())
    request = json.dumps({"code": code, "seconds": seconds, "bytes": 4 * workspace.tool_output})
    try:
        done = await sandbox().exec(
            ["sh", "-c", 'exec python3 -I -c "$KERNEL_SOURCE" call "$0"', f"{workspace.scratch}/.kernel/socket"],
            input=request,
            env={"KERNEL_SOURCE": _source()},
            timeout=int(seconds + SLACK),
            timeout_retry=False,
        )
    except TimeoutError:
        return {"output": "the cell could not be interrupted", "state": "lost"}
    except OutputLimitExceededError:
        raise ToolError("the output of the Python session is too long") from None
    try:
        answer = read_json(done.stdout.encode(errors="surrogatepass"), SHAPE, "the kernel's answer")
        output = scrub(str(answer["output"]))
        if memory_kills(sandbox()) > killed:
            output = f"{output.rstrip()}\n{workspace.out_of_memory}".lstrip("\n")
        return {"output": output, "state": str(answer["state"])}
    except (ForeignInputError, KeyError, TypeError):
        said = clip_middle((done.stderr or done.stdout).strip(), 2000)
        raise ToolError(f"Python cannot be run in this sandbox: {said}") from None
