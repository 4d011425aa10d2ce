"""A scripted model with one skill, for any harness: it finds the shell among the tools it is given, runs its command
there, and says that it is done. A harness without tools is answered with a whole file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .answers import Answer, Call, says

SHELLS = ("exec_command", "shell", "Bash", "bash", "run_shell_command", "terminal", "execute_bash", "local_shell")
COMMANDS = ("command", "cmd")
MINI_ENDS = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


@dataclass
class Workman:
    """command: what it does, once per conversation; path, text: the same as one file, for those who have no shell."""

    command: str
    path: str
    text: str
    last: str = "The work is done."
    forever: bool = False
    """Whether it goes on with the same command and never ends."""

    def __call__(self, request: dict[str, Any], count: int) -> Answer:
        tools = {t["function"]["name"]: t["function"].get("parameters") or {} for t in request.get("tools", ())}
        name = next((n for n in SHELLS if n in tools), "")
        told = [m for m in request["messages"] if m["role"] in ("tool", "assistant")]
        if not name:
            begun = self.path in json.dumps(told) or not _is_work(request)
            return says(self.last if begun else f"{self.path}\n```\n{self.text}```\n")
        if told and not self.forever:
            ends = tools.get("finish") is not None and not _says_only(told)
            if "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in json.dumps(request["messages"]):
                return Answer(text=self.last, calls=(Call(name, _arguments(tools[name], MINI_ENDS)),))
            return Answer(text=self.last, calls=(Call("finish", {"message": self.last}),)) if ends else says(self.last)
        return Answer(text="I do it.", calls=(Call(name, _arguments(tools[name], self.command)),))


def _is_work(request: dict[str, Any]) -> bool:
    return bool(re.search("professional", json.dumps(request["messages"])))


def _says_only(told: list[dict[str, Any]]) -> bool:
    return not any(m["role"] == "tool" for m in told)


def _arguments(schema: dict[str, Any], command: str) -> dict[str, Any]:
    """The command, and something that fits for whatever else is required."""
    properties = schema.get("properties", {})
    key = next(k for k in COMMANDS if k in properties)
    kinds = {"boolean": False, "number": 60, "integer": 60, "array": [], "object": {}}
    rest = {
        k: properties[k]["enum"][0] if properties[k].get("enum") else kinds.get(properties[k].get("type"), "runs it")
        for k in schema.get("required", ())
        if k != key
    }
    listed = properties[key].get("type") == "array"
    return {**rest, key: ["bash", "-lc", command] if listed else command}
