"""Exhibits: the parts of a deliverable that are shown to a judge. An exhibit is untrusted data, never an
instruction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Look(StrEnum):
    """Form in which an exhibit is shown to a judge."""

    TEXT = "text"
    TABLE = "table"
    """Rows of a table, as CSV text."""
    PICTURE = "picture"
    """A picture: an image, a rendered page, or a frame of a film."""


class Visibility(StrEnum):
    """Visibility of a file to a judge: whether it can be shown and, if not, why. If nothing shows that the file is at
    fault, the platform is at fault.
    """

    SHOWN = "shown"
    PEOPLE_ONLY = "people"
    """People can see or hear the file in a browser, but models cannot read it, such as a 3D model, a drawing or
    sound.
    """
    FILE = "file"
    """The file itself is at fault: it is damaged, protected or empty, has an unknown format, or exceeds a documented
    limit.
    """
    STARVED = "starved"
    """The program that converts the file got too little processor time before its deadline. Another try may succeed."""
    MISSING = "missing"
    """The program that converts such files is not installed on the server."""
    CRASHED = "crashed"
    """The program that converts the file, or its box, crashed. This does not prove that the file is at fault."""

    @property
    def is_our_fault(self) -> bool:
        """True if the platform or its server is at fault, and not the deliverable."""
        return self in (Visibility.STARVED, Visibility.MISSING, Visibility.CRASHED)


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A text, table or picture for a judge. The agent may have written any of its fields, including the name."""

    look: Look
    name: str = ""
    """The name of the file. If the exhibit is only a part of the file, the name of the part follows."""
    text: str = ""
    data: bytes = b""
    """The bytes of the picture, if the exhibit is a picture."""
    mime: str = "image/png"
    side: str = ""
    """What the exhibit shows, set by the platform: "" for the judged work, `reference` for the reference, or another
    name.
    """
    visibility: Visibility = Visibility.SHOWN
    """Whether the file, or this part of the file, can be shown. If not, `text` states the reason."""

    @classmethod
    def of_text(cls, text: str, name: str = "", *, table: bool = False, side: str = "") -> Exhibit:
        return cls(Look.TABLE if table else Look.TEXT, name, text, side=side)

    @classmethod
    def of_picture(cls, data: bytes, name: str = "", *, mime: str = "image/png", side: str = "") -> Exhibit:
        return cls(Look.PICTURE, name, "", data, mime, side)


@dataclass(frozen=True, slots=True)
class ExhibitLimits:
    """Limits for the exhibits of one question to a judge."""

    count: int = 60
    characters: int = 200_000
    """Maximum number of characters of all texts together."""
    pictures: int = 24
    picture_bytes: int = 4 << 20
    """Maximum size of one picture in bytes."""


def limit_exhibits(exhibits: Iterable[Exhibit], limits: ExhibitLimits) -> tuple[tuple[Exhibit, ...], tuple[str, ...]]:
    """Return the exhibits that fit the limits, and notes on everything that was left out. The last text that fits is
    shortened if necessary.
    """
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
