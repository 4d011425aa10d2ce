"""Workbooks as models: recalculated by LibreOffice in a box, with formulas kept and with other inputs."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worksample.errors import Cause, DeliverableError, GraderError, ReferenceUnreadable
from worksample.kit.case import Case
from worksample.kit.check_score import Check, every
from worksample.kit.numbers import close, number, plain_text
from worksample.kit.source import UnreadableSource, deliverable, reference
from worksample.kit.workbook import guard_archive, read_cells

OFFICE = "soffice"
SECONDS = 120.0
"""Processor seconds that one recalculation may take."""
_PLACE = re.compile(r"(?P<sheet>.+)!\$?(?P<column>[A-Z]{1,3})\$?(?P<row>[1-9]\d{0,6})")
Scenario = Mapping[str, float | str]


def workbook_model(
    case: Case, name: str, cells: Mapping[str, float], *, scenarios: Sequence[Scenario] = ({},),
    formulas: Sequence[str] = (), want: str = "",
) -> Check:  # fmt: skip
    """Return the share of a workbook's cells that are right after LibreOffice has computed it anew.

    cells: place, such as `Summary!B4`, -> allowed difference. scenarios: inputs to change before computing, place ->
    value; each is applied to the deliverable and to the reference, and a cell is right only if it is in every one. So
    numbers that were typed in place of formulas fail. formulas: places that must hold formulas; one that does not makes
    the score 0. want: name of the reference, by default the same name.

    The office runs in the box for the agent's programs, without the reference. Values stored in the file do not count.
    Raises DeliverableError if the deliverable is not a workbook or lacks a sheet; ReferenceUnreadable if the reference
    is or does; GraderError (`grader.lacks`) without LibreOffice.
    """
    mine, theirs = case.output(name), case.reference(want or name)
    _require_office(case)
    computed = [_compute_scenario(case, theirs, scenario, cells, ReferenceUnreadable) for scenario in scenarios]
    with deliverable(name):
        guard_archive(mine)
        typed = [place for place in formulas if not _is_formula(mine, place)]
    if typed:
        return Check(0.0, f"no formula in {', '.join(typed[:5])}")
    found = [_compute_scenario(case, mine, scenario, cells, DeliverableError) for scenario in scenarios]
    pairs = list(enumerate(zip(found, computed, strict=True)))
    checks = [every(_cell(place, a[place], b[place], cells[place], n) for n, (a, b) in pairs) for place in cells]
    right = sum(check.passed for check in checks)
    said = "; ".join(check.reason for check in checks if check.reason)
    return Check(right / len(checks), said)


def _cell(place: str, got: Any, want: Any, tolerance: float, scenario: int) -> Check:
    a, b = number(got), number(want)
    good = close(a, b, tolerance) if a is not None and b is not None else plain_text(got) == plain_text(want)
    when = f" in scenario {scenario}" if scenario else ""
    return Check.of(good, f"{place} is {str(got)[:40]} instead of {str(want)[:40]}{when}")


def _require_office(case: Case) -> None:
    if case.run([OFFICE, "--version"], timeout=SECONDS).exit != 0:
        raise GraderError(
            "LibreOffice is not installed where programs are run",
            cause=Cause.GRADER_LACKS,
            next="apt-get install libreoffice-calc",
        )


def _compute_scenario(
    case: Case, path: Path, scenario: Scenario, places: Mapping[str, float],
    fault: type[DeliverableError] | type[ReferenceUnreadable],
) -> dict[str, Any]:  # fmt: skip
    """Return the values of cells after a scenario's inputs were entered and everything was computed anew."""
    blame = deliverable if fault is DeliverableError else reference
    with blame(path.name):
        data = with_inputs(path, scenario)
    ran = case.run(
        [OFFICE, "-env:UserInstallation=file:///tmp/office", "--headless", "--norestore", "--convert-to",
         "xlsx:Calc MS Excel 2007 XML", "--outdir", "computed", "model.xlsx"],
        files={"model.xlsx": data}, collect=["computed/model.xlsx"], timeout=SECONDS,
    )  # fmt: skip
    if "computed/model.xlsx" not in ran.files:
        end = "took too long" if ran.timed_out else ran.stderr.strip()[-300:] or f"ended with code {ran.exit}"
        raise fault(f"LibreOffice cannot compute it: {end}", where=path.name)
    with tempfile.TemporaryDirectory() as folder, blame(path.name):
        copy = Path(folder) / "model.xlsx"
        copy.write_bytes(ran.files["computed/model.xlsx"])
        return cell_values(copy, places)


def cell_values(path: Path, places: Mapping[str, float] | Sequence[str]) -> dict[str, Any]:
    """Return the stored values of cells by place. Raises UnreadableSource if the workbook or a sheet is missing."""
    sheets: dict[str, list[list[Any]]] = {}
    found = {}
    for place in places:
        sheet, row, column = split_place(place)
        if sheet not in sheets:
            sheets[sheet] = read_cells(path, sheet)
        rows = sheets[sheet]
        found[place] = rows[row][column] if row < len(rows) and column < len(rows[row]) else None
    return found


def split_place(place: str) -> tuple[str, int, int]:
    """Return sheet, row and column, both from 0, of a place such as `Summary!B4`."""
    match = _PLACE.fullmatch(place)
    if match is None:
        raise GraderError(f"{place!r} is no place of a cell", cause=Cause.GRADER_CRASH, next="write it as Summary!B4")
    column = 0
    for letter in match["column"]:
        column = 26 * column + ord(letter) - 64
    return match["sheet"], int(match["row"]) - 1, column - 1


def with_inputs(path: Path, scenario: Scenario) -> bytes:
    """Return a workbook with other values in some cells and without any computed value, so that all is computed anew.

    Raises UnreadableSource if the workbook cannot be opened, lacks a sheet of the scenario, or is an open document with
    links to other files.
    """
    from io import BytesIO

    import openpyxl

    from worksample.kit.workbook import refusals

    guard_archive(path)
    try:
        book = openpyxl.load_workbook(path, keep_links=False)
        for place, value in scenario.items():
            sheet, row, column = split_place(place)
            if sheet not in book.sheetnames:
                raise UnreadableSource(f"has no sheet {sheet!r}; it has {', '.join(book.sheetnames)[:200]}")
            book[sheet].cell(row + 1, column + 1).value = value
        target = BytesIO()
        book.save(target)
    except UnreadableSource:
        raise
    except refusals() as error:
        raise UnreadableSource(
            f"is a workbook that cannot be edited: {type(error).__name__}: {str(error)[:200]}"
        ) from error
    return target.getvalue()


def _is_formula(path: Path, place: str) -> bool:
    sheet, row, column = split_place(place)
    rows = read_cells(path, sheet, formulas=True)
    value = rows[row][column] if row < len(rows) and column < len(rows[row]) else None
    return isinstance(value, str) and value.startswith("=") and re.search(r"[A-Za-z$]+\$?\d", value) is not None
