"""The work of an agent that is an async function: brief, folders, box, and its model if it has one."""

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

    Commands, reads and writes are recorded in the trajectory. If the agent calls a model, the trajectory has those
    calls, and Inspect's log has the rest. Files in `output` are handed in when the function ends. An exception that it
    raises is a crash of the agent.
    """

    workspace: Workspace
    state: TaskState
    """Inspect's state of the sample. Messages added to it are recorded, too."""
    model: Model | None = None
    """Inspect's model. Calls of it count against the trial's limits."""

    @property
    def brief(self) -> str:
        """The brief of the task."""
        return self.workspace.instance.work.brief

    @property
    def input(self) -> str:
        """Folder of the input files in the box; read-only."""
        return self.workspace.words["input"]

    @property
    def previous(self) -> str:
        """Folder of the agent's earlier work in the box; read-only, in re-attempts only."""
        return self.workspace.words["previous"]

    @property
    def output(self) -> str:
        """Folder of the deliverables in the box."""
        return self.workspace.words["output"]

    @property
    def scratch(self) -> str:
        """Folder for all other files in the box."""
        return self.workspace.scratch

    async def run(
        self, command: str | Sequence[str], *, input: str | bytes | None = None, timeout: float | None = None
    ) -> ExecResult[str]:
        """Run a program or a shell command in the box. Return its `returncode`, `stdout` and `stderr`.

        `timeout` is in seconds. Raises TimeoutError if the program takes longer; a failing program raises nothing.
        """
        from inspect_ai.util import sandbox

        argv = ["sh", "-c", command] if isinstance(command, str) else list(command)
        seconds = None if timeout is None else max(1, int(timeout))
        done = await sandbox().exec(argv, input=input, timeout=seconds, timeout_retry=False)
        said = clip_middle(done.stdout + done.stderr, self.workspace.tool_output)
        self.say(f"$ {command if isinstance(command, str) else ' '.join(argv)}\n{said}[exit status {done.returncode}]")
        return done

    async def read(self, path: str) -> bytes:
        """Read a file in the box. Raises the usual OSErrors."""
        from inspect_ai.util import sandbox

        data = await sandbox().read_file(path, text=False)
        self.say(f"[read {path}, {len(data)} bytes]")
        return data

    async def write(self, path: str, data: str | bytes) -> None:
        """Write a file in the box. Raises the usual OSErrors."""
        from inspect_ai.util import sandbox

        await sandbox().write_file(path, data)
        self.say(f"[wrote {path}, {len(data.encode() if isinstance(data, str) else data)} bytes]")

    def say(self, text: str) -> None:
        """Add a line to the trajectory."""
        from inspect_ai.model import ChatMessageAssistant

        self.state.messages.append(ChatMessageAssistant(content=scrub(text)))
