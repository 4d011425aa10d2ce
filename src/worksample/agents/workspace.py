"""Workspace of an agent: an instance's paths and limits, and the limits of tools."""

from __future__ import annotations

from dataclasses import dataclass, field

from worksample.records import Instance, Limits
from worksample.results.reattempts.feedback_prompt import PREVIOUS

SCRATCH = "/task/scratch"


@dataclass(frozen=True)
class Workspace:
    """Workspace of one trial, as its harness sees it."""

    instance: Instance
    limits: Limits = field(default_factory=Limits)
    scratch: str = SCRATCH
    tool_output: int = 16_000
    """Characters of a tool result that the model sees."""
    command_time: float = 180
    """Time limit of a command in seconds, unless the model asks for more."""
    command_time_most: float = 1800
    vision: bool = False
    words: dict[str, str] = field(init=False)
    """Values of the placeholders."""

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
        """Return a sentence about the network that the box can reach."""
        endpoints = self.instance.work.environment.endpoints
        reached = [f"{one.name}:{one.port}" for one in endpoints if one.to != "model"]
        if not reached:
            return "There is no internet access."
        return f"Of the network, only these addresses can be reached: {', '.join(reached)}."

    @property
    def out_of_memory(self) -> str:
        """Note at the end of a tool result if a process was killed for lack of memory."""
        return f"[a process was killed: the sandbox's {self.limits.memory / 2**30:.3g} GiB of memory were used up]"

    def seconds(self, asked: float | None) -> float:
        """Return the time limit of a command for which the model asked so many seconds."""
        if asked is None or not asked > 0:
            return self.command_time
        return float(min(asked, self.command_time_most))


def clip_middle(text: str, size: int) -> str:
    """Shorten a text to about `size` characters: its beginning, its end, and how much was left out."""
    if len(text) <= size:
        return text
    head = size * 2 // 3
    tail = size - head
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"
