"""Workspace of an agent: the paths and limits of an instance, and the limits of tools."""

from __future__ import annotations

from dataclasses import dataclass, field

from worksample.records import Instance, Limits
from worksample.results.reattempts.feedback_prompt import PREVIOUS

SCRATCH = "/task/scratch"


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
        reached = [f"{one.name}:{one.port}" for one in endpoints if one.to != "model"]
        if not reached:
            return "There is no internet access."
        return f"Of the network, only these addresses can be reached: {', '.join(reached)}."

    @property
    def out_of_memory(self) -> str:
        """Return the note that is appended to a tool result if a process was killed because the box's memory was used
        up.
        """
        return f"[a process was killed: the sandbox's {self.limits.memory / 2**30:.3g} GiB of memory were used up]"

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
