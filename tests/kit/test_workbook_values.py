"""Workbooks that spreadsheet programs open and openpyxl refuses because of parts without values."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from worksample.errors import Cause, GraderError
from worksample.kit.source import UnreadableSource
from worksample.kit.workbook import read_cells

SHEET, STYLES, BOOK = "xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml"
SECOND = datetime.datetime(2024, 1, 3, 3, 4)
ROWS: list[list[Any]] = [["name", "amount", "when"], ["Ann", 1.5, datetime.datetime(2024, 1, 2)], ["Bob", 2, SECOND]]
Edit = Callable[[str, bytes], tuple[str, bytes]]


def _book(*, chart: bool = False, epoch: datetime.datetime | None = None) -> bytes:
    book = openpyxl.Workbook()
    if epoch is not None:
        book.epoch = epoch
    sheet = book.active
    assert sheet is not None
    for row in ROWS:
        sheet.append(row)
    sheet.append(["Sum", "=SUM(B2:B3)", None])
    if chart:
        book.create_chartsheet("Chart", 0)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def _edited(data: bytes, edit: Edit) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as parts, zipfile.ZipFile(made, "w") as kept:
        for name in parts.namelist():
            kept.writestr(*edit(name, parts.read(name)))
    return made.getvalue()


def _replaced(part: str, old: str, new: str) -> Edit:
    def edit(name: str, data: bytes) -> tuple[str, bytes]:
        if name == part:
            assert old.encode() in data
            data = data.replace(old.encode(), new.encode())
        return name, data

    return edit


def _after_cells(xml: str) -> Edit:
    return _replaced(SHEET, "</sheetData>", f"</sheetData>{xml}")


def _strict(name: str, data: bytes) -> tuple[str, bytes]:
    old = rb"http://schemas\.openxmlformats\.org/(officeDocument|spreadsheetml)/2006/"
    return name, re.sub(old, rb"http://purl.oclc.org/ooxml/\1/", data)


def _backslashes(name: str, data: bytes) -> tuple[str, bytes]:
    return name.replace("/", "\\"), data


LIST = '<dataValidations count="1"><dataValidation type="list" sqref="A1:A1048576 B:B"><formula1>"a"</formula1>'
EDITS: dict[str, Edit] = {
    "validation": _after_cells(LIST + "</dataValidation></dataValidations>"),
    "rule": _after_cells(
        '<conditionalFormatting sqref="A1:A3"><cfRule type="bogus" priority="1"/></conditionalFormatting>'
    ),
    "hyperlink": _after_cells('<hyperlinks><hyperlink ref="A:A" display="x" tooltip="y" bogus="1"/></hyperlinks>'),
    "page": _after_cells('<pageMargins left="a" right="b" top="c" bottom="d" header="e" footer="f"/>'),
    "view": _replaced(SHEET, "<sheetViews>", '<sheetViews><sheetView workbookViewId="no" view="odd"/>'),
    "fill": _replaced(STYLES, 'patternType="gray125"', 'patternType="grey125"'),
    "names": _replaced(
        BOOK, "</sheets>", '</sheets><definedNames><definedName bogus="1">x</definedName></definedNames>'
    ),
    "properties": _replaced("docProps/core.xml", "</dcterms:created>", "x</dcterms:created><odd/>"),
    "strict": _strict,
    "backslashes": _backslashes,
    "both": lambda name, data: _backslashes(*_strict(name, data)),
}


@pytest.mark.parametrize("kind", EDITS)
def test_values_are_read_without_other_parts(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(_edited(_book(), EDITS[kind]))
    assert read_cells(path)[:3] == ROWS
    assert read_cells(path, "Sheet", formulas=True)[3][1] == "=SUM(B2:B3)"


def test_chart_without_a_drawing_and_1904_dates_are_read(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(_book(chart=True))
    assert read_cells(path)[:3] == ROWS
    with pytest.raises(UnreadableSource, match="is a chart"):
        read_cells(path, "Chart")
    old = _book(epoch=CALENDAR_MAC_1904)
    path.write_bytes(_edited(old, EDITS["rule"]))
    assert read_cells(path)[:3] == ROWS


def test_reader_that_refuses_valid_parts_is_to_blame_but_not_for_invalid_cells(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(_edited(_book(), _replaced(BOOK, 'state="visible"', 'state="seen"')))
    with pytest.raises(GraderError, match="although its XML is valid") as error:
        read_cells(path)
    assert error.value.cause is Cause.GRADER_CRASH
    path.write_bytes(_edited(_book(), _replaced(SHEET, "<v>1.5</v>", "<v>one and a half</v>")))
    with pytest.raises(UnreadableSource, match="is a damaged workbook"):
        read_cells(path)


@pytest.mark.parametrize(
    "edit",
    [
        _replaced(SHEET, "</sheetData>", ""),
        _replaced(STYLES, "<cellXfs", "<cellXfsX"),
        _replaced(BOOK, "</workbook>", ""),
        lambda name, data: (name.replace("workbook.xml", "other.xml"), data),
        lambda name, data: (name.replace("xl/", "word/"), data),
    ],
)
def test_broken_workbook_is_the_deliverables_fault(tmp_path: Path, edit: Edit) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(_edited(_book(), edit))
    with pytest.raises(UnreadableSource):
        read_cells(path)
