"""Converter of spreadsheets: shows every sheet as a grid of values and formulas, and a print with one page per
sheet.
"""

from __future__ import annotations

import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from worksample.files.tables.workbook_values import is_strict, values_only

from . import csv_table as table
from . import office
from .conversion_job import (
    READERS_FAULTS,
    ConversionJob,
    ConverterFault,
    MissingConverter,
    TooHeavy,
    Unreadable,
    ViewDraft,
    fault,
)
from .pdf import pages_of

SHEETS = 250
FORMULAS = 50_000
PRINT = 'calc_pdf_Export:{"SinglePageSheets":{"type":"boolean","value":"true"}}'


def convert(job: ConversionJob) -> ViewDraft:
    """Convert a workbook. LibreOffice calculates the values, which generated workbooks often lack."""
    made = ViewDraft("workbook", meta={"chunk": table.CHUNK}, by="libreoffice")
    book = job.copy_as(office.extension(job))
    said: list[str] = []
    try:
        values = office.convert_to(job, book, "xlsx", seconds=120)
        sheets = _sheets(job, made, values, _file_with_formulas(job, book, values), said)
    except (MissingConverter, ConverterFault, Unreadable) as e:
        if not zipfile.is_zipfile(book):
            raise
        made.by = "openpyxl"
        sheets = _saved_sheets(job, made, book, said, e)
    made.meta["sheets"] = sheets
    if made.by == "libreoffice":
        _print(job, made, values, said)
    if any(sheet["truncated"] for sheet in sheets):
        said.append("only a part of some sheets is shown")
    made.problem = "; ".join(said)
    return made


def _saved_sheets(
    job: ConversionJob,
    made: ViewDraft,
    book: Path,
    said: list[str],
    failed: MissingConverter | ConverterFault | Unreadable,
) -> list[Any]:
    """Return the sheets with the values saved in the file, if LibreOffice is missing or fails. Raises `failed` if the
    file cannot be read without LibreOffice.
    """
    try:
        try:
            sheets = _sheets(job, made, source := _with_known_namespaces(job, book), source, said)
        except (ConverterFault, Unreadable):
            made.files.clear()
            sheets = _sheets(job, made, source := _without_drawings(job, book), source, said)
    except (ConverterFault, Unreadable):
        raise failed from None
    missing = isinstance(failed, MissingConverter)
    why = "LibreOffice is missing" if missing else str(failed)
    made.lacks = "missing" if missing else "crashed" if isinstance(failed, ConverterFault) else ""
    said.append(f"{why}: formulas that were saved without values show none")
    return sheets


def _print(job: ConversionJob, made: ViewDraft, values: Path, said: list[str]) -> None:
    try:
        printed = office.convert_to(job, values, "pdf", seconds=120, options=PRINT)
        target = job.out / "print.pdf"
        shutil.move(printed, target)
        made.meta["pages"] = pages_of(target)["pages"]
        made.files["pdf"] = job.output_path(target)
    except (Unreadable, ConverterFault) as e:
        said.append(f"the printed view could not be made ({e})")
        made.lacks = "" if isinstance(e, TooHeavy) else "crashed"


def _file_with_formulas(job: ConversionJob, book: Path, values: Path) -> Path:
    """Return the file whose formulas are those that the author wrote, if it can be read."""
    try:
        with zipfile.ZipFile(book) as parts:
            return _with_known_namespaces(job, book) if "xl/workbook.xml" in parts.namelist() else values
    except (zipfile.BadZipFile, ValueError, OSError):
        return values


def _sheets(job: ConversionJob, made: ViewDraft, values: Path, formulas: Path, said: list[str]) -> list[dict[str, Any]]:
    import openpyxl

    try:
        shown = openpyxl.load_workbook(values, read_only=True, data_only=True)
        charts = _charts(formulas)
        sheets = []
        for number, sheet in enumerate(shown.worksheets[:SHEETS]):
            sheet.reset_dimensions()
            meta, files = table.write_grid(job, str(number), sheet.iter_rows(values_only=True))
            made.files |= files
            about = {"name": sheet.title, "hidden": sheet.sheet_state != "visible", "formulas": 0}
            sheets.append(meta | about | ({"chart": True} if sheet.title in charts else {}))
        # Chart sheets have no cells; LibreOffice converts them to empty grids, openpyxl omits them.
        for name in charts:
            if name not in {sheet["name"] for sheet in sheets}:
                sheets.append(_CHART | {"name": name})
        made.meta["total"] = len(sheets) if len(shown.worksheets) <= SHEETS else len(shown.sheetnames)
    except READERS_FAULTS as e:
        raise fault(e, "the workbook") from e
    try:
        try:
            _add_formulas(job, made, sheets, openpyxl.load_workbook(formulas, read_only=True))
        except READERS_FAULTS:
            _add_formulas(job, made, sheets, openpyxl.load_workbook(_without_drawings(job, formulas), read_only=True))
    except (*READERS_FAULTS, Unreadable) as e:
        said.append(f"its formulas cannot be read ({str(e)[:100] or type(e).__name__})")
    return sheets


def _with_known_namespaces(job: ConversionJob, book: Path) -> Path:
    """Return the workbook with the namespaces that the reader knows."""
    with book.open("rb") as file:
        strict = is_strict(file)
    return _without_drawings(job, book) if strict else book


def _without_drawings(job: ConversionJob, book: Path) -> Path:
    """Return the workbook without parts that hold no values, which a reader may refuse. Raises Unreadable if it is no
    archive.
    """
    target = job.work / "values-only.xlsx"
    try:
        with book.open("rb") as file:
            target.write_bytes(values_only(file).getbuffer())
    except (ValueError, OSError, RuntimeError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error) as e:
        raise fault(e, "the workbook") from e
    return target


_CHART = {
    "rows": 0, "shown": 0, "columns": 0, "truncated": False, "hidden": False, "formulas": 0, "chart": True,
}  # fmt: skip


def _charts(book: Path) -> list[str]:
    """Return the names of the workbook's sheets that are charts."""
    import openpyxl

    with suppress(*READERS_FAULTS):
        return [sheet.title for sheet in openpyxl.load_workbook(book, read_only=True).chartsheets]
    return []


def _add_formulas(job: ConversionJob, made: ViewDraft, sheets: list[dict[str, Any]], written: Any) -> None:
    grids = {sheet.title: sheet for sheet in written.worksheets}
    for number, sheet in enumerate(sheets):
        found = _formulas(grids[sheet["name"]]) if sheet["name"] in grids else {}
        if found:
            made.files[f"{number}/formulas"] = job.keep_json(f"grid/{number}/formulas.json", found)
            sheet["formulas"] = len(found)


def _formulas(sheet: Any) -> dict[str, str]:
    """Return name of a cell -> formula in this cell."""
    sheet.reset_dimensions()
    return dict(_formula_cells(sheet))


def _formula_cells(sheet: Any) -> Iterator[tuple[str, str]]:
    count = 0
    for row in sheet.iter_rows(max_row=table.ROWS):
        for cell in row:
            if cell.data_type == "f":
                value = getattr(cell.value, "text", cell.value)
                yield cell.coordinate, str(value)[: table.CELL]
                count += 1
                if count >= FORMULAS:
                    return
