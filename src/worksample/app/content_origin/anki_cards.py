"""Anki flash cards: front and back, made by filling a note's fields into its templates as Anki does."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

_PART = re.compile(r"\{\{([#^/]?)\s*([^{}]{1,200}?)\s*\}\}")
_CLOZE = re.compile(r"\{\{c(\d{1,3})::(.*?)(?:::(.*?))?\}\}", re.DOTALL)
_SOUND = re.compile(r"\[sound:([^\]\n]{1,300})\]")
FACES = 20
"""Most cards shown of one note."""
LONGEST = 1 << 20
"""Most characters of one side of a card."""


def card_faces(kind: Mapping[str, Any], note: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return (card name, front, back) for each card of a note; the plain fields if the deck has no template."""
    names = [str(name) for name in kind.get("fields", [])]
    values = [str(value) for value in note.get("fields", [])]
    fields = dict(zip(names, values, strict=False)) | {"Tags": " ".join(map(str, note.get("tags", [])))}
    out = []
    for template in list(kind.get("templates", []))[:FACES]:
        front, back = str(template.get("front", "")), str(template.get("back", ""))
        for number in _clozes(front, values):
            shown = fill_template(front, fields, number, hide=True)
            behind = fill_template(back, fields | {"FrontSide": shown}, number, hide=False)
            label = str(template.get("name", "")) + (f" {number}" if number else "")
            out.append((label, shown, behind))
    if not out:
        rows = "".join(f"<p><b>{html.escape(n)}</b><br>{v}</p>" for n, v in zip(names, values, strict=False))
        out.append(("", rows, ""))
    return [(name, _sounds(front), _sounds(back)) for name, front, back in out[:FACES]]


def _clozes(front: str, values: list[str]) -> list[int]:
    """Return the numbers of a note's cloze gaps, one card each; [0] for a note without gaps."""
    if "cloze:" not in front:
        return [0]
    found = {int(match[1]) for value in values for match in _CLOZE.finditer(value)}
    return sorted(found)[:FACES] or [0]


def fill_template(template: str, fields: Mapping[str, str], cloze: int, *, hide: bool) -> str:
    """Fill a note's fields into a template: `{{Field}}`, `{{filter:Field}}`, `{{#Field}}`, `{{^Field}}`,
    `{{/Field}}`.
    """
    out, open_, size, at = list[str](), list[tuple[str, bool]](), 0, 0

    def append(text: str) -> None:
        nonlocal size
        if all(shown for _, shown in open_) and size < LONGEST:
            out.append(text)
            size += len(text)

    for match in _PART.finditer(template):
        append(template[at : match.start()])
        at = match.end()
        mark, name = match.groups()
        if mark in ("#", "^"):
            open_.append((name, bool(fields.get(name, "").strip()) == (mark == "#")))
        elif mark == "/":
            if open_ and open_[-1][0] == name:
                open_.pop()
        else:
            append(_field(name, fields, cloze, hide=hide))
    append(template[at:])
    return "".join(out)


def _field(said: str, fields: Mapping[str, str], cloze: int, *, hide: bool) -> str:
    *filters, name = said.split(":")
    value = fields.get(name.strip(), "")
    if "cloze" in filters:
        return _CLOZE.sub(lambda m: _replace_cloze(m, cloze, hide=hide), value)
    return "" if "type" in filters and hide else value


def _replace_cloze(match: re.Match[str], cloze: int, *, hide: bool) -> str:
    number, text, hint = match.groups()
    if int(number) != cloze:
        return text
    return f"<b>[{hint or '...'}]</b>" if hide else f"<b>{text}</b>"


def _sounds(markup: str) -> str:
    return _SOUND.sub(lambda m: f'<audio controls src="{html.escape(m[1])}"></audio>', markup)
