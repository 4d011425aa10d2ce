"""Lists in workbooks: formats with currencies, titles, merged names, hidden sheets, and what must be refused."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worksample.errors import ImportFailed, UsageError
from worksample.files.tables.cell_values import UnknownCell
from worksample.files.tables.table_reader import open_table
from worksample.files.tables.workbook_table import MoneyCell, read_sheets
from worksample.formats.jobs.table_import import ImportedJobs, ImportJobs, import_jobs
from worksample.tasks import read_suite

HEAD = ["id", "description", "price", "hours", "start"]


def _book(path: Path, fill: Callable[[Any, Any], None]) -> Path:
    book = openpyxl.Workbook()
    fill(book, book.active)
    book.save(path)
    return path


def _import(path: Path, **config: Any) -> tuple[ImportedJobs, dict[str, Any]]:
    made = import_jobs(path, path.with_suffix(""), ImportJobs(**config))
    found = [package.about for package in read_suite(path.with_suffix("")).packages]
    return made, {about.job.contract: about for about in found if about.job}


def _jobs(book: Any, sheet: Any) -> None:
    sheet.append(["Orders of 2026"])
    sheet.append([])
    sheet.append(HEAD)
    sheet.append([1001, "Logo", 1250.5, time(4, 30), datetime(2026, 3, 1)])
    sheet.append([1002, "Catalogue", 900, timedelta(hours=30), date(2026, 3, 4)])
    sheet.append([1003, "Site", "1.200,50 €", "2-3", "13.03.2026"])
    sheet["C4"].number_format = '#,##0.00\\ "€"'
    sheet["C5"].number_format = "[$EUR] #,##0"
    sheet.merge_cells("A1:E1")
    book.create_sheet("old").sheet_state = "hidden"
    book["old"].append(["id"])


def test_formats_give_currencies_times_and_whole_ids(tmp_path: Path) -> None:
    made, jobs = _import(_book(tmp_path / "jobs.xlsx", _jobs))
    assert {id: (about.value.low, about.value.currency) for id, about in jobs.items()} == {
        "1001": (1250.5, "EUR"), "1002": (900, "EUR"), "1003": (1200.5, "EUR"),
    }  # fmt: skip
    assert [jobs[id].hours.low for id in sorted(jobs)] == [4.5, 30, 2] and jobs["1003"].hours.high == 3
    assert [jobs[id].job.start.date() for id in sorted(jobs)] == [date(2026, 3, 1), date(2026, 3, 4), date(2026, 3, 13)]
    assert "left out above the names of columns: Orders of 2026" in made.numbers
    assert "hidden sheets are not read: old" in made.numbers


def test_bare_amount_has_the_currency_of_its_column(tmp_path: Path) -> None:
    def fill(book: Any, sheet: Any) -> None:
        for row in (HEAD, [1, "Logo", 900], [2, "Site", 800], [3, "Page", 700]):
            sheet.append(row)
        sheet["C2"].number_format = '#,##0 "€"'

    made, jobs = _import(_book(tmp_path / "jobs.xlsx", fill))
    assert jobs["2"].value.currency == "EUR"
    assert any("amounts without a currency are read in EUR" in note for note in made.numbers)

    def fill_two(book: Any, sheet: Any) -> None:
        fill(book, sheet)
        sheet["C3"].number_format = '"$"#,##0'

    with pytest.raises(ImportFailed, match="line 4: price: names no currency, and the column has"):
        _import(_book(tmp_path / "two.xlsx", fill_two))


def test_bare_amount_of_a_text_table_has_the_currency_that_its_column_names(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("id,description,price\n1,Logo,900 \N{EURO SIGN}\n2,Site,800\n", encoding="utf-8")
    made, jobs = _import(path)
    assert jobs["2"].value.currency == "EUR"
    assert any("are read in EUR, as `900 \N{EURO SIGN}` (line 2) has it" in note for note in made.numbers)
    two = tmp_path / "two.csv"
    two.write_text("id,description,price\n1,Logo,900 \N{EURO SIGN}\n2,Site,800\n3,Page,$700\n", encoding="utf-8")
    with pytest.raises(ImportFailed, match="line 3: price: names no currency, and the column has"):
        _import(two)


def test_merged_names_are_joined_and_merged_texts_repeated(tmp_path: Path) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.append(["id", "category", "price", None, "description"])
        sheet.append([None, None, "from", "to", None])
        sheet.append([1, "Design", 100, 200, "Logo"])
        sheet.append([2, None, 300, 400, "Site"])
        sheet.append([3, "Text", None, 500, "Page"])
        for merged in ("A1:A2", "B1:B2", "C1:D1", "E1:E2", "B3:B4", "C4:C5"):
            sheet.merge_cells(merged)

    with open_table(_book(tmp_path / "jobs.xlsx", fill)) as opened:
        rows = [row for _, row in opened.rows]
    assert opened.header == ("id", "category", "price from", "price to", "description")
    assert [row["category"] for row in rows] == ["Design", "Design", "Text"]
    assert rows[0]["price from"] == 100 and all(isinstance(row["price from"], UnknownCell) for row in rows[1:])


@pytest.mark.parametrize("writer", ["openpyxl", "xlsxwriter"])
def test_formula_without_a_value_is_refused(tmp_path: Path, writer: str) -> None:
    rows = [["id", "description", "price"], [1, "Logo", "=400+500"]]
    path = tmp_path / "jobs.xlsx"
    if writer == "openpyxl":
        _book(path, lambda book, sheet: [sheet.append(row) for row in rows])
    else:
        book = xlsxwriter.Workbook(path)
        sheet = book.add_worksheet()
        for n, row in enumerate(rows):
            sheet.write_row(n, 0, row)
        book.close()
    with pytest.raises(ImportFailed, match="line 2: price: is a formula without a value"):
        _import(path)


def test_formula_with_a_value_is_read(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(tmp_path / "jobs.xlsx")
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["id", "description", "price"])
    sheet.write_row(1, 0, [1, "Logo"])
    sheet.write_formula(1, 2, "=400+500", None, 900)
    book.close()
    _, jobs = _import(tmp_path / "jobs.xlsx")
    assert jobs["1"].value.low == 900


def test_several_sheets_need_a_name(tmp_path: Path) -> None:
    def fill(book: Any, sheet: Any) -> None:
        for one in (sheet, book.create_sheet("2027 plan")):
            for row in (["id", "description"], [1, one.title]):
                one.append(row)

    path = _book(tmp_path / "jobs.xlsx", fill)
    with pytest.raises(UsageError, match="has 2 sheets with rows: 'Sheet', '2027 plan'"):
        _import(path)
    with pytest.raises(ImportFailed, match="has no sheet 'x'; it has 'Sheet', '2027 plan'"):
        _import(path, sheet="x")
    _, jobs = _import(path, sheet="2027 plan")
    assert len(jobs) == 1


def _zip(path: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not a workbook"), (b"PK\x03\x04 nothing", "is not a workbook"),
        (b"id;price\n1;2\n", "is not a workbook"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"), "is protected by a password"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "old format"), ({"a.txt": b"x"}, "is not a sound workbook"),
        ({"xl/workbook.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}, "is not a sound workbook"),
        ({f"{n}.xml": b"<a/>" for n in range(10_001)}, "unpacks to more than"),
    ],
)  # fmt: skip
def test_hostile_workbook_is_refused(tmp_path: Path, data: bytes | dict[str, bytes], said: str) -> None:
    path = tmp_path / "jobs.xlsx"
    path.write_bytes(data) if isinstance(data, bytes) else _zip(path, data)
    with pytest.raises(ImportFailed, match=said):
        _import(path)


CELLS = (
    st.none()
    | st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=12)
    | st.integers(-(10**9), 10**9)
    | st.booleans()
    | st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1)).map(lambda d: d.replace(microsecond=0))
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_cells_below_names_come_back_as_written(tmp_path: Path, rows: list[list[Any]]) -> None:
    def fill(book: Any, sheet: Any) -> None:
        sheet.append(["id", "description", "price"])
        for line, row in enumerate(rows, 2):
            for column, value in enumerate(row, 1):
                cell = sheet.cell(line, column)
                cell.value = value
                if isinstance(value, str):
                    cell.data_type = "s"

    found = read_sheets(_book(tmp_path / "jobs.xlsx", fill).read_bytes())
    back = [list(row) for table in found.tables for row in table.rows]
    while rows and not any(cell not in (None, "") for cell in rows[-1]):
        rows = rows[:-1]
    assert [[c or None if isinstance(c, str) else c for c in row] for row in back][: len(rows)] == [
        [c or None if isinstance(c, str) else c for c in row] for row in rows
    ] or not any(str(cell).strip() for row in rows for cell in row if cell is not None)


def test_money_cell_keeps_its_currency_in_a_pickle() -> None:
    import pickle

    made = pickle.loads(pickle.dumps(MoneyCell(1.5, "EUR")))
    assert made == 1.5 and made.currency == "EUR"
