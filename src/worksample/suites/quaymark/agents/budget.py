# ruff: noqa: E501
"""The fourth quarter of 2025: budget, ledger, and what belongs elsewhere."""

import csv
import io
import re

from office import fetch, put
from openpyxl import load_workbook

FOLDER = "finance/results/variance-2025-q4"


def planned(granted=True):
    """centre -> EUR; granted: with what Maren's mail adds."""
    sheet = load_workbook(io.BytesIO(fetch("finance/budget/budget-2025.xlsx")))["Q4"]
    found = {}
    for row in sheet.iter_rows(min_row=3, values_only=True):
        if re.match(r"\d00 ", str(row[0])):
            found[int(row[0][:3])] = 1000 * sum(float(str(month).replace(",", ".")) for month in row[1:4])
    if granted:
        mail = fetch("finance/budget/mail-depot-2025-10-14.eml").decode()
        found[400] += float(re.search(r"gets ([\d,]+) EUR", mail)[1].replace(",", ""))
    return {centre: round(budget) for centre, budget in found.items()}


def posted(unclear=None, moved=()):
    """centre -> EUR. unclear: whose the line without a centre is; moved: (text, from, to)."""
    found = {}
    for row in csv.DictReader(io.StringIO(fetch("finance/ledger/ledger-2025-q4.csv").decode("cp1252")), delimiter=";"):
        if not re.search(r"\.1[012]\.2025$", row["Datum"] or ""):
            continue
        plain = lambda text: float((text or "0").replace(".", "").replace(",", "."))
        centre = int(row["Kst"]) if row["Kst"].strip().isdigit() else unclear
        for text, old, new in moved:
            if text in row["Text"] and centre == old:
                centre = new
        if centre:
            found[centre] = found.get(centre, 0) + plain(row["Soll EUR"]) - plain(row["Haben EUR"])
    return found


def write(budget, actual):
    """What is conspicuous."""
    lines = [f"{c},{budget[c]},{actual[c]:.2f},{actual[c] - budget[c]:.2f}\n" for c in sorted(budget)]
    put(f"{FOLDER}.csv", "centre,budget,actual,variance\n" + "".join(lines), "text/csv")
    return [c for c in sorted(budget) if abs(actual[c] - budget[c]) > max(5000, budget[c] / 10)]


def explain(reasons):
    put(f"{FOLDER}.md", "".join(f"{centre}: {why}\n" for centre, why in reasons.items()), "text/markdown")
