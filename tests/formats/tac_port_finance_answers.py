"""Right answers for the tasks about finance, computed from the tasks' files."""

from __future__ import annotations

from pathlib import Path

import openpyxl


def _rows(path: Path) -> list[dict[str, object]]:
    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    head, *rest = [[cell.value for cell in row] for row in sheet.iter_rows()]
    return [dict(zip(map(str, head), row, strict=True)) for row in rest]


def flagged_variances(folder: Path) -> list[list[object]]:
    """Return identifiers of the differences above 10 % and 5000, in the order of the actual spending."""
    keys = ("Department", "Category", "Month")
    budget = {tuple(row[k] for k in keys): float(str(row["Budgeted_Amount"])) for row in _rows(folder / "budget.xlsx")}
    found: list[list[object]] = []
    for row in _rows(folder / "actual_spending.xlsx"):
        planned = budget.get(tuple(row[k] for k in keys))
        if planned is None:
            continue
        over = float(str(row["Actual_Amount"])) - planned
        if abs(round(over / planned * 100, 2)) > 10 and abs(over) > 5000:
            month = str(row["Month"])[:7].replace("-", "")
            found.append([f"{row['Department']}_{row['Category']}_{month}"])
    return found


def flagged_payments(folder: Path) -> list[list[object]]:
    """Return the payments that do not match their invoices, and a last row of totals."""
    due = {str(row["Invoice_ID"]): float(str(row["Amount"])) for row in _rows(folder / "invoices.xlsx")}
    paid = _rows(folder / "payments.xlsx")
    found: list[list[object]] = []
    for row in paid:
        amount, text = float(str(row["Amount"])), str(row["Reference"] or "")
        names = [one for one in text.replace(" ", "").split(",") if one.startswith("INV")]
        found += [[row["Payment_ID"], f"Referenced invoice {n[:7]} not found"] for n in names if n[:7] not in due]
        known = [one for one in names if one[:7] in due]
        part = [amount if "(Partial)" in one or "(Remaining)" in one else due[one[:7]] for one in known]
        if len(known) > 1 and abs(sum(part) - amount) > 1e-5 * amount:
            invoices = [one[:7] for one in known]
            found.append([row["Payment_ID"], f"Combined payment amount mismatch for invoices {invoices}"])
        elif len(known) == 1 and "(Partial)" in text and (left := due[known[0][:7]] - amount) > 0:
            told = f"Partial payment for invoice {known[0][:7]}, remaining amount {left:.2f}"
            found.append([row["Payment_ID"], told])
    total, all_paid = sum(due.values()), sum(float(str(row["Amount"])) for row in paid)
    return [*found, ["TOTAL", f"Total amount mismatch: Invoices={total:.2f}, Payments={all_paid:.2f}"]]


def tax_credit() -> dict[str, str]:
    """Return Section B of the form: wages, supplies, rent and contractors from the task's files, and amounts derived
    from them.
    """
    lines = [
        "80168.46", "4836.38", "0", "4836.38", "101297.75", "20259.55", "8569.71", "65465.27", "16268.11", "16292.91",
        "106596", "27386.29", "4564.38", "102031.62", "14284.4268", "34543.9768",
    ]  # fmt: skip
    named = {f"topmostSubform[0].Page1[0].f1_{n}[0]": value for n, value in enumerate(lines, 20)}
    return {**named, "topmostSubform[0].Page1[0].c1_2[1]": "2"}
