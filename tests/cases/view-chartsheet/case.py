"""An outside case: a workbook with a chart on a sheet of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewing import material


def check(room: Path, request: pytest.FixtureRequest) -> None:
    _, views = material.shown(room, Path(__file__).parent)
    book = views["chartsheet.xlsx"]
    assert (book.kind, book.visibility, book.problem) == ("workbook", "shown", "")
    sheets = book.meta["sheets"]
    assert [(sheet["name"], sheet.get("chart", False)) for sheet in sheets] == [("Data", False), ("Chart1", True)]
    assert sheets[0]["formulas"] == 1 and book.meta["pages"] == book.meta["total"] == 2
