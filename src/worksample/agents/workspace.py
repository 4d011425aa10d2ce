"""Where an agent works: one instance's paths and limits, and what tools may take."""

from __future__ import annotations

from dataclasses import dataclass, field

from worksample.records import Instance, Limits
from worksample.results.reattempts.feedback_prompt import PREVIOUS

SCRATCH = "/task/scratch"


@dataclass(frozen=True)
class Workspace:
    """One trial's place of work, as the harness sees it."""

    instance: Instance
    limits: Limits = field(default_factory=Limits)
    scratch: str = SCRATCH
    tool_output: int = 16_000
    """Characters of a tool's result that the model sees."""
    command_time: float = 180
    """Seconds that a command may take where the model does not ask for more."""
    command_time_most: float = 1800
    vision: bool = False
    words: dict[str, str] = field(init=False)
    """What placeholders stand for."""

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
    def out_of_memory(self) -> str:
        """What a tool's result ends with if a process was ended for want of memory."""
        return f"[a process was ended: the sandbox's {self.limits.memory / 2**30:.3g} GiB of memory were used up]"

    def seconds(self, asked: float | None) -> float:
        """How long a command may take when the model asked for so many seconds."""
        if asked is None or not asked > 0:
            return self.command_time
        return float(min(asked, self.command_time_most))


def clipped(text: str, size: int) -> str:
    """At most about `size` characters: the beginning, the end, and how much lies between."""
    if len(text) <= size:
        return text
    head = size * 2 // 3
    tail = size - head
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"
