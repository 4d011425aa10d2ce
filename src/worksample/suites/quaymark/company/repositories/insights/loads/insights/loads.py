"""Deliveries as Dispatch exports them: one line per delivery and change of status."""

import csv

COLUMNS = ("delivery", "customer", "depot", "planned", "status", "pallets")


def read(path):
    """All lines of an export. ValueError where a column is missing."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise ValueError(f"{path}: no column {', '.join(missing)}")
        return list(rows)


def of_month(rows, month):
    """The lines whose delivery was planned for a month such as 2026-02."""
    return [row for row in rows if row["planned"].startswith(month)]
