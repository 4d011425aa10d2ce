"""Questions of a grader to a judge model. The grader asks narrow questions about exhibits, and the platform returns the
answers.

The grading box has no keys and no network, so a question is sent through the broker (`kit/broker_client.py`, verb
`ask`). The exhibits reach the model as data between delimiters. The grader's code still computes the grade.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause, GraderError

from .broker_client import pack
from .check_score import Check
from .picture import read_image
from .text import read_text

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 2048
"""Maximum side length in pixels of a picture that a judge sees. Larger pictures are scaled down."""
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ppm")
PATIENCE = 6 * 3600.0
"""Maximum number of seconds to wait for a judge's answer. The platform's own limits normally stop the request much
earlier.
"""
KINDS = ("yes_no", "choice", "fields", "checklist", "pair")


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as an exhibit for a judge, with a name. `table` is true if the text is CSV."""

    text: str
    name: str = ""
    table: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge's answer. The type of `value` depends on the kind of question: bool (yes_no), one of the options
    (choice), a dict (fields, checklist), or `first`, `equal` or `second` (pair).
    """

    value: Any
    reason: str = ""
    quotes: tuple[str, ...] = ()
    """Passages that the judge quoted. A program found each of these passages in the exhibits."""

    @property
    def check(self) -> Check:
        """Return the answer as a check: 1 for yes and 0 for no, or the share of yes answers in a checklist. Raises
        GraderError for an answer of another kind.
        """
        if isinstance(self.value, bool):
            return Check.of(self.value, "" if self.value else self.reason or "the judge says no")
        if isinstance(self.value, dict) and all(isinstance(v, bool) for v in self.value.values()):
            missing = [name for name, value in self.value.items() if not value]
            said = f"the judge says no to {', '.join(missing)}: {self.reason}" if missing else ""
            return Check(1 - len(missing) / len(self.value), said)
        raise GraderError(
            "this judge's answer is not a yes or no, so it cannot become a score",
            next="read the answer's value instead",
            cause=Cause.GRADER_CRASH,
        )


def request(
    kind: str, question: str, exhibits: Sequence[Any], read: Callable[[Path], dict[str, Any]], *,
    options: Sequence[str] = (), items: Mapping[str, str] | None = None,
    fields: Mapping[str, Mapping[str, Any]] | None = None, second: Sequence[Any] = (), role: str = "",
    quotes: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Build the body of a question to a judge. Raises GraderError if `kind` is unknown or an exhibit has an unsupported
    type.

    read: a function that returns the exhibit for the path of a file.
    """
    if kind not in KINDS:
        raise GraderError(
            f"{kind!r} is not a kind of question", next=f"one of {', '.join(KINDS)}", cause=Cause.GRADER_CRASH
        )
    return {
        "kind": kind,
        "question": question,
        "exhibits": [_exhibit(e, read) for e in exhibits],
        "second": [_exhibit(e, read) for e in second],
        "options": list(options),
        "items": dict(items or {}),
        "fields": {name: dict(schema) for name, schema in (fields or {}).items()},
        "role": role,
        "quotes": quotes,
    }


def _exhibit(given: Any, read: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    if isinstance(given, str):
        return {"look": "text", "text": given}
    if isinstance(given, Shown):
        return {"look": "table" if given.table else "text", "text": given.text, "name": given.name}
    if isinstance(given, Path):
        return read(given)
    if hasattr(given, "thumbnail"):
        return {"look": "picture", "data": pack(png(given))}
    raise GraderError(
        f"a judge cannot be shown an object of type {type(given).__name__}",
        cause=Cause.GRADER_CRASH,
        next="pass a text, a Shown, a picture, or the path of a file of this case",
    )


def file_exhibit(path: Path, name: str) -> dict[str, Any]:
    """Return a file as an exhibit: a picture drawn again as PNG, CSV as a table, any other file as text. Raises
    UnreadableSource if the file cannot be read.
    """
    if path.suffix.lower() in PICTURES:
        return {"look": "picture", "name": name, "data": pack(png(read_image(path)))}
    table = path.suffix.lower() in (".csv", ".tsv")
    return {"look": "table" if table else "text", "name": name, "text": read_text(path)}


def png(picture: Image) -> bytes:
    """Return the pixels of a picture as PNG without metadata, scaled down to at most `SIDE` pixels per side."""
    drawn = picture.convert("RGB")
    drawn.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    drawn.save(out, "PNG")
    return out.getvalue()
