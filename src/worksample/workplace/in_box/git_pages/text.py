"""Texts of a repository as HTML: Markdown without raw HTML, highlighted code, and differences line by line."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_MARKDOWN, LONGEST_CODE = 200_000, 400_000
"""Maximum characters that are rendered as Markdown or highlighted. A longer text is shown as plain text."""
MOST_LINES, MOST_DIFF_LINES = 20_000, 4_000
"""Maximum lines of a file, and maximum lines of all differences on one page."""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_SCHEMES = ("http://", "https://", "mailto:", "#", "/")


def markdown(text: str) -> str:
    """Return Markdown as HTML. Raw HTML is shown as text, pictures as their names, and links lead to pages and mail."""
    from markdown_it import MarkdownIt

    if len(text) > LONGEST_MARKDOWN:
        return f"<pre>{html.escape(text[:LONGEST_MARKDOWN])}</pre>"
    made = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20})
    made.enable(["table", "strikethrough"]).disable("image")
    made.validateLink = lambda url: url.strip().lower().startswith(_SCHEMES)  # type: ignore[method-assign]
    return str(made.render(text))


def code_lines(name: str, text: str) -> list[str]:
    """Return the lines of a file as HTML, highlighted by the language that its name tells."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    plain = [html.escape(line) for line in lines[:MOST_LINES]]
    if len(text) > LONGEST_CODE or len(lines) > MOST_LINES:
        return plain
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return plain
    found = highlight("\n".join(lines), lexer, HtmlFormatter(nowrap=True)).split("\n")
    return found[: len(plain)] if len(found) >= len(plain) else plain


@dataclass(frozen=True)
class DiffLine:
    """A line of a difference. `kind` is `added`, `removed`, `same` or `hunk`; a number is 0 on the other side."""

    kind: str
    old: int
    new: int
    text: str
    notes: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class FileDiff:
    """The difference of one file, with the notes on its lines. `cut` is the number of lines that are not shown."""

    row: Mapping[str, Any]
    lines: tuple[DiffLine, ...]
    added: int
    removed: int
    cut: int = 0

    @property
    def path(self) -> str:
        """Path of the file, or both paths of a renamed file."""
        old, new = self.row["old_path"], self.row["new_path"]
        return str(new if old == new else f"{old} → {new}")


@dataclass
class _Room:
    left: int = field(default=MOST_DIFF_LINES)


def file_diffs(rows: Iterable[Mapping[str, Any]], notes: Iterable[Mapping[str, Any]] = ()) -> list[FileDiff]:
    """Return the differences of files line by line. Notes with a position stand at their line."""
    at: dict[tuple[str, int, int], list[Mapping[str, Any]]] = {}
    for one in notes:
        place = one.get("position") or {}
        key = (str(place.get("new_path")), int(place.get("old_line") or 0), int(place.get("new_line") or 0))
        at.setdefault(key, []).append(one)
    room = _Room()
    return [_file_diff(row, at, room) for row in rows]


def _file_diff(
    row: Mapping[str, Any], at: Mapping[tuple[str, int, int], list[Mapping[str, Any]]], room: _Room
) -> FileDiff:
    found: list[DiffLine] = []
    old = new = added = removed = cut = 0
    for line in str(row["diff"]).split("\n")[:-1]:
        kind = {"@": "hunk", "+": "added", "-": "removed", " ": "same"}.get(line[:1], "")
        if not kind:
            continue  # "\ No newline at end of file"
        if kind == "hunk" and (match := _HUNK.match(line)) is not None:
            old, new = int(match[1]) - 1, int(match[2]) - 1
        old, new = old + (kind in ("removed", "same")), new + (kind in ("added", "same"))
        added, removed = added + (kind == "added"), removed + (kind == "removed")
        if room.left <= 0:
            cut += 1
            continue
        room.left -= 1
        sides = (old if kind in ("removed", "same") else 0, new if kind in ("added", "same") else 0)
        text = line if kind == "hunk" else line[1:]
        # A note names the new line, or the old line if the line is removed.
        key = (str(row["new_path"]), sides[0] if kind == "removed" else 0, sides[1])
        found.append(DiffLine(kind, *sides, text[:5000], tuple(at.get(key, ())) if kind != "hunk" else ()))
    return FileDiff(row, tuple(found), added, removed, cut)
