"""Grades a filled form: left intact, every box right in form and content, rows and sums, and decisions on record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

from worksample.errors import DeliverableError, ReferenceUnreadable
from worksample.kit import (
    Case,
    Check,
    Grade,
    Table,
    average,
    close,
    every,
    gate_and_score,
    number,
    plain_text,
    possible_numbers,
    tabular,
)
from worksample.kit.source import reference
from worksample.kit.workbook import read_cells

FORM = "form.xlsx"
KEYS = {"boxes", "groups", "items", "sums", "bank", "decisions"}


@dataclass
class Filled:
    """The delivered form beside what it should be."""

    case: Case

    @cached_property
    def want(self) -> dict[str, Any]:
        want = self.case.ref_json("expected.json")
        if not isinstance(want, dict) or not want.keys() >= KEYS:
            raise ReferenceUnreadable(f"lacks some of {', '.join(sorted(KEYS))}", where="expected.json")
        return want

    @cached_property
    def boxes(self) -> dict[str, Any]:
        """Box number -> what stands in column C."""
        rows = [[*row, None, None, None][:3] for row in self.case.cells(FORM, "Form")]
        return {box_name(row[0]): row[2] for row in rows if row[0] is not None}

    @cached_property
    def items(self) -> Table:
        return self.case.sheet(FORM, "Items")


def box_name(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value).strip()


def intact(form: Filled) -> Check:
    """Labels and headers are those of the blank form."""
    path = form.case.input("blank.xlsx")
    checks = []
    for sheet, columns, rows in (("Form", (0, 1, 3), None), ("Items", tuple(range(12)), 1)):
        with reference("blank.xlsx"):
            blank = read_cells(path, sheet)[:rows]
        got = form.case.cells(FORM, sheet)[:rows]
        same = _labels(blank, columns) == _labels(got, columns)
        checks.append(Check.of(same, f"the labels of the sheet {sheet} were changed"))
    return every(checks)


def _labels(cells: list[list[Any]], columns: tuple[int, ...]) -> list[list[str]]:
    found = [[plain_text(row[c]) if c < len(row) else "" for c in columns] for row in cells]
    while found and not any(found[-1]):
        found.pop()
    return found


def right(value: Any, want: dict[str, Any]) -> bool:
    """Whether a value is what a box or a record wants, by the box's kind."""
    kind = want["kind"]
    if value is None or isinstance(value, bool):
        return False
    if kind == "number":
        # `160.200` is 160.2 or 160200; what is right is known.
        return any(close(found, want["is"], want.get("tolerance", 0.0)) for found in possible_numbers(value))
    if kind == "date":
        return iso(value) == want["is"]
    if kind == "code":
        text = str(value).strip() if not isinstance(value, float) or value != int(value) else str(int(value))
        return text == want["is"]
    found = re.sub(r"[\s,.;:]+", " ", plain_text(value)).strip()
    return any(found == re.sub(r"[\s,.;:]+", " ", plain_text(w)).strip() for w in want["is"])


def iso(value: Any) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date) else str(value).strip()


def group(form: Filled, name: str) -> Check:
    """The share of a group's boxes that are right."""
    checks = []
    for box in form.want["groups"][name]:
        value = form.boxes.get(box)
        checks.append(Check.of(right(value, form.want["boxes"][box]), f"box {box}: {str(value)[:60]!r}"))
    return average(checks)


def items(form: Filled) -> Check:
    """The rows, cell by cell; below half of them nothing is given."""
    want = form.want["items"]
    rows = []
    for row in form.items.rows:
        cells = {c: iso(v) if isinstance(v, (date, datetime)) else v for c, v in row.items()}
        for name in want.get("codes", []):
            cells[name] = re.sub(r"\.0$|[\s.]", "", str(cells.get(name, "")))
        rows.append(cells)
    if not rows:
        raise DeliverableError("the sheet Items has no rows", where=FORM)
    found = tabular(rows, want["rows"], keys=want["keys"], tolerance=want["tolerance"])
    return found if found.fraction >= 0.5 else Check(0.0, found.reason)


def totals(form: Filled) -> Check:
    """The sums, and that they are those of the rows."""
    checks = [group(form, "totals")]
    for box, column in form.want["sums"].items():
        cells = [number(row.get(column)) for row in form.items.rows]
        total = sum(c or 0.0 for c in cells)
        agrees = bool(cells) and any(close(total, said, 0.01) for said in possible_numbers(form.boxes.get(box)))
        checks.append(Check.of(agrees, f"box {box} is not the sum of {column}"))
    return every(checks)


def bank(form: Filled) -> Check:
    box = form.want["bank"]
    value = str(form.boxes.get(box) or "")
    return every(
        [
            Check.of(
                bool(re.fullmatch(r"[A-Z]{2}\d\d[A-Z0-9]{8,30}", value)), f"box {box}: {value[:40]!r} has no such form"
            ),
            Check.of(remainder(value) == 1, f"box {box}: {value[:40]!r} is not valid"),
            Check.of(right(value, form.want["boxes"][box]), f"box {box}: another account is expected"),
        ]
    )


def remainder(account: str) -> int:
    """Remainder by 97 (ISO 13616); 1 for a valid account."""
    if not re.fullmatch(r"[A-Z0-9]{5,40}", account):
        return -1
    return int("".join(str(int(c, 36)) for c in account[4:] + account[:4])) % 97


def decisions(form: Filled) -> Check:
    """One row for each contradiction, with the value used, its source and what was rejected."""
    table = form.case.rows("decisions.csv")
    for column in ("box", "value", "source", "rejected"):
        if column not in table.columns:
            raise DeliverableError(f"has no column {column!r}", where="decisions.csv")
    rows = {box_name(row["box"]): row for row in table.rows}
    checks = []
    for box, want in form.want["decisions"].items():
        row = rows.get(box)
        if row is None:
            checks.append(Check.of(False, f"box {box} is not on record"))
            continue
        value = row["value"] if form.want["boxes"][box]["kind"] != "number" else number(row["value"])
        said = loose(row["rejected"])
        good = [
            right(value, form.want["boxes"][box]) or loose(value) == loose(form.want["boxes"][box]["is"]),
            plain_text(row["source"]) in want["source"],
            any(loose(w) in said for w in want["rejected"]),
        ]
        checks.append(Check.of(all(good), f"box {box}: value, source or what was rejected"))
    beyond = sorted(rows.keys() - form.want["boxes"].keys())
    checks.append(Check.of(not beyond, f"no such boxes: {', '.join(beyond[:5])}"))
    return every(checks)


def loose(value: Any) -> str:
    return re.sub(r"[\W_]+", "", plain_text(value))


def grade(case: Case) -> Grade:
    form = Filled(case)
    _ = form.want
    return gate_and_score(
        case,
        gates={"intact": lambda: intact(form)},
        score={
            "parties": lambda: group(form, "parties"),
            "details": lambda: group(form, "details"),
            "items": lambda: items(form),
            "totals": lambda: totals(form),
            "bank": lambda: bank(form),
            "decisions": lambda: decisions(form),
        },
    )
