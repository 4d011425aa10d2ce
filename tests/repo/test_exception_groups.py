"""Peculiarities of Python 3.11.2, which Debian 12 has."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "tools"])
def test_nothing_is_raised_within_except_star(folder: str) -> None:
    """There it is put into an exception group of its own, which no caller expects."""
    found = [
        f"{path.relative_to(ROOT)}:{raised.lineno}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "except*" in (text := path.read_text(encoding="utf-8", errors="replace"))
        for starred in ast.walk(ast.parse(text))
        if isinstance(starred, ast.TryStar)
        for handler in starred.handlers
        for raised in ast.walk(handler)
        if isinstance(raised, ast.Raise)
    ]
    assert found == []
