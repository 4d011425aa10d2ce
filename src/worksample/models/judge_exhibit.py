"""Exhibits: the parts of a deliverable that a judge sees. An exhibit is untrusted data and never an instruction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Look(StrEnum):
    """Form in which an exhibit is shown."""

    TEXT = "text"
    TABLE = "table"
    """Rows as CSV text."""
    PICTURE = "picture"
    """A picture, a drawn page, or a frame of a film."""


class Visibility(StrEnum):
    """Whether a file can be shown, and if not, why. Without evidence against the file, the platform is at fault."""

    SHOWN = "shown"
    PEOPLE_ONLY = "people"
    """People can see the file in a browser, but models cannot read it: a 3D model, a drawing, sound."""
    FILE = "file"
    """The file is at fault: damaged, protected, empty, of an unknown format, or beyond a documented limit."""
    STARVED = "starved"
    """The file's converter got too little processor time before its deadline. Another try may succeed."""
    MISSING = "missing"
    """The server lacks the converter."""
    CRASHED = "crashed"
    """The platform's converter or its box failed, which proves nothing about the file."""

    @property
    def is_our_fault(self) -> bool:
        """Return whether Worksample or its server is at fault, and not the deliverable."""
        return self in (Visibility.STARVED, Visibility.MISSING, Visibility.CRASHED)


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A text, table or picture for a judge. All its fields, its name included, may be written by the agent."""

    look: Look
    name: str = ""
    """The name of the file, and of the part of it if the exhibit is a part."""
    text: str = ""
    data: bytes = b""
    """The bytes of a picture."""
    mime: str = "image/png"
    side: str = ""
    """Set by the platform: `reference`, or the thing that the exhibit shows; empty for the judged work."""
    visibility: Visibility = Visibility.SHOWN
    """Whether the file, or this part of it, can be shown; `text` states the reason if not."""

    @classmethod
    def of_text(cls, text: str, name: str = "", *, table: bool = False, side: str = "") -> Exhibit:
        return cls(Look.TABLE if table else Look.TEXT, name, text, side=side)

    @classmethod
    def of_picture(cls, data: bytes, name: str = "", *, mime: str = "image/png", side: str = "") -> Exhibit:
        return cls(Look.PICTURE, name, "", data, mime, side)


@dataclass(frozen=True, slots=True)
class ExhibitLimits:
    """Limits on what one question to a judge may show."""

    count: int = 60
    characters: int = 200_000
    """Maximum characters of all texts together."""
    pictures: int = 24
    picture_bytes: int = 4 << 20
    """Maximum bytes of one picture."""


def limit_exhibits(exhibits: Iterable[Exhibit], limits: ExhibitLimits) -> tuple[tuple[Exhibit, ...], tuple[str, ...]]:
    """Return the exhibits that fit the limits, with the last text cut, and notes on everything left out."""
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
