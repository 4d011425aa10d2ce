"""What an agent saw of its browser, and what colleagues answered, as a trial's page shows both.

The record is the platform's, its content is not: addresses, titles and messages are whatever pages and agents wrote,
and are shown as text, cut. The pictures were read and written anew in a box when they were taken; here each is a file
under a name of ours, and one whose head is no JPEG's of a sensible size is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.records import Entry, Submission
from worksample.store import Store

ACTIONS, COLLEAGUES = "actions.jsonl", "colleagues.jsonl"
RECORD = 32 << 20
LARGEST = 4 << 20
"""Bytes of a picture."""
SIDE = 4096
MOST = 200
"""Pictures, and messages."""
CUT = 300
_SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG after which its size stands."""


@dataclass(frozen=True, slots=True)
class ScreenAction:
    """One action, in words."""

    number: int
    action: str
    given: str = ""
    error: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScreenPicture:
    """A picture, and the actions after which the browser looked so. `image`: "" where none was taken."""

    deeds: tuple[ScreenAction, ...]
    image: str = ""
    width: int = 0
    height: int = 0
    title: str = ""
    url: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class ColleagueLine:
    """A message that a colleague heard, and the answer; `heard` is empty where the colleague spoke unasked, or is
    played by a person, whose words are kept as they are said.
    """

    colleague: str
    to: str
    place: str
    heard: str
    said: str
    clock: str = ""
    did: tuple[str, ...] = ()
    person: bool = False


@dataclass(frozen=True, slots=True)
class TrialScreens:
    """`left_out` actions follow those that are shown."""

    screens: tuple[ScreenPicture, ...] = ()
    left_out: int = 0
    said: tuple[ColleagueLine, ...] = ()
    unsaid: int = 0


def shown_of(store: Store, submission: Submission | None, site: Path, root: str) -> TrialScreens:
    """Both of a submission; empty where it has neither. Pictures are written below `site/files/`."""
    browser, colleagues = _files(store, submission, "browser"), _files(store, submission, "colleagues")
    rows = [row for row in _rows(store, browser.get(ACTIONS)) if "action" in row]
    screens: list[ScreenPicture] = []
    shown = 0
    for deeds, last, digest in _alike(rows, browser):
        if len(screens) >= MOST:
            break
        shown += len(deeds)
        image, size = _picture(store, digest, site, root)
        title, url, at = (_shorten(last.get(key)) for key in ("title", "url", "at"))
        screens.append(ScreenPicture(tuple(deeds), image, *size, title, url, at[11:19]))
    said = [_colleague_line(row) for row in _rows(store, colleagues.get(COLLEAGUES)) if "colleague" in row]
    return TrialScreens(tuple(screens), len(rows) - shown, tuple(said[:MOST]), max(0, len(said) - MOST))


def _alike(
    rows: list[dict[str, Any]], files: Mapping[str, Entry]
) -> Iterator[tuple[list[ScreenAction], dict[str, Any], str | None]]:
    """Actions in a row after which the same was to be seen, the last of them, and the picture's digest."""
    deeds: list[ScreenAction] = []
    last: dict[str, Any] = {}
    digest: str | None = None
    for row in rows:
        entry = files.get(str(row.get("screen", "")))
        found = entry.blob if entry is not None and entry.size <= LARGEST else None
        if deeds and found != digest:
            yield deeds, last, digest
            deeds = []
        deeds.append(_deed(row))
        last, digest = row, found
    if deeds:
        yield deeds, last, digest


def _deed(row: Mapping[str, Any]) -> ScreenAction:
    given, element = row.get("with"), _shorten(row.get("element"))
    pairs = given.items() if isinstance(given, dict) else ()
    words = [element if key == "bid" and element else f"{key} {_shorten(value)}" for key, value in pairs]
    remarks = row.get("remarks")
    told = tuple(_shorten(one) for one in remarks[:20]) if isinstance(remarks, list) else ()
    number = row.get("n")
    return ScreenAction(
        number if isinstance(number, int) else 0,
        _shorten(row["action"]),
        ", ".join(words),
        _shorten(row.get("error")),
        told,
    )


def _colleague_line(row: Mapping[str, Any]) -> ColleagueLine:
    room = _shorten(row.get("room"))
    did = row.get("did")
    done = tuple(f"{_shorten(key)}: {_shorten(value)}" for key, value in did.items()) if isinstance(did, dict) else ()
    return ColleagueLine(
        _shorten(row["colleague"]), _shorten(row.get("by") or row.get("to")), f"in {room}" if room else "directly",
        _shorten(row.get("heard"), 2000), _shorten(row.get("said"), 2000),
        _shorten(row.get("answered") or row.get("began") or row.get("clock"))[:16].replace("T", " "), done,
        row.get("person") is True,
    )  # fmt: skip


def _picture(store: Store, digest: str | None, site: Path, root: str) -> tuple[str, tuple[int, int]]:
    if digest is None:
        return "", (0, 0)
    data = store.blobs.read(digest)
    size = jpeg_size(data)
    if size is None or len(data) > LARGEST or max(size) > SIDE:
        return "", (0, 0)
    target = site / "files" / f"{digest}.jpg"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return f"{root}files/{digest}.jpg", size


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Width and height, as a JPEG's head says them; None where it is no such head."""
    at = 2
    while data.startswith(b"\xff\xd8\xff") and at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in _SIZES:
            height, width = int.from_bytes(data[at + 5 : at + 7], "big"), int.from_bytes(data[at + 7 : at + 9], "big")
            return (width, height) if width and height else None
        if length < 2 or not 0xC0 <= marker < 0xFF:
            return None
        at += 2 + length
    return None


def _files(store: Store, submission: Submission | None, part: str) -> dict[str, Entry]:
    found = submission.parts.get(part) if submission else None
    return {one.path: one for one in store.manifest(found.manifest).files} if found else {}


def _rows(store: Store, entry: Entry | None) -> Iterator[dict[str, Any]]:
    """The lines of a record; where it is larger than is read, or damaged, those before that."""
    if entry is None or entry.blob is None:
        return
    for line in store.blobs.read(entry.blob, limit=RECORD).splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(row, dict):
            yield row


def _shorten(value: object, most: int = CUT) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}…"
