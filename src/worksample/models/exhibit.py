"""Exhibits: the parts of a deliverable that a judge is shown. They are data, whatever they say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Look(StrEnum):
    """How an exhibit is shown."""

    TEXT = "text"
    TABLE = "table"
    """Rows as CSV text."""
    PICTURE = "picture"
    """A picture, a drawn page, or a frame of a film."""


class Visibility(StrEnum):
    """Whether a file could be shown, and if not, whose fault it is. Without evidence against the file, it is ours."""

    SHOWN = "shown"
    PEOPLE_ONLY = "people"
    """People see it in a browser, but models cannot take it: a 3D model, a drawing, sound."""
    FILE = "file"
    """The file is at fault: damaged, protected, empty, of an unknown format, or beyond a documented limit."""
    STARVED = "starved"
    """Its converter got too little processor time before the deadline. Another try may succeed."""
    MISSING = "missing"
    """The server lacks the converter."""
    CRASHED = "crashed"
    """Our converter or its box failed, which says nothing about the file."""

    @property
    def ours(self) -> bool:
        """Whether Worksample or its server failed. The deliverable is then not at fault."""
        return self in (Visibility.STARVED, Visibility.MISSING, Visibility.CRASHED)


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One thing to look at. Everything in it, its name included, may be the agent's own words."""

    look: Look
    name: str = ""
    """The file's name, and which part of it this is."""
    text: str = ""
    data: bytes = b""
    """The bytes of a picture."""
    mime: str = "image/png"
    side: str = ""
    """Set by us: `reference`, or what it is an exhibit of; empty for the work that is judged."""
    visibility: Visibility = Visibility.SHOWN
    """Why a file or a part of it cannot be shown. `text` says so in words."""

    @classmethod
    def of_text(cls, text: str, name: str = "", *, table: bool = False, side: str = "") -> Exhibit:
        return cls(Look.TABLE if table else Look.TEXT, name, text, side=side)

    @classmethod
    def of_picture(cls, data: bytes, name: str = "", *, mime: str = "image/png", side: str = "") -> Exhibit:
        return cls(Look.PICTURE, name, "", data, mime, side)


@dataclass(frozen=True, slots=True)
class ExhibitLimits:
    """The most that one question may show."""

    count: int = 60
    characters: int = 200_000
    """Characters of all texts together."""
    pictures: int = 24
    picture_bytes: int = 4 << 20
    """Bytes of one picture."""


def within(exhibits: Iterable[Exhibit], limits: ExhibitLimits) -> tuple[tuple[Exhibit, ...], tuple[str, ...]]:
    """Return the exhibits that fit, with the last text cut, and notes on what was left out."""
    kept: list[Exhibit] = []
    left, pictures, cut, dropped = limits.characters, 0, 0, 0
    for exhibit in exhibits:
        if len(kept) >= limits.count:
            dropped += 1
        elif exhibit.look is Look.PICTURE:
            if pictures >= limits.pictures or len(exhibit.data) > limits.picture_bytes:
                dropped += 1
                continue
            pictures += 1
            kept.append(exhibit)
        else:
            cut += max(0, len(exhibit.text) - left)
            kept.append(replace(exhibit, text=exhibit.text[:left]))
            left = max(0, left - len(exhibit.text))
    said = [f"{dropped} further exhibits are not shown"] if dropped else []
    said += [f"{cut} characters of text are not shown"] if cut else []
    return tuple(kept), tuple(said)
