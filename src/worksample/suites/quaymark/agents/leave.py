# ruff: noqa: E501
"""Leave until the end of March, worked out of contracts, the list of absences and the holidays."""

import csv
import io
import re
import zipfile
from datetime import date, datetime, timedelta
from math import ceil

from office import fetch, put
from openpyxl import load_workbook

UNTIL = date(2026, 3, 31)
WEEK = ["Mo", "Tu", "We", "Th", "Fr"]


def holidays():
    body = zipfile.ZipFile(io.BytesIO(fetch("office/holidays-2026.ods"))).read("content.xml").decode()
    return {date(int(year), int(month), int(day)) for day, month, year in re.findall(r"(\d\d)-(\d\d)-(\d{4})", body)}


def contracts():
    sheet = load_workbook(io.BytesIO(fetch("people/leave/contracts.xlsx")))["Contracts"]
    for who, days, since, left, *_ in sheet.iter_rows(min_row=3, values_only=True):
        begins = since.month if isinstance(since, datetime) and since.year == 2026 else 1
        yield who.strip().lower(), WEEK if days == "Mo-Fr" else days.split(), begins, float(str(left).replace(",", "."))


def absences():
    seen = set()

    def day(text):
        shown = "%Y-%m-%d" if "-" in text else "%d.%m.%Y" if "." in text else "%d/%m/%Y"
        return datetime.strptime(text, shown).date()

    for row in csv.DictReader(io.StringIO(fetch("people/leave/absences-2026.csv").decode("utf-8-sig"))):
        first = day(row["from"])
        last = day(row["to"]) if row["to"] else first
        half = "half" in row["what"]
        if (row["who"].lower(), first, last) in seen or row["what"] in ("sick", "unpaid") or "CANCELLED" in row["what"]:
            continue
        seen.add((row["who"].lower(), first, last))
        yield row["who"].lower(), first, last, 0.5 if half else 1.0


def balances(ill=None, part_time=True):
    """who -> (entitlement, carried, taken, left, lapses); ill: who -> days that come back."""
    free, listed, found = holidays(), list(absences()), {}
    for who, days, begins, left in contracts():
        entitled = ceil(26 * (len(days) / 5 if part_time else 1) * (13 - begins) / 12 * 2 - 1e-9) / 2
        taken = 0.0
        for name, first, last, share in listed:
            span = [first + timedelta(n) for n in range((last - first).days + 1)] if name == who else []
            work = [
                d
                for d in span
                if d.weekday() < 5 and d not in free and d <= UNTIL and (WEEK[d.weekday()] in days or not part_time)
            ]
            taken += share * sum(d not in (ill or {}).get(who, ()) for d in work)
        carried = min(left, 5.0)
        found[who] = entitled, carried, taken, entitled - max(taken - carried, 0.0), max(carried - taken, 0.0)
    return found


def write(found):
    rows = "".join(",".join([who, *(f"{n:.1f}" for n in numbers)]) + "\n" for who, numbers in found.items())
    put("people/leave/balances-2026-03-31.csv", "who,entitlement,carried,taken,left,lapses\n" + rows, "text/csv")
    return {who: numbers[-1] for who, numbers in found.items() if numbers[-1]}
