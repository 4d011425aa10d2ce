"""The record of a trial's browser: each action with the text shown to the agent, each loaded page, each screenshot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from worksample.files import Sink
from worksample.records import CaptureStatus, Entry, Manifest, SubmissionPart, canonical, now
from worksample.store import put_canonical

PART = "browser"
ACTIONS, NAVIGATION, SCREENS = "actions.jsonl", "navigation.jsonl", "screens"
MOST_ACTIONS, MOST_VISITS = 20_000, 50_000
MOST_SCREENS = 256 << 20
"""Maximum bytes of all screenshots of a trial together. After this limit, actions are recorded without a screenshot."""
LARGEST_SCREEN = 4 << 20
LONGEST, LONGEST_LINE = 4_000, 300
JPEG = b"\xff\xd8\xff"


class BrowserLedger:
    """The record of one trial's browser. The record is stored in this process, so nothing in a box can write to it."""

    def __init__(self, version: str = "") -> None:
        self.actions: list[dict[str, Any]] = []
        self.visits: list[dict[str, Any]] = []
        self.screens: dict[str, bytes] = {}
        self.version = version
        self._size = self._left = 0

    def add_action(
        self, action: str, given: Mapping[str, Any], answer: Mapping[str, Any], screen: bytes, seconds: float,
        element: str = "",
    ) -> None:  # fmt: skip
        """Record an action and its result. `answer` comes from a box, so long texts in `answer` are shortened and
        unknown values are dropped. `element` is the description of the action's element that the agent had seen.
        """
        number = len(self.actions) + self._left + 1
        visits = [visit for one in _list(answer, "navigations")[:100] if (visit := _visit(one, number))]
        self.visits += visits[: max(0, MOST_VISITS - len(self.visits))]
        if len(self.actions) >= MOST_ACTIONS:
            self._left += 1
            return
        row: dict[str, Any] = {"n": number, "at": now().isoformat(), "seconds": round(seconds, 3), "action": action}
        row["with"] = {key: _shorten(value) for key, value in given.items()}
        row |= {"element": element[:LONGEST_LINE]} if element else {}
        seen = answer.get("observation")
        shown = seen if isinstance(seen, Mapping) else {}
        row |= {key: _shorten(shown[key]) for key in ("url", "title") if shown.get(key)}
        row |= {key: _shorten(answer[key]) for key in ("error", "lost", "driver", "chromium") if answer.get(key)}
        if remarks := [_shorten(one) for one in _list(answer, "remarks")[:100]]:
            row["remarks"] = remarks
        if screen.startswith(JPEG) and len(screen) <= LARGEST_SCREEN and self._size + len(screen) <= MOST_SCREENS:
            row["screen"] = f"{SCREENS}/{number:05}.jpg"
            self.screens[row["screen"]] = screen
            self._size += len(screen)
        self.actions.append(row)

    def part(self, sink: Sink) -> SubmissionPart:
        """Return the record of the browser as a part of a submission."""
        rows = [*self.actions, {"left_out": self._left}] if self._left else self.actions
        begun = [{"browser": f"Chromium {self.version}"}] if self.version else []
        files = {ACTIONS: _lines([*begun, *rows]), NAVIGATION: _lines(self.visits), **self.screens}
        entries = tuple(Entry(path=name, size=len(data), blob=sink.put(data)) for name, data in sorted(files.items()))
        digest = put_canonical(sink, Manifest(entries=entries).plain())
        size = sum(len(data) for data in files.values())
        return SubmissionPart(manifest=digest, status=CaptureStatus.COMPLETE, files=len(files), size=size)


def _visit(one: Any, number: int) -> dict[str, Any] | None:
    if not isinstance(one, Mapping) or not isinstance(one.get("url"), str):
        return None
    at, tab, status = one.get("at"), one.get("tab"), one.get("status")
    moment = datetime.fromtimestamp(at, UTC) if isinstance(at, float) and 0 < at < 1e11 else now()
    row: dict[str, Any] = {"at": moment.isoformat(), "action": number, "url": one["url"][:LONGEST]}
    row |= {"tab": tab} if isinstance(tab, int) and abs(tab) < 1 << 31 else {}
    return row | ({"status": status} if isinstance(status, int) and 0 < status < 1000 else {})


def _shorten(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()[:LONGEST]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    if isinstance(value, list):
        return [_shorten(one) for one in value[:100]]
    return str(value)[:LONGEST]


def _list(answer: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = answer.get(key)
    return found if isinstance(found, list) else []


def _lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(canonical(row) + b"\n" for row in rows)
