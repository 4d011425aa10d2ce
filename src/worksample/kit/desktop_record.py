"""The agent's work on its desktop, for graders. The platform recorded it during the trial."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class DesktopStep:
    """An action on the desktop.

    `tool` is the tool and `given` its arguments; `action` is the action of the tool `computer`, or the tool itself.
    `by` says who acted: `agent`, or a person. `before` and `after` are file names of the screen's pictures. `changed`
    says whether the screen changed, `error` why the action was not carried out.
    """

    number: int
    at: datetime
    tool: str
    action: str
    by: str = "agent"
    given: dict[str, Any] = field(default_factory=dict)
    before: str = ""
    after: str = ""
    changed: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class DesktopWindow:
    """A window, and how long it was open. `program` is the class that the window names, such as `libreoffice-calc`.

    A hostile program can name any title and class; `DesktopRecord.processes` shows which programs ran.
    """

    title: str
    program: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DesktopProcess:
    """A program that ran in the agent's box. `path` is the path of its file, as the kernel reports it."""

    path: str
    seconds: float


class DesktopRecord:
    """The desktop's record of a submission. It is empty if the agent used no desktop, for example in a control."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @cached_property
    def steps(self) -> list[DesktopStep]:
        """The actions on the desktop, oldest first."""
        return [
            DesktopStep(
                row["n"], datetime.fromisoformat(row["at"]), row["action"],
                str(row.get("with", {}).get("action") or row["action"]), row.get("by", "agent"), row.get("with", {}),
                row.get("before", ""), row.get("after", ""), bool(row.get("changed")), row.get("error", ""),
            )
            for row in self._rows("actions.jsonl")
            if "n" in row
        ]  # fmt: skip

    @cached_property
    def windows(self) -> list[DesktopWindow]:
        """Windows that were open, in the order in which they appeared, each with its time."""
        times: dict[tuple[str, str], float] = {}
        for seconds, rows in self._spans("windows.jsonl", "windows"):
            for title, program in {(str(one.get("title", "")), str(one.get("class", ""))) for one in rows}:
                times[title, program] = times.get((title, program), 0.0) + seconds
        return [DesktopWindow(title, program, round(seconds, 3)) for (title, program), seconds in times.items()]

    @cached_property
    def processes(self) -> list[DesktopProcess]:
        """Programs that ran in the agent's box, each with its time."""
        times: dict[str, float] = {}
        for seconds, rows in self._spans("processes.jsonl", "processes"):
            for path in {str(one.get("path", "")) for one in rows}:
                times[path] = times.get(path, 0.0) + seconds
        return [DesktopProcess(path, round(seconds, 3)) for path, seconds in times.items()]

    def used(self, pattern: str) -> float:
        """Return for how many seconds a program ran whose path matches a glob, such as `*/soffice.bin`."""
        return sum(one.seconds for one in self.processes if fnmatchcase(one.path, pattern))

    def acts(self, *actions: str) -> list[DesktopStep]:
        """Return the steps that were carried out, those with these names of actions, or all."""
        return [one for one in self.steps if not one.error and (not actions or one.action in actions)]

    def _spans(self, name: str, key: str) -> Iterator[tuple[float, list[dict[str, Any]]]]:
        """Yield the rows of each event with the seconds until the next."""
        events = [(datetime.fromisoformat(row["at"]), row[key]) for row in self._rows(name)]
        end = [at for at, _ in events[1:]]
        for (at, rows), until in zip(events, [*end, self._end(events)], strict=False):
            yield max(0.0, (until - at).total_seconds()), rows

    def _end(self, events: list[tuple[datetime, Any]]) -> datetime:
        last = [datetime.fromisoformat(row["ended"]) for row in self._rows("actions.jsonl") if "ended" in row]
        return last[-1] if last else events[-1][0] if events else datetime.min

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        path = self._folder / name if self._folder is not None else None
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                yield json.loads(line)
