"""Screenshots of an agent's browser and desktop, and messages with colleagues, as shown on the page of a trial.

The platform wrote the record of these, but not its content. Addresses, titles and messages come from web pages and
agents and are shown as shortened text. Pictures were re-encoded in a box when they were taken. Each becomes a file with
a name chosen by the platform. A file without a JPEG header of plausible size is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.records import Entry, Submission
from worksample.store import Store

ACTIONS, COLLEAGUES, FILM = "actions.jsonl", "colleagues.jsonl", "film.mp4"
RECORD = 32 << 20
LARGEST = 4 << 20
"""Maximum size of a picture in bytes."""
LARGEST_FILM = 64 << 20
"""Maximum size in bytes of a film that the site shows. Larger films stay in the store."""
SIDE = 4096
MOST = 200
"""Maximum number of pictures, and maximum number of messages, on one page."""
CUT = 300
_SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""JPEG markers that are followed by the width and height of the picture."""


@dataclass(frozen=True, slots=True)
class ScreenAction:
    """An action of the agent in its browser, described in words."""

    number: int
    action: str
    given: str = ""
    error: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScreenPicture:
    """A picture of the browser, and the actions after which the browser showed it. `image` is "" if no picture was
    taken.
    """

    deeds: tuple[ScreenAction, ...]
    image: str = ""
    width: int = 0
    height: int = 0
    title: str = ""
    url: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class ColleagueLine:
    """A message to a colleague and the colleague's answer. `heard` is the message. It is empty if the colleague wrote
    without being asked, or is played by a person; a person's messages are stored as written.
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
    """Pictures and messages of a trial. `left_out` is the number of further actions that are not shown."""

    screens: tuple[ScreenPicture, ...] = ()
    left_out: int = 0
    desktop: tuple[ScreenPicture, ...] = ()
    desktop_left_out: int = 0
    film: str = ""
    """Address of the film of the desktop; "" if there is none."""
    said: tuple[ColleagueLine, ...] = ()
    unsaid: int = 0


def screens_of(store: Store, submission: Submission | None, site: Path, root: str) -> TrialScreens:
    """Return the pictures and messages of a submission. The result is empty if the submission has neither. Pictures are
    written below `site/files/`.
    """
    browser, colleagues = _files(store, submission, "browser"), _files(store, submission, "colleagues")
    desktop = _files(store, submission, "desktop")
    pages, unseen = _screens(store, browser, "screen", site, root)
    screens, left = _screens(store, desktop, "after", site, root)
    said = [_colleague_line(row) for row in _rows(store, colleagues.get(COLLEAGUES)) if "colleague" in row]
    film = _film(store, desktop.get(FILM), site, root)
    return TrialScreens(pages, unseen, screens, left, film, tuple(said[:MOST]), max(0, len(said) - MOST))


def _screens(
    store: Store, files: Mapping[str, Entry], key: str, site: Path, root: str
) -> tuple[tuple[ScreenPicture, ...], int]:
    """Return the pictures of a record, and the number of actions that are not shown. `key` names the field with the
    picture after an action.
    """
    rows = [row for row in _rows(store, files.get(ACTIONS)) if "action" in row]
    screens: list[ScreenPicture] = []
    shown = 0
    for deeds, last, digest in _group_by_picture(rows, files, key):
        if len(screens) >= MOST:
            break
        shown += len(deeds)
        image, size = _picture(store, digest, site, root)
        title, url, at = (_shorten(last.get(name)) for name in ("title", "url", "at"))
        screens.append(ScreenPicture(tuple(deeds), image, *size, title, url, at[11:19]))
    return tuple(screens), len(rows) - shown


def _group_by_picture(
    rows: list[dict[str, Any]], files: Mapping[str, Entry], key: str
) -> Iterator[tuple[list[ScreenAction], dict[str, Any], str | None]]:
    """Yield successive actions after which the screen showed the same picture, the last of their rows, and the
    picture's digest.
    """
    deeds: list[ScreenAction] = []
    last: dict[str, Any] = {}
    digest: str | None = None
    for row in rows:
        entry = files.get(str(row.get(key, "")))
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


def _film(store: Store, entry: Entry | None, site: Path, root: str) -> str:
    """Write the film of a desktop below `site/files/` and return its address. The platform encoded the film itself."""
    if entry is None or entry.blob is None or entry.size > LARGEST_FILM:
        return ""
    target = site / "files" / f"{entry.blob}.mp4"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(store.blobs.read(entry.blob))
    return f"{root}files/{entry.blob}.mp4"


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height in a JPEG header. Return None if the data do not begin with a JPEG header."""
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
    """Yield the lines of a record. If the record is too large or damaged, only the lines before that point are
    returned.
    """
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
