"""What an agent that is an async function is given: the brief, the places, the box, and a model where it has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.models.storable_text import scrub

from .workspace import Workspace, clipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import Model
    from inspect_ai.solver import TaskState
    from inspect_ai.util import ExecResult


@dataclass(frozen=True)
class Assignment:
    """One trial, for an agent that is an async function.

    What it runs, reads and writes is kept in the trajectory; where it calls a model the trajectory has these calls, and
    Inspect's log has the rest.

    What lies in `output` when the function ends is handed in; an exception of it is a crash of the agent.
    """

    workspace: Workspace
    state: TaskState
    """Inspect's: messages put there are kept as well."""
    model: Model | None = None
    """Inspect's model; calls of it count against the trial's limits."""

    @property
    def brief(self) -> str:
        """What is to be done."""
        return self.workspace.instance.work.brief

    @property
    def input(self) -> str:
        """The folder of what is given, in the box; read-only."""
        return self.workspace.words["input"]

    @property
    def previous(self) -> str:
        """Where its earlier work lies in the box, read-only; the folder is there in re-attempts only."""
        return self.workspace.words["previous"]

    @property
    def output(self) -> str:
        """The folder of what is handed in, in the box."""
        return self.workspace.words["output"]

    @property
    def scratch(self) -> str:
        """A folder for everything else, in the box."""
        return self.workspace.scratch

    async def run(
        self, command: str | Sequence[str], *, input: str | bytes | None = None, timeout: float | None = None
    ) -> ExecResult[str]:
        """Run a program in the box, or a line of shell: `returncode`, `stdout`, `stderr`.

        `timeout` in seconds. TimeoutError where it took longer; never raises for what the program says.
        """
        from inspect_ai.util import sandbox

        argv = ["sh", "-c", command] if isinstance(command, str) else list(command)
        seconds = None if timeout is None else max(1, int(timeout))
        done = await sandbox().exec(argv, input=input, timeout=seconds, timeout_retry=False)
        said = clipped(done.stdout + done.stderr, self.workspace.tool_output)
        self.say(f"$ {command if isinstance(command, str) else ' '.join(argv)}\n{said}[exit status {done.returncode}]")
        return done

    async def read(self, path: str) -> bytes:
        """A file of the box. The usual OSErrors."""
        from inspect_ai.util import sandbox

        data = await sandbox().read_file(path, text=False)
        self.say(f"[read {path}, {len(data)} bytes]")
        return data

    async def write(self, path: str, data: str | bytes) -> None:
        """Write a file of the box. The usual OSErrors."""
        from inspect_ai.util import sandbox

        await sandbox().write_file(path, data)
        self.say(f"[wrote {path}, {len(data.encode() if isinstance(data, str) else data)} bytes]")

    def say(self, text: str) -> None:
        """A line for the trajectory."""
        from inspect_ai.model import ChatMessageAssistant

        self.state.messages.append(ChatMessageAssistant(content=scrub(text)))
