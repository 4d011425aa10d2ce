"""The agent's actions in its browser, for graders. The platform recorded these actions during the trial."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Visit:
    """A page that the agent's browser loaded. `action` is the number of the action that loaded the page. `status` is
    the HTTP status, or 0 if it is unknown.
    """

    at: str
    url: str
    action: int
    tab: int = 0
    status: int = 0


@dataclass(frozen=True, slots=True)
class BrowserStep:
    """An action of the agent in its browser.

    `url` and `title` describe the page after the action. `error` says why the action failed. `screen` is the file name
    of the screenshot. `element` describes the page element that the arguments (`given`) refer to, such as `button
    'Save'`.
    """

    number: int
    at: str
    action: str
    given: dict[str, Any] = field(default_factory=dict)
    url: str = ""
    title: str = ""
    error: str = ""
    screen: str = ""
    remarks: tuple[str, ...] = ()
    element: str = ""


class Browsed:
    """The browser record of a submission. The record is empty if the agent used no browser, for example in a
    control.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @property
    def acts(self) -> list[BrowserStep]:
        """The agent's actions in the browser, oldest first."""
        return [
            BrowserStep(
                row["n"], row["at"], row["action"], row.get("with", {}), row.get("url", ""), row.get("title", ""),
                row.get("error", ""), row.get("screen", ""), tuple(row.get("remarks", ())),
                row.get("element", ""),
            )
            for row in self._rows("actions.jsonl")
            if "action" in row
        ]  # fmt: skip

    @property
    def visits(self) -> list[Visit]:
        """The pages that the browser loaded, oldest first, including pages that answered with an error."""
        return [Visit(**row) for row in self._rows("navigation.jsonl")]

    def visited(self, pattern: str) -> list[Visit]:
        """Return the loaded pages whose address matches a glob, such as `http://tracker:8091/issues/*`.

        Pages with an HTTP status of 400 or above are left out.
        """
        return [one for one in self.visits if fnmatchcase(one.url, pattern) and one.status < 400]

    @property
    def messages(self) -> list[str]:
        """The texts of the messages that the agent sent with the action `send_msg`, oldest first."""
        return [str(one.given.get("text", "")) for one in self.acts if one.action == "send_msg" and not one.error]

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        path = self._folder / name if self._folder is not None else None
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                yield json.loads(line)
