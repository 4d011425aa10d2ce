"""Columns of a table of jobs: Worksample's own names, those of UpBench and GDPval, or a firm's from a TOML file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from worksample.errors import ManifestError, UsageError
from worksample.files.config_files import Faults, Texts, nearest, need_file, read_toml, show_value, validate
from worksample.files.tables import cell_values as cells
from worksample.files.tables.date_columns import DateColumns
from worksample.files.tables.dates import ORDERS
from worksample.files.tables.intervals import NumberRange, Quantity
from worksample.files.tables.number_columns import NumberColumns
from worksample.records import Frozen

PARSERS: dict[str, Callable[[Any], Any]] = {
    "contract": cells.text, "title": cells.text, "description": cells.text,
    "category": cells.text, "subcategory": cells.text, "subsubcategory": cells.text,
    "occupation": cells.text, "expertise": cells.text, "licence": cells.text, "status": cells.text, "type": cells.text,
    "job_amount": cells.number, "contract_amount": cells.number, "milestone_amount": cells.number,
    "currency": cells.text, "hours": cells.number,
    "start": cells.moment, "end": cells.moment,
    "payment_verified": cells.flag, "openings": cells.whole, "milestones": cells.whole,
    "automation_desire": cells.number, "onet_tasks": cells.texts, "tags": cells.texts,
    "attachments": cells.texts, "reference": cells.texts, "criteria": cells.parse_json_cell,
}  # fmt: skip
"""Field of a job -> the function that parses its cell."""
AMOUNTS = ("job_amount", "contract_amount", "milestone_amount")
NUMBERS = tuple(name for name, parser in PARSERS.items() if parser in (cells.number, cells.whole))

QUANTITIES = {**dict.fromkeys(AMOUNTS, Quantity.MONEY), "hours": Quantity.HOURS}
"""Fields that may have units and ranges."""
DATES = tuple(name for name, parser in PARSERS.items() if parser is cells.moment)
MONTHLY = "monthly"
"""Field of a mapping file for the number of times that a job occurs in a month, which only advice reads."""
RANGES = "ranges"
"""Key of a row's values: field -> `NumberRange`, for cells that are ranges. The field itself has the middle."""

_USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "contract": ("contract_id", "id", "job_id"), "title": ("job_title",), "description": ("job_description", "brief"),
    "start": ("start_ts",), "end": ("end_ts",), "expertise": ("expertise_tier",),
    "contract_amount": ("amount", "value", "price"), "openings": ("num_openings",), "milestones": ("num_milestones",),
    "type": ("contract_type",), "automation_desire": ("automation_desire_rating",),
    "criteria": ("acceptance_criteria", "rubric"), "licence": ("license",), "reference": ("deliverables",),
}  # fmt: skip
"""Field -> other usual column names, among them those of UpBench's table `projects` (appendix B, Table 4)."""
_GDPVAL_NAMES: dict[str, tuple[str, ...]] = {
    "contract": ("task_id",), "description": ("prompt",), "category": ("sector",), "subcategory": ("occupation",),
    "attachments": ("reference_files",), "reference": ("deliverable_files",), "criteria": ("rubric_json",),
}  # fmt: skip
PRESETS: dict[str, dict[str, tuple[str, ...]]] = {
    "jobs": _USUAL_NAMES,
    "upbench": _USUAL_NAMES,
    "gdpval": _GDPVAL_NAMES,
}


class MapTable(Frozen):
    """A mapping file: `[columns]` field -> column, `[values]` field -> a value for every row."""

    columns: dict[str, str] = {}
    values: dict[str, str | int | float | bool | tuple[str, ...]] = {}
    ignore: Texts = ()
    decimal: Literal["", ".", ","] = ""
    """The decimal mark of every number; "" to infer it from each column's own numbers."""
    dates: Literal["", "DMY", "MDY", "YMD"] = ""
    """The order of day, month and year in every date; "" to infer it from each column's own dates."""
    ids: Literal["", "line"] = ""
    """`line` to name each job by its line if its row has no id."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table by field, and values that hold for every row."""

    of: Mapping[str, str]
    values: Mapping[str, Any] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    """Columns that no field uses."""
    numbers: NumberColumns = field(default_factory=NumberColumns)
    """The decimal marks known so far."""
    dates: DateColumns = field(default_factory=DateColumns)
    """The orders of dates known so far."""
    monthly: str = ""
    """The column of times that a job occurs in a month, if the mapping file names one."""
    line_ids: bool = False
    """Whether jobs without an id are named by their lines."""

    def with_rows(self, rows: Iterable[tuple[int, Mapping[str, Any]]], more: Iterable[str] = ()) -> Columns:
        """Return the columns with decimal marks and orders of dates inferred from all rows.

        more: further columns of numbers.
        """
        own = {column: name in AMOUNTS for name, column in self.of.items() if name in NUMBERS}
        kinds = {self.of[name]: kind for name, kind in QUANTITIES.items() if name in self.of}
        also = dict.fromkeys(more, Quantity.NUMBER)
        numbers = self.numbers.with_columns({**dict.fromkeys(also, False), **own}, {**also, **kinds})
        dates = self.dates.with_columns(self.of[name] for name in DATES if name in self.of)
        for line, row in rows:
            numbers.see(line, row)
            dates.see(line, row)
        return replace(self, numbers=numbers, dates=dates)

    def notes(self) -> tuple[str, ...]:
        """Return one line about each column with ambiguous numbers or dates, or with ranges: how they are read."""
        return (*self.numbers.notes(), *self.dates.notes(), *self._currency_notes())

    def _currency_notes(self) -> tuple[str, ...]:
        found = []
        for column, named in self.numbers.currencies.items():
            if len(named) == 1 and "currency" not in self.of and "currency" not in self.values:
                [(currency, where)] = named.items()
                if currency != "USD":
                    found.append(f"{column}: amounts without a currency are read in {currency}, as {where} has it")
        return tuple(found)

    def read_row(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return a row's values, without blank cells, and its faults. Ranges are also under the key `RANGES`."""
        values: dict[str, Any] = dict(self.values)
        ranges: dict[str, NumberRange] = {}
        faults, currencies = [], set()
        for name, column in self.of.items():
            cell = row.get(column)
            if cells.is_blank(cell):
                continue
            try:
                if name in QUANTITIES:
                    interval, currency = self.numbers.read_interval(column, cell)
                    values[name] = interval.middle
                    if interval.low != interval.high:
                        ranges[name] = interval
                    currencies.add(currency)
                else:
                    values[name] = self._parse(name, column, cell)
            except cells.InvalidCell as e:
                faults.append(f"{column}: {e}")
        currencies |= self._implied_currencies(row, values, currencies, faults)
        faults += _settle_currency(values, currencies - {""})
        return (values | {RANGES: ranges} if ranges else values), faults

    def _implied_currencies(
        self, row: Mapping[str, Any], values: Mapping[str, Any], named: set[str], faults: list[str]
    ) -> set[str]:
        """Return the currencies that the other cells of a row's amounts imply, if the row names none."""
        found: set[str] = set()
        if named - {""} or values.get("currency"):
            return found
        for column in (self.of[name] for name in AMOUNTS if name in self.of):
            if not cells.is_blank(row.get(column)):
                try:
                    found.add(self.numbers.currency_of(column))
                except cells.InvalidCell as e:
                    faults.append(f"{column}: {e}")
        return found

    def _parse(self, name: str, column: str, cell: Any) -> Any:
        if name in DATES:
            return self.dates.read(column, cell)
        if name not in NUMBERS:
            return PARSERS[name](cell)
        return self.numbers.read(column, cell, whole=PARSERS[name] is cells.whole)


def _settle_currency(values: dict[str, Any], currencies: set[str]) -> list[str]:
    """Set the currency from the amounts' own symbols; return a fault if several currencies are named.

    A bare `$` beside a currency column of CAD means Canadian dollars.
    """
    column_currency = str(values.get("currency") or "").upper()
    every = {column_currency, *(currencies - {"USD"} if column_currency else currencies)} - {""}
    if len(every) > 1:
        return [f"amounts name several currencies: {', '.join(sorted(every))}"]
    if every:
        [values["currency"]] = every
    return []


def check_forms(decimal: str, dates: str) -> None:
    """Raise UsageError unless `decimal` is a decimal mark or "", and `dates` an order of dates or ""."""
    if decimal not in ("", ".", ","):
        what = f"{decimal[:20]!r} is not a decimal mark"
        raise UsageError(what, where="--decimal", next="--decimal ',' or --decimal '.'")
    if dates not in ("", *ORDERS):
        what = f"{dates[:20]!r} is no order of dates"
        raise UsageError(what, where="--dates", next="--dates DMY, --dates MDY or --dates YMD")


def choose_columns(
    header: Sequence[str], preset: str, mapping: Path | None = None, decimal: str = "", dates: str = ""
) -> Columns:
    """Return the columns of a table with this header. A mapping file overrides the preset's names.

    decimal, dates: the decimal mark of every number and the order of every date (`DMY`, `MDY`, `YMD`); "" for the
    mapping file's. Raises UsageError for an unknown mark or order, ManifestError for a faulty mapping file.
    """
    check_forms(decimal, dates)
    known = {h.strip().lower(): h for h in reversed(header)}
    map_table = _read_mapping(mapping, header) if mapping else MapTable()
    of: dict[str, str] = {}
    monthly = map_table.columns.get(MONTHLY, "")
    for name in PARSERS:
        if name in map_table.columns:
            of[name] = map_table.columns[name]
        elif name not in map_table.values:
            usual = (name, *PRESETS[preset].get(name, ())) if preset != "gdpval" else PRESETS[preset].get(name, (name,))
            column = next((known[u] for u in usual if u in known), None)
            if column and column not in of.values():
                of[name] = column
    used = {*of.values(), *map_table.ignore, monthly}
    values = {name: PARSERS[name](list(v) if isinstance(v, tuple) else v) for name, v in map_table.values.items()}
    return Columns(
        of, values, tuple(h for h in header if h not in used),
        NumberColumns(decimal or map_table.decimal), DateColumns(dates or map_table.dates),
        monthly, map_table.ids == "line",
    )  # fmt: skip


def _read_mapping(path: Path, header: Sequence[str]) -> MapTable:
    need_file(path)
    faults = Faults()
    document = read_toml(path, path.name, faults)
    table = validate(MapTable, document.data, faults, file=path.name)
    if table:
        for where, names in (("columns", table.columns), ("values", table.values)):
            for name in names:
                if name not in PARSERS and (name != MONTHLY or where != "columns"):
                    problem = f"a job has no such field{nearest(name, PARSERS)}"
                    faults.add(path.name, f"{where}.{name}", problem, list(PARSERS))
        for name, column in table.columns.items():
            if column not in header:
                problem = f"the table has no column {show_value(column)}{nearest(column, header)}"
                faults.add(path.name, f"columns.{name}", problem, [show_value(h) for h in header])
        for name, value in table.values.items():
            if name in PARSERS:
                try:
                    PARSERS[name](list(value) if isinstance(value, tuple) else value)
                except cells.InvalidCell as e:
                    faults.add(path.name, f"values.{name}", str(e))
    faults.check("the mapping", f"correct {path} and try again")
    if table is None:
        raise ManifestError(
            "the saved mapping of columns cannot be read", where=str(path), next=f"correct {path} and try again"
        )
    return table
