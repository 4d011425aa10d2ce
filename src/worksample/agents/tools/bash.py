"""Tool that runs a shell command in the box."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.agents.workspace import Workspace, clip_middle

from .tool_definition import tool_of

if TYPE_CHECKING:
    from inspect_ai.tool import ToolDef

KILL_AFTER = 5
MARGIN = 15
TIMED_OUT = 124


def bash(workspace: Workspace) -> ToolDef:
    """Return the tool `bash(command, timeout)`. Its result is one text with standard output and standard error, and the
    exit status unless it is 0.
    """

    async def execute(command: str, timeout: float | None = None) -> str:
        seconds = workspace.seconds(timeout)
        status, text = await shell(command, seconds, workspace)
        if status in (TIMED_OUT, 128 + 9, -9) and text.endswith(_mark(seconds)):
            return text
        return f"{text}\n[exit status {status}]" if status else text or "[no output]"

    about = (
        f"Run a command with bash. Each call is a new shell in {workspace.scratch}; files and background processes "
        f"stay. {workspace.network} Commands cannot ask for input. The middle of long output is left out."
    )
    return tool_of(
        "bash",
        about,
        {
            "command": ("string", "The command line or script.", True),
            "timeout": (
                "number",
                f"Seconds after which the command is stopped; {workspace.command_time:g} if not given, "
                f"{workspace.command_time_most:g} at most.",
                False,
            ),
        },
        execute,
    )


async def shell(command: str, seconds: float, workspace: Workspace) -> tuple[int, str]:
    """Run `command`. Return its exit status and its output. A command that exceeds `seconds` is stopped, and its output
    so far is returned.
    """
    from inspect_ai.tool import ToolError
    from inspect_ai.util import OutputLimitExceededError, sandbox

    from worksample.sandboxes.provider import memory_kills

    killed = memory_kills(sandbox())
    argv = ["timeout", f"--kill-after={KILL_AFTER}", f"{seconds:g}", "bash", "-c", f"exec 2>&1\n{command}"]
    if "\0" in command:
        raise ToolError("the command holds a NUL character")
    try:
        done = await sandbox().exec(argv, timeout=int(seconds + KILL_AFTER + MARGIN), timeout_retry=False)
    except TimeoutError:
        return TIMED_OUT, _mark(seconds)
    except OutputLimitExceededError as error:
        return 0, clip_middle(
            error.truncated_output or "", workspace.tool_output
        ) + "\n[the rest of the output was not stored]"
    text = clip_middle((done.stdout + done.stderr).rstrip("\n"), workspace.tool_output)
    if memory_kills(sandbox()) > killed:
        text = f"{text}\n{workspace.out_of_memory}".lstrip("\n")
    if done.returncode == TIMED_OUT:
        return TIMED_OUT, f"{text}\n{_mark(seconds)}".lstrip("\n")
    return done.returncode, text


def _mark(seconds: float) -> str:
    return f"[stopped after {seconds:g} seconds]"
