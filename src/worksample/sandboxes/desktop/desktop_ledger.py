"""The record of a trial's desktop: each action with the screen before and after it, and a film of the whole."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from worksample.files import Sink
from worksample.files.scratch_folder import scratch_folder
from worksample.records import CaptureStatus, Entry, Manifest, SubmissionPart, canonical, now
from worksample.store import put_canonical

PART = "desktop"
ACTIONS, WINDOWS, PROCESSES, SCREENS, FILM = "actions.jsonl", "windows.jsonl", "processes.jsonl", "screens", "film.mp4"
MOST_ACTIONS, MOST_EVENTS = 20_000, 20_000
MOST_SCREENS = 512 << 20
"""Maximum bytes of all pictures of a trial. After this limit, actions are recorded without pictures."""
LONGEST = 4_000


class DesktopLedger:
    """The record of one trial's desktop. Rows are held in this process and pictures in a folder of the host, so that
    nothing in a box can write to either.
    """

    def __init__(self) -> None:
        self.actions: list[dict[str, Any]] = []
        self.windows: list[dict[str, Any]] = []
        self.processes: list[dict[str, Any]] = []
        self.about: dict[str, Any] = {}
        """Properties of the desktop, such as its size. The first line of the actions."""
        self.film = ""
        """Why there is no complete film; "" if there is one."""
        self._pictures: dict[str, int] = {}
        self._size = self._left = 0
        self._made: AbstractContextManager[Path] = scratch_folder("screens")
        self.folder = self._made.__enter__()

    def add_picture(self, picture: bytes) -> str:
        """Store a picture and return its name in the record; "" if it could not be stored. A picture that is stored
        already is not stored again. May block.
        """
        name = f"{hashlib.sha256(picture).hexdigest()[:20]}.jpg"
        if name not in self._pictures:
            if self._size + len(picture) > MOST_SCREENS:
                return ""
            try:
                (self.folder / name).write_bytes(picture)
            except OSError:  # a full disk: the trial goes on, and the row says that the picture is missing
                with contextlib.suppress(OSError):
                    (self.folder / name).unlink(missing_ok=True)
                return ""
            self._pictures[name] = len(picture)
            self._size += len(picture)
        return f"{SCREENS}/{name}"

    def add_action(self, action: str, given: Mapping[str, Any], began: float, row: Mapping[str, Any]) -> dict[str, Any]:
        """Record an action that began at `began` on the monotonic clock, and return its row."""
        number = len(self.actions) + self._left + 1
        seconds = round(time.monotonic() - began, 3)
        added = {"n": number, "at": now().isoformat(), "seconds": seconds, "action": action, "with": _plain(given)}
        added |= {key: value for key, value in row.items() if value not in ("", None)}
        if len(self.actions) < MOST_ACTIONS:
            self.actions.append(added)
        else:
            self._left += 1
        return added

    def add_windows(self, windows: Sequence[Mapping[str, Any]]) -> None:
        """Record the windows that are open from now on, unless they are the same as before."""
        _add_event(self.windows, "windows", [_plain(one) for one in windows])

    def add_processes(self, processes: Sequence[Mapping[str, Any]]) -> None:
        """Record the processes that run from now on, unless they are the same as before."""
        _add_event(self.processes, "processes", [_plain(one) for one in processes])

    def end(self) -> None:
        """Note when the desktop's record ends."""
        self.about["ended"] = self.about.get("ended") or now().isoformat()

    def part(self, sink: Sink) -> SubmissionPart:
        """Return the record as a part of a submission. The folder of the pictures is then removed."""
        rows = [
            {
                **({"ended": self.about["ended"]} if "ended" in self.about else {}),
                "desktop": self.about,
                "film": self.film or "complete",
            },
            *self.actions,
        ]
        rows += [{"left_out": self._left}] if self._left else []
        files: dict[str, bytes | Path] = {f"{SCREENS}/{name}": self.folder / name for name in self._pictures}
        files |= {ACTIONS: _lines(rows), WINDOWS: _lines(self.windows), PROCESSES: _lines(self.processes)}
        if (self.folder / FILM).is_file():
            files[FILM] = self.folder / FILM
        try:
            entries = []
            for name, source in sorted(files.items()):
                data = source.read_bytes() if isinstance(source, Path) else source
                entries.append(Entry(path=name, size=len(data), blob=sink.put(data)))
        finally:
            self.close()
        digest = put_canonical(sink, Manifest(entries=tuple(entries)).plain())
        size = sum(one.size for one in entries)
        return SubmissionPart(manifest=digest, status=CaptureStatus.COMPLETE, files=len(entries), size=size)

    def close(self) -> None:
        """Remove the folder of the pictures. Idempotent."""
        self._made.__exit__(None, None, None) if self.folder.exists() else None


def _add_event(rows: list[dict[str, Any]], key: str, value: list[Any]) -> None:
    if len(rows) < MOST_EVENTS and (not rows or rows[-1][key] != value):
        rows.append({"at": now().isoformat(), key: value})


def _plain(value: Any) -> Any:
    """Return a value as JSON types, with texts cut to LONGEST characters."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()[:LONGEST]
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value[:200]]
    return value


def _lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(canonical(row) + b"\n" for row in rows)
