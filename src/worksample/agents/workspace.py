"""Workspace of an agent: the paths and limits of an instance, and the limits of tools."""

from __future__ import annotations

from dataclasses import dataclass, field

from worksample.records import Instance, Limits
from worksample.results.reattempts.feedback_prompt import PREVIOUS

SCRATCH = "/task/scratch"
_REMARKS = {"model": " (a language model, by the API of its provider)"}
"""Remarks on addresses in prompts, by the target of the endpoint."""


@dataclass(frozen=True)
class Workspace:
    """Workspace of one trial, as the agent's harness uses it."""

    instance: Instance
    limits: Limits = field(default_factory=Limits)
    scratch: str = SCRATCH
    tool_output: int = 16_000
    """Maximum number of characters of a tool result that the model sees."""
    command_time: float = 180
    """Default time limit of a command in seconds. The model may request another limit."""
    command_time_most: float = 1800
    vision: bool = False
    interfaces: frozenset[str] = frozenset()
    """Interfaces of the task that the agent has tools for, such as `browser`."""
    tools_by_mcp: bool = False
    """True if the agent is a program that gets the tools of its interfaces from MCP servers."""
    own_memory: int = 0
    """Number of bytes of memory that the box has for the agent's own program, beside the task's memory."""
    in_steps: bool = False
    """True if the work is one step of a task with steps, so that the agent may get another step afterwards."""
    guidance: tuple[str, ...] = ()
    """Sentences that say how to use the agent's own tools, such as its plan, its memory and its sub-agents."""
    words: dict[str, str] = field(init=False)
    """Values of the placeholders in texts for the agent, by name."""

    def __post_init__(self) -> None:
        paths = self.instance.work.environment.paths
        words = {
            "input": paths.input,
            "output": paths.output,
            "software": paths.software,
            "scratch": self.scratch,
            "previous": PREVIOUS,
            "task": self.instance.task,
            "instance": self.instance.name,
        }
        object.__setattr__(self, "words", words)

    @property
    def network(self) -> str:
        """Return a sentence that says which network the box can reach."""
        endpoints = self.instance.work.environment.endpoints
        reached = [f"{one.name}:{one.port}{_REMARKS.get(one.to, '')}" for one in endpoints]
        if not reached:
            return "There is no internet access."
        proxied = any(one.name.startswith("*") for one in endpoints)
        proxy = " Hosts under a * are reached through the HTTP proxy in $HTTPS_PROXY." if proxied else ""
        return f"Of the network, only these addresses can be reached: {', '.join(reached)}.{proxy}"

    @property
    def out_of_memory(self) -> str:
        """Return the note that is appended to a tool result if a process was killed because the box's memory was used
        up.
        """
        most = self.limits.memory + self.own_memory
        return f"[a process was killed: the sandbox's {most / 2**30:.3g} GiB of memory were used up]"

    def seconds(self, asked: float | None) -> float:
        """Return the time limit of a command in seconds, if the model requested `asked` seconds."""
        if asked is None or not asked > 0:
            return self.command_time
        return float(min(asked, self.command_time_most))


def clip_middle(text: str, size: int) -> str:
    """Shorten a text to about `size` characters. The beginning and the end stay, and a note says how much was left
    out.
    """
    if len(text) <= size:
        return text
    head = size * 2 // 3
    tail = size - head
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"
