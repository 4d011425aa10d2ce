"""Spreadsheets: every sheet as a grid of values and formulas, and the whole printed with one page per sheet."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import office, table
from .job import Job, Made, Missing, Unreadable
from .pdf import pages_of

SHEETS = 250
FORMULAS = 50_000
PRINT = 'calc_pdf_Export:{"SinglePageSheets":{"type":"boolean","value":"true"}}'
_FAULTS = (ValueError, KeyError, TypeError, IndexError, AttributeError, OSError, EOFError, zipfile.BadZipFile)


def convert(job: Job) -> Made:
    """Values come from LibreOffice's own calculation: programs that write workbooks often leave them out."""
    made = Made("workbook", meta={"chunk": table.CHUNK}, by="libreoffice")
    book = job.named(office.extension(job))
    said: list[str] = []
    try:
        values = office.to(job, book, "xlsx", timeout=120)
    except Missing:
        if not zipfile.is_zipfile(book):
            raise
        values, made.by = book, "openpyxl"
        said.append("LibreOffice is missing: formulas that were saved without values show none")
    sheets = _sheets(job, made, values, _written(book, values))
    made.meta["sheets"] = sheets
    if made.by == "libreoffice":
        try:
            printed = office.to(job, values, "pdf", timeout=120, options=PRINT)
            target = job.out / "print.pdf"
            shutil.move(printed, target)
            made.meta["pages"] = pages_of(target)["pages"]
            made.files["pdf"] = job.made(target)
        except Unreadable as e:
            said.append(f"the printed view could not be made ({e})")
    if any(sheet["truncated"] for sheet in sheets):
        said.append("only a part of some sheets is shown")
    made.problem = "; ".join(said)
    return made


def _written(book: Path, values: Path) -> Path:
    """Where formulas are read as their author wrote them, if that can be."""
    try:
        with zipfile.ZipFile(book) as parts:
            return book if "xl/workbook.xml" in parts.namelist() else values
    except (zipfile.BadZipFile, ValueError, OSError):
        return values


def _sheets(job: Job, made: Made, values: Path, formulas: Path) -> list[dict[str, Any]]:
    import openpyxl

    try:
        shown = openpyxl.load_workbook(values, read_only=True, data_only=True)
        written = openpyxl.load_workbook(formulas, read_only=True)
        sheets = []
        for number, sheet in enumerate(shown.worksheets[:SHEETS]):
            sheet.reset_dimensions()
            meta, files = table.grid(job, str(number), sheet.iter_rows(values_only=True))
            found = _formulas(written[sheet.title]) if sheet.title in written.sheetnames else {}
            if found:
                files[f"{number}/formulas"] = job.keep_json(f"grid/{number}/formulas.json", found)
            made.files |= files
            hidden = sheet.sheet_state != "visible"
            sheets.append(meta | {"name": sheet.title, "hidden": hidden, "formulas": len(found)})
        made.meta["total"] = len(shown.sheetnames)
    except _FAULTS as e:
        raise Unreadable(f"the workbook is damaged: {str(e)[:200]}") from e
    return sheets


def _formulas(sheet: Any) -> dict[str, str]:
    """Cell name -> formula."""
    sheet.reset_dimensions()
    return dict(_found(sheet))


def _found(sheet: Any) -> Iterator[tuple[str, str]]:
    count = 0
    for row in sheet.iter_rows(max_row=table.ROWS):
        for cell in row:
            if cell.data_type == "f":
                value = getattr(cell.value, "text", cell.value)
                yield cell.coordinate, str(value)[: table.CELL]
                count += 1
                if count >= FORMULAS:
                    return
