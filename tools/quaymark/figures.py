"""Deliveries and fuel of February 2026: what happened, and how untidily three depots and a supplier wrote it down."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from .formats import table, workbook

SEED = 20260313
CUSTOMERS = (
    "Nordvik Foods", "Halden Pharma", "Brasserie Lemaire", "Oakridge Garden", "Kaiser Ersatzteile", "Pellworm Dairy",
    "Van Rijn Flowers", "Stadtbäckerei Ott",
)  # fmt: skip
GRACE = 15
COUNTS = {"Rotterdam": 74, "Antwerp": 46, "Duisburg": 33}
LATE = (-22, -9, -4, 0, 2, 5, 8, 9, 10, 11, 12, 13, 14, 15, 15, 16, 18, 21, 34, 52)
WEIGHTS = (4, 6, 8, 9, 9, 8, 7, 5, 4, 4, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1)


@dataclass(frozen=True)
class Delivery:
    number: str
    depot: str
    customer: str
    planned: datetime
    late: int
    cancelled: bool = False


def deliveries() -> list[Delivery]:
    """Each once."""
    chance = random.Random(SEED)
    found = []
    for depot, count in COUNTS.items():
        days = sorted(chance.choices(range(1, 29), k=count))
        for number, day in enumerate(days, 1):
            planned = datetime(2026, 2, day, chance.randrange(4, 23), chance.choice((0, 15, 30, 45)))
            late = chance.choices(LATE, WEIGHTS)[0]
            cancelled = chance.random() < (0.2 if depot == "Duisburg" else 0.04)
            number_ = f"{depot[0]}26-{number:04}"
            found.append(Delivery(number_, depot, chance.choice(CUSTOMERS), planned, late, cancelled))
    return found


def on_time() -> dict[str, tuple[int, int]]:
    """{depot: (deliveries, on time)}, by Rafael's definition."""
    found = {}
    for depot in COUNTS:
        real = [one for one in deliveries() if one.depot == depot and not one.cancelled]
        found[depot] = len(real), sum(one.late <= GRACE for one in real)
    return found


def delivery_sheet() -> bytes:
    """As three depots filled it in."""
    chance = random.Random(SEED + 1)
    own = {depot: [one for one in deliveries() if one.depot == depot] for depot in COUNTS}

    def again(rows: list[Delivery], share: float) -> list[Delivery]:
        """Some stand twice, the second time further below."""
        out = list(rows)
        for one in rows:
            if chance.random() < share:
                out.insert(min(len(out), out.index(one) + chance.randrange(2, 9)), one)
        return out

    def rotterdam(book: Any) -> None:
        sheet = book.create_sheet("Rotterdam")
        sheet["A1"] = "Deliveries February 2026: Rotterdam"
        sheet.merge_cells("A1:F1")
        sheet.append([])
        sheet.append(["Delivery", "Customer", "Planned", "Arrived", "Status", "Remark"])
        for one in again(own["Rotterdam"], 0.06):
            arrived = None if one.cancelled else one.planned + timedelta(minutes=one.late)
            status = "cancelled" if one.cancelled else "delivered"
            sheet.append([one.number, one.customer, one.planned, arrived, status, "" if one.late < 30 else "traffic"])
        sheet.append([None, "Total", None, None, len(own["Rotterdam"]), None])

    def antwerp(book: Any) -> None:
        sheet = book.create_sheet("Antwerpen")
        sheet["A1"] = "Antwerpen - leveringen februari 2026"
        sheet.merge_cells("A1:E1")
        sheet.append(["Nr", "Klant", "Gepland", "Aangekomen", "Status"])
        day = None
        for one in again(own["Antwerp"], 0.08):
            if day is not None and one.planned.day != day and chance.random() < 0.3:
                sheet.append([])
            day = one.planned.day
            arrived = "" if one.cancelled else f"{one.planned + timedelta(minutes=one.late):%d/%m/%Y %H:%M}"
            status = "geannuleerd" if one.cancelled else chance.choice(("geleverd", "Geleverd", "geleverd "))
            sheet.append([one.number, one.customer.upper(), f"{one.planned:%d/%m/%Y %H:%M}", arrived, status])
        sheet.append(["", "Totaal", "", "", sum(not one.cancelled for one in own["Antwerp"]) + 3])

    def duisburg(book: Any) -> None:
        sheet = book.create_sheet("Duisburg")
        sheet["A1"], sheet["D1"] = "Lieferungen", "Uhrzeiten"
        sheet.merge_cells("A1:C1")
        sheet.merge_cells("D1:E1")
        sheet.append(["Lieferung", "Kunde", "Tag", "geplant", "angekommen", "Status"])
        for one in again(own["Duisburg"], 0.05):
            arrived = one.planned + timedelta(minutes=one.late)
            day = f"{one.planned.day}.{one.planned.month}.26"
            came = "" if one.cancelled else f"{arrived.hour}:{arrived.minute:02}"
            status = "storniert" if one.cancelled else "zugestellt"
            sheet.append([one.number, one.customer, day, f"{one.planned.hour}:{one.planned.minute:02}", came, status])
        sheet.append(["Summe", None, None, None, None, len(own["Duisburg"])])

    def fill(book: Any) -> None:
        rotterdam(book)
        antwerp(book)
        duisburg(book)
        old = book.create_sheet("alt - nicht benutzen")
        old.append(["Januar", "1184 Lieferungen", "pünktlich 93,1 %"])
        old.sheet_state = "hidden"

    return workbook(fill)


@dataclass(frozen=True)
class Fill:
    vehicle: str
    day: int
    litres: float
    odometer: int


NEED = {"QM-09": 35.1, "QM-21": 31.3, "QM-17": 28.0}
CHANGED = 412_880
"""Where the old odometer of QM-17 stood when it was taken out, on 9 February."""


def fills() -> list[Fill]:
    """In the supplier's order: by day, then vehicle."""
    chance = random.Random(SEED + 2)
    found = []
    for number in range(1, 25):
        vehicle = f"QM-{number:02}"
        need = NEED.get(vehicle, round(chance.uniform(27.0, 28.6), 2))
        at = 412_130 if vehicle == "QM-17" else chance.randrange(80_000, 500_000)
        days = (2, 7, 13, 18, 23, 27) if number % 2 else (3, 9, 16, 24)
        for place, day in enumerate(days):
            drove = 0 if place == 0 else chance.randrange(640, 1_180)
            at += drove
            litres = round(chance.uniform(180, 330), 2) if place == 0 else round(drove * need / 100, 2)
            shown = at - CHANGED if vehicle == "QM-17" and day > 9 else at
            found.append(Fill(vehicle, day, litres, shown))
    return sorted(found, key=lambda one: (one.day, one.vehicle))


def consumption() -> dict[str, tuple[float, int, float]]:
    """{vehicle: (litres, kilometres, litres per 100 km)}, by Mei's rule."""
    found = {}
    for vehicle in sorted({one.vehicle for one in fills()}):
        own = [one for one in fills() if one.vehicle == vehicle]
        litres = sum(one.litres for one in own[1:])
        kilometres = own[-1].odometer - own[0].odometer + (CHANGED if vehicle == "QM-17" else 0)
        found[vehicle] = round(litres, 2), kilometres, litres / kilometres * 100
    return found


def conspicuous() -> list[str]:
    """More than 15 % above the median."""
    found = consumption()
    middle = median(rate for _, _, rate in found.values())
    return [vehicle for vehicle, (_, _, rate) in found.items() if rate > middle * 1.15]


def fuel_cards() -> bytes:
    """As the supplier's program writes it: cp1252, semicolons, commas and dots as in Germany."""
    rows: list[list[str]] = [["Tankkartenabrechnung für Quaymark, Währung EUR"], []]
    rows.append(["Datum", "Fahrzeug", "Säule", "Menge (l)", "km-Stand", "Betrag €"])
    for number, one in enumerate(fills()):
        litres = f"{one.litres:.2f}".replace(".", ",")
        paid = f"{one.litres * 1.671:,.2f}".translate(str.maketrans(",.", ".,"))
        odometer = f"{one.odometer:,}".replace(",", ".")
        rows.append(
            [f"{one.day:02}.02.2026", one.vehicle.replace("-", " "), str(number % 7 + 1), litres, odometer, paid]
        )
    total = f"{sum(one.litres for one in fills()) + 212.4:,.2f}".translate(str.maketrans(",.", ".,"))
    rows.append(["Summe", "", "", total, "", ""])
    return table(rows, sign=";", encoding="cp1252", end="\r\n")
