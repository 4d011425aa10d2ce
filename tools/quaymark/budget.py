# ruff: noqa: E501
"""The fourth quarter of 2025: what was planned, what was posted, and what was posted where it does not belong."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from .formats import letter, mail, table, workbook

CENTRES = {
    100: "Engineering",
    200: "Product and customers",
    300: "Data",
    400: "Depot",
    500: "People and office",
    600: "Sales",
}
PLANNED = {100: 96_000, 200: 54_000, 300: 27_000, 400: 118_000, 500: 33_000, 600: 46_000}
GRANTED = {400: 8_000}
"""By Maren's mail of October, in no workbook."""
SPENT = {100: 97_240, 200: 55_130, 300: 27_860, 400: 145_920, 500: 31_950, 600: 34_300}
"""What belongs to each."""
GATEWAYS = Decimal("11800.00")
"""Posted to 200, though engineering bought them."""
SHARE, LEAST = Decimal("0.10"), Decimal(5_000)
TEXTS = {
    100: ("Servers", "Licences", "External test", "Monitoring", "Training"), 200: ("Survey tool", "Translations", "Visits to customers", "Support desk"),
    300: ("Storage", "Licence of reports", "Course"), 400: ("Diesel", "Tyres", "Electricity cold store", "Repairs", "Pallets", "Wages, temporary"),
    500: ("Rent of rooms", "Coffee", "Advertisement of vacancies", "Cleaning"), 600: ("Travel", "Print", "Dinner with customers", "Entry fee"),
}  # fmt: skip


@dataclass(frozen=True)
class Posting:
    day: date
    centre: int
    text: str
    amount: Decimal
    shown: str = ""
    """The centre as it was typed."""


def postings() -> list[Posting]:
    """In the ledger's order. The last of each centre makes its sum right."""
    chance = random.Random(20251231)
    found = []
    for centre, whole in SPENT.items():
        left = Decimal(whole) - (GATEWAYS if centre == 100 else 0)
        count = 9 + 2 * (centre // 100 % 3)
        for place in range(count):
            share = int(left * 100) // (count - place)
            amount = left if place == count - 1 else Decimal(chance.randrange(share // 2, share * 3 // 2)) / 100
            left -= amount
            day = date(2025, 10, 1) + timedelta(chance.randrange(92))
            found.append(Posting(day, centre, chance.choice(TEXTS[centre]), amount))
    found.append(Posting(date(2025, 11, 6), 200, "Gateways GW-7, 20 pieces", GATEWAYS))
    power = Posting(date(2025, 12, 19), 400, "Electricity cold store, December", Decimal("6240.00"))
    at = next(place for place, one in enumerate(found) if one.centre == 400 and one.amount > power.amount)
    found[at] = replace(found[at], amount=found[at].amount - power.amount)
    found.append(replace(power, shown="?"))
    return sorted(found, key=lambda one: (one.day, one.centre, one.text))


def answer() -> bytes:
    rows: list[tuple[object, ...]] = [("centre", "budget", "actual", "variance")]
    for centre, planned in PLANNED.items():
        budget, actual = planned + GRANTED.get(centre, 0), SPENT[centre]
        rows.append((centre, budget, f"{actual:.2f}", f"{actual - budget:.2f}"))
    return table(rows)


def conspicuous() -> list[int]:
    """Off by more than a tenth and more than 5,000 EUR, over or under."""
    off = {centre: Decimal(SPENT[centre] - PLANNED[centre] - GRANTED.get(centre, 0)) for centre in CENTRES}
    return [c for c, by in off.items() if abs(by) > LEAST and abs(by) > SHARE * (PLANNED[c] + GRANTED.get(c, 0))]


def documents() -> dict[str, bytes]:
    """Below company/files."""
    return {
        "finance/budget/budget-2025.xlsx": workbook(_budget),
        "finance/budget/how-we-look-at-it.docx": letter(RULES),
        "finance/budget/mail-depot-2025-10-14.eml": mail(
            "Maren Holt <maren@quaymark.invalid>", "helena@quaymark.invalid", "Depot, fourth quarter", "Tue, 14 Oct 2025 17:20:00 +0000",
            "Helena,\n\nthe depot gets 8,000 EUR on top for October to December, for the temporary people at the ramp. Bram knows. It is not in your workbook yet.\n\nMaren",
        ),
        "finance/ledger/ledger-2025-q4.csv": _ledger(),
    }  # fmt: skip


RULES = """
# Budget and what became of it
Quaymark, Helena Brandt
A quarter's actual cost is what was posted with a day of that quarter, less what was taken back (lines marked Storno take back the line whose number they name).
Each posting belongs to one centre. Where the ledger does not say which, Dario knows. Where a lead says that a posting is not theirs, and Dario agrees, it is counted where it belongs.
|Variance|actual less budget: above zero is more than planned|
|Conspicuous|more than 10 % of the budget, and more than 5,000 EUR, over or under|
What is conspicuous is explained by the lead of the centre, in one sentence, after all postings are where they belong. A guess is no explanation.
|Centre|Lead|
|100 Engineering|Idris Bello|
|200 Product and customers|Petra Novak|
|300 Data|Rafael Costa|
|400 Depot|Bram de Vries|
|500 People and office|Nadia Haddad|
|600 Sales|Viktor Hale|
"""


def _budget(book: Any) -> None:
    for quarter in (3, 4):
        sheet = book.create_sheet(f"Q{quarter}")
        sheet["A1"] = f"Budget 2025, quarter {quarter} (thousand EUR)"
        sheet.merge_cells("A1:E1")
        sheet.append(["Centre", "first month", "second", "third", "Sum"])
        for place, (centre, whole) in enumerate(PLANNED.items()):
            whole = whole if quarter == 4 else whole - 3_000
            months = [whole * 3 // 10 / 1000, whole * 3 // 10 / 1000]
            months.append(whole / 1000 - sum(months))
            row = place + 3
            shown = [f"{month:g}".replace(".", ",") if place % 2 else month for month in months]
            sheet.append([f"{centre} {CENTRES[centre]}", *shown, whole / 1000 if place % 3 else f"=SUM(B{row}:D{row})"])
        sheet.append(["Total", None, None, None, 381])
    wish = book.create_sheet("Q4 wishes - not granted")
    wish.append(["100 Engineering", 120])
    wish.sheet_state = "hidden"


def _ledger() -> bytes:
    chance = random.Random(4)
    german = str.maketrans(",.", ".,")
    rows: list[tuple[object, ...]] = [("Beleg", "Datum", "Kst", "Text", "Soll EUR", "Haben EUR")]
    number = 25_400
    lines: list[tuple[Posting, int]] = []
    for one in postings():
        number += chance.randrange(1, 4)
        lines.append((one, number))
    for place, (one, own) in enumerate(lines):
        shown = one.shown or (f"{one.centre}" if place % 7 else f"{one.centre} ")
        rows.append((own, f"{one.day:%d.%m.%Y}", shown, one.text, f"{one.amount:,.2f}".translate(german), ""))
        if place % 11 == 5:  # posted twice, and taken back
            rows.append(
                (own + 5000, f"{one.day:%d.%m.%Y}", shown, one.text, f"{one.amount:,.2f}".translate(german), "")
            )
            rows.append(
                (
                    own + 7000,
                    f"{one.day + timedelta(2):%d.%m.%Y}",
                    shown,
                    f"Storno {own + 5000}",
                    "",
                    f"{one.amount:,.2f}".translate(german),
                )
            )
    rows.append((29_001, "02.01.2026", 400, "Diesel, January", "4.310,00", ""))
    rows.append((29_004, "29.09.2025", 600, "Fair, deposit", "2.500,00", ""))
    rows.append(("", "", "", "Summe", "401.220,15", ""))
    return table(rows, sign=";", encoding="cp1252", end="\r\n")
