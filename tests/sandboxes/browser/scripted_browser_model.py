"""A model that works in a browser by a list of calls: elements are named by what it was shown of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from openai_server import Answer, calls, says
from worksample.agents.scripted_agent import find_element

LOOKS = 60


@dataclass(frozen=True)
class Step:
    """A tool and what it is given; with `until`, called again until that is shown."""

    tool: str
    given: dict[str, Any] = field(default_factory=dict)
    until: str = ""


def step(tool: str, until: str = "", **given: Any) -> Step:
    return Step(tool, given, until)


@dataclass
class Working:
    """Answers each request with the next of `steps`; `prefix` is what a harness puts before the browser's tools."""

    steps: list[Step]
    prefix: str = "browser_"
    seen: list[str] = field(default_factory=list)
    """What each call showed."""
    _at: int = 0
    _looks: int = 0

    def __call__(self, request: dict[str, Any], count: int) -> Answer:
        names = {one["function"]["name"] for one in request.get("tools", ())}
        if not names or (not self._at and self.steps[0].tool not in names):
            return says("ok")  # a run asks its model once before the first trial
        if self._at:
            self.seen.append("\n".join(texts(request["messages"][-1]["content"])))
            awaited = self.steps[self._at - 1].until
            self._looks += 1
            if awaited and awaited not in self.seen[-1] and self._looks < LOOKS:
                self._at -= 1
            else:
                self._looks = 0
        if self._at >= len(self.steps):
            return says("The work is done.")
        one = self.steps[self._at]
        self._at += 1
        page = next((text for text in reversed(self.seen) if "RootWebArea" in text), "")
        given = {key: find_element(page, value) if key == "bid" else value for key, value in one.given.items()}
        return calls(one.tool.replace("browser_", self.prefix, 1), **given)


def texts(content: Any) -> Iterator[str]:
    """All text of a message."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for one in content:
            yield from texts(one.get("text", "") if isinstance(one, dict) else one)
