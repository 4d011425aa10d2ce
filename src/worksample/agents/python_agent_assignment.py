"""Assignment: the work of an agent that is an async function. It provides the brief, the folders, the box and the
model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.models.storable_text import scrub

from .workspace import Workspace, clip_middle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import Model
    from inspect_ai.solver import TaskState
    from inspect_ai.util import ExecResult


@dataclass(frozen=True)
class Assignment:
    """Work of one trial, for an agent that is an async function.

    The trajectory records commands, reads and writes. If the agent calls a model, the trajectory has the model calls
    instead, and Inspect's log has the rest. Files in `output` are submitted when the function returns. If the function
    raises an exception, this counts as a crash of the agent.
    """

    workspace: Workspace
    state: TaskState
    """Inspect's state of the sample. Messages that the agent adds to it are recorded, too."""
    model: Model | None = None
    """Inspect's object for the agent's model; None if the agent has no model. Its calls count against the trial's
    limits.
    """

    @property
    def brief(self) -> str:
        """Text of the task's brief."""
        return self.workspace.instance.work.brief

    @property
    def input(self) -> str:
        """Path of the read-only folder of input files in the box."""
        return self.workspace.words["input"]

    @property
    def previous(self) -> str:
        """Path of the read-only folder in the box with the agent's earlier work. The folder exists only in
        re-attempts.
        """
        return self.workspace.words["previous"]

    @property
    def output(self) -> str:
        """Path of the folder for deliverables in the box."""
        return self.workspace.words["output"]

    @property
    def scratch(self) -> str:
        """Path of the folder in the box for files that are not deliverables."""
        return self.workspace.scratch

    async def run(
        self, command: str | Sequence[str], *, input: str | bytes | None = None, timeout: float | None = None
    ) -> ExecResult[str]:
        """Run a program or a shell command in the box. Return its `returncode`, `stdout` and `stderr`.

        `timeout` is in seconds. Raises TimeoutError if the program takes longer. A program that fails raises nothing.
        """
        from inspect_ai.util import sandbox

        argv = ["sh", "-c", command] if isinstance(command, str) else list(command)
        seconds = None if timeout is None else max(1, int(timeout))
        done = await sandbox().exec(argv, input=input, timeout=seconds, timeout_retry=False)
        said = clip_middle(done.stdout + done.stderr, self.workspace.tool_output)
        self.say(f"$ {command if isinstance(command, str) else ' '.join(argv)}\n{said}[exit status {done.returncode}]")
        return done

    async def read(self, path: str) -> bytes:
        """Read a file in the box. Raises OSError (such as FileNotFoundError) if the file cannot be read."""
        from inspect_ai.util import sandbox

        data = await sandbox().read_file(path, text=False)
        self.say(f"[read {path}, {len(data)} bytes]")
        return data

    async def write(self, path: str, data: str | bytes) -> None:
        """Write a file in the box. Raises OSError (such as PermissionError) if the file cannot be written."""
        from inspect_ai.util import sandbox

        await sandbox().write_file(path, data)
        self.say(f"[wrote {path}, {len(data.encode() if isinstance(data, str) else data)} bytes]")

    def say(self, text: str) -> None:
        """Add a line to the trajectory."""
        from inspect_ai.model import ChatMessageAssistant

        self.state.messages.append(ChatMessageAssistant(content=scrub(text)))
