# ruff: noqa: E501
"""Expenses of February: what a careful, or a hasty, Jules makes of claims, rules and receipts."""

import csv
import io
import re
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal

from office import fetch, put
from openpyxl import load_workbook

CENT = Decimal("0.01")


def receipt(claim):
    """The lines of a receipt; none where there is none."""
    try:
        data = fetch(f"finance/expenses/receipts/{claim}.pdf")
    except OSError:
        return []
    return [line.decode("latin-1") for line in re.findall(rb"\((.*?)\) Tj", data)]


def claims():
    book = load_workbook(io.BytesIO(fetch("finance/expenses/claims-2026-02.xlsx")))
    for row in book["February"].iter_rows(min_row=4, values_only=True):
        if row[0]:
            yield row[0].replace(" ", "-"), *row[1:]


def rates():
    rows = csv.DictReader(io.StringIO(fetch("finance/expenses/rates.csv").decode()), delimiter=";")
    return {
        row["currency"]: Decimal(row["1 EUR is"].replace(",", "."))
        for row in rows
        if row["month"] == "2026-02" and row["state"] == "final"
    }


def decided(nights=150):
    """claim -> (decision, amount)."""
    exchange, found = {"EUR": Decimal(1), **rates()}, {}
    paid = load_workbook(io.BytesIO(fetch("finance/expenses/claims-2026-02.xlsx")))["January (paid)"]
    before = {(row[1], row[2]) for row in paid.iter_rows(min_row=2, values_only=True)}
    for claim, who, day, what, amount, handed, *_ in claims():
        text = str(amount)
        currency = next((code for sign, code in (("£", "GBP"), ("$", "USD"), ("CHF", "CHF")) if sign in text), "EUR")
        value = Decimal(re.search(r"[\d.,]+", text)[0].replace(",", "."))
        euro = lambda number: (number / exchange[currency]).quantize(CENT, ROUND_HALF_UP)
        lines = receipt(claim)
        card = next((line for line in lines if "VISA" in line), "")
        other = card and who.split()[0].upper()[0] + " " + who.split()[-1].upper() not in card
        day_bought = next((m for line in lines if (m := re.search(r"(\d\d)-(\d\d)-(\d{4})", line))), None)
        came = handed.date() if isinstance(handed, datetime) else datetime.strptime(handed, "%d.%m.%Y").date()
        old = bool(day_bought) and (came - date(*(int(n) for n in day_bought.groups()[::-1]))).days > 60
        again = any(w.startswith(who.split()[0]) and str(day).replace("-", ".") == d for w, d in before)
        if (not lines and " km" not in what and euro(value) > 10) or other or old or again:
            found[claim] = "refuse", Decimal("0.00")
            continue
        off = sum((Decimal(line.split()[-1]) for line in lines if "breakfast" in line or "Wine" in line), Decimal(0))
        most = euro(value - off)
        if "Hotel" in what:
            count = int(next(re.search(r"(\d) nights", line)[1] for line in lines if "nights" in line))
            most = min(most, Decimal(count * nights))
        elif "alone" in what:
            most = min(most, Decimal(32))
        elif " km" in what:
            most = int(re.search(r"(\d+) km", what)[1]) * Decimal("0.23")
        elif "guests" in what or "applicant" in what:
            most = min(most, 45 * (4 if "guests" in what else 2))
        found[claim] = ("pay" if most == euro(value) else "cut"), most.quantize(CENT)
    return found


def write(found):
    """What is paid together."""
    put(
        "finance/results/expenses-2026-02.csv",
        "claim,decision,amount\n" + "".join(f"{c},{d},{a}\n" for c, (d, a) in found.items()),
        "text/csv",
    )
    return sum(amount for _, amount in found.values())
