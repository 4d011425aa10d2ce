"""Outside cases: files that only speak of PDFs."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewing import material

MENTIONS = {
    "m.csv": "type,magic\npdf,%PDF-\nzip,PK\n",
    "m.html": "<!doctype html><title>x</title><p>A PDF begins with %PDF-1.4</p>",
    "m.md": "# Notes\n\nA PDF begins with `%PDF-1.7` in its first line.\n",
    "m.txt": 'MAGIC = b"%PDF-"\n',
}


def check(room: Path, request: pytest.FixtureRequest) -> None:
    (room / "in").mkdir()
    for name, text in MENTIONS.items():
        (room / "in" / name).write_text(text, encoding="utf-8")
    _, views = material.shown(room, room / "in")
    found = {name: (view.kind, view.problem) for name, view in views.items()}
    assert found == {"m.csv": ("table", ""), "m.html": ("site", ""), "m.md": ("markdown", ""), "m.txt": ("text", "")}
