# ruff: noqa: E501
"""Invoices of February 2026 beside what was ordered and what came: suppliers, orders, the ramp's list."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from .formats import mail, page, table, workbook

CENT, TOLERANCE = Decimal("0.01"), Decimal("1.01")
SUPPLIERS = (
    ("Koelservice Maas", "NL18 RABO 0301 5524 91", "+31 10 555 0170", "30 days"),
    ("PalletHuis", "NL44 INGB 0006 7781 20", "+31 78 555 0133", "14 days"),
    ("Rolfilm BV", "NL02 ABNA 0451 9087 66", "+31 10 555 0121", "30"),
    ("Truckwash Lek", "NL71 RABO 0178 2214 05", "+31 180 555 018", "at once"),
    ("Anker IT", "NL90 KNAB 0612 4471 33", "+31 85 555 0164", "14 days"),
    ("Schoonmaak Delta", "NL33 TRIO 0254 8812 70", "+31 10 555 0109", "30 days"),
    ("Nordlicht Telematik", "DE21 2004 1133 0087 5512 00", "+49 40 555 0190", "30 Tage"),
    ("Drukkerij Blauw", "NL55 INGB 0009 3310 44", "+31 10 555 0188", "14 days"),
)
ACCOUNT = {name: account for name, account, _, _ in SUPPLIERS}


@dataclass(frozen=True)
class Order:
    number: str
    supplier: str
    what: str
    quantity: int
    price: str
    by: str


ORDERS = (
    Order("4501", "Koelservice Maas", "Service of compressor", 2, "640.00", "Bram"),
    Order("4502", "PalletHuis", "Pallet 120 x 80", 200, "11.40", "Bram"),
    Order("4503", "Rolfilm BV", "Stretch film, roll", 60, "18.90", "Bram"),
    Order("4505", "Anker IT", "SSD 2 TB", 4, "119.00", "Sven"),
    Order("4506", "Anker IT", "Keyboard (cancelled)", 3, "49.00", "Sofia"),
    Order("4507", "Koelservice Maas", "Filter", 12, "36.50", "Bram"),
    Order("4508", "Schoonmaak Delta", "Cleaning, week", 4, "310.00", "Sofia"),
    Order("4509", "Nordlicht Telematik", "SIM, month", 24, "6.50", "Sven"),
    Order("4510", "Drukkerij Blauw", "Delivery form", 500, "0.18", "Bram"),
)
FRAME = Order("4490", "Truckwash Lek", "Washing of a vehicle", 8, "48.00", "Bram")
"""Of 2025, called off by telephone; eight were washed in February, as Bram says."""
RECEIVED = {
    "4501": (2,),
    "4502": (180, 20),
    "4503": (60, -12),
    "4505": (4,),
    "4507": (12,),
    "4508": (4,),
    "4509": (24,),
    "4510": (500,),
}
"""By order; -12 went back to the supplier."""


@dataclass(frozen=True)
class Invoice:
    """`shown`: the total that stands on it, where it is not what its lines come to."""

    number: str
    supplier: str
    order: str
    quantity: int
    price: str
    vat: int = 21
    account: str = ""
    shown: str = ""
    again: bool = False
    day: str = ""


INVOICES = (
    Invoice("2026-118", "Koelservice Maas", "4501", 2, "640.00", day="9 February 2026"),
    Invoice("88213", "PalletHuis", "4502", 200, "11.40", day="27-02-2026"),
    Invoice("5567", "Rolfilm BV", "4503", 60, "18.90", day="2026-02-16"),
    Invoice("0219", "Truckwash Lek", "4490", 8, "48.00", day="28/2/26"),
    Invoice("2026-0077", "Anker IT", "4505", 4, "129.00", day="12 Feb 2026"),
    Invoice(
        "2026-131", "Koelservice Maas", "4507", 12, "36.50", account="LT60 3250 0448 1190 7723", day="26 February 2026"
    ),
    Invoice("26-044", "Schoonmaak Delta", "4508", 4, "310.00", shown="1540.40", day="28-02-2026"),
    Invoice("RE-2026-311", "Nordlicht Telematik", "4509", 24, "6.50", vat=0, day="27.02.2026"),
    Invoice("7781", "Drukkerij Blauw", "4510", 500, "0.18", day="20-2-2026"),
)
AGAIN = "88213"
"""Sent once more as a mail, with a reminder's date."""


def total(one: Invoice) -> Decimal:
    """With VAT, as its lines come to."""
    net = one.quantity * Decimal(one.price)
    return (net * (100 + one.vat) / 100).quantize(CENT, ROUND_HALF_UP)


def settled(one: Invoice) -> tuple[str, str]:
    """(pay | hold, why it is held): the first of the rules on the page Invoices that it does not keep."""
    order = next(order for order in (*ORDERS, FRAME) if order.number == one.order)
    came = order.quantity if order is FRAME else sum(RECEIVED[one.order])
    if one.account and one.account != ACCOUNT[one.supplier]:
        return "hold", "bank"
    if one.quantity > min(order.quantity, came):
        return "hold", "quantity"
    if Decimal(one.price) > Decimal(order.price) * TOLERANCE:
        return "hold", "price"
    if one.shown and Decimal(one.shown) != total(one):
        return "hold", "sum"
    return "pay", ""


def answer() -> bytes:
    rows: list[tuple[object, ...]] = [("invoice", "supplier", "decision", "reason", "amount")]
    for one in INVOICES:
        decision, why = settled(one)
        rows.append((one.number, one.supplier, decision, why, total(one) if decision == "pay" else Decimal("0.00")))
    return table(rows)


def documents() -> dict[str, bytes]:
    """Below company/files."""
    found = {
        "finance/suppliers.xlsx": workbook(_suppliers),
        "finance/orders/orders.xlsx": workbook(_orders),
        "depot/received-2026-02.csv": _received(),
        "finance/invoices/2026-02/mail-pallethuis-2026-03-10.eml": mail(
            "PalletHuis <facturen@pallethuis.invalid>", "invoices@quaymark.invalid", "Factuur 88 213 / invoice", "Tue, 10 Mar 2026 11:05:00 +0000",
            "Dear customer,\n\nplease find our invoice:\n\nInvoice 88 213 of 10 March 2026\nYour order 4502\n200 pallets 120 x 80 at 11,40     2.280,00\nBTW 21 %"
            "                         478,80\nTotal EUR                      2.758,80\n\nNL44 INGB 0006 7781 20",
        ),
        "finance/invoices/2026-02/mail-koelservice-2026-02-26.eml": mail(
            "Koelservice Maas <administratie@koelservice-maas.example>", "invoices@quaymark.invalid", "New bank account", "Thu, 26 Feb 2026 16:58:00 +0000",
            "Dear sirs,\n\nour bank account was changed because of an audit. Please pay all invoices to the new account from now on, and today if possible. "
            "For questions you reach us at +370 5 555 0199, our usual number is out of order.\n\nAdministration",
        ),
    }  # fmt: skip
    for one in INVOICES:
        name = f"{one.supplier.split()[0].lower()}-{one.number}"
        found[f"finance/invoices/2026-02/{name}.pdf"] = page(_sheet(one))
    return found


def _number(value: object, german: bool) -> str:
    text = f"{Decimal(str(value)):,.2f}"
    return text.translate(str.maketrans(",.", ".,")) if german else text


def _sheet(one: Invoice) -> str:
    order = next(order for order in (*ORDERS, FRAME) if order.number == one.order)
    abroad = one.supplier.startswith("Nordlicht")
    net, gross = one.quantity * Decimal(one.price), one.shown or total(one)
    boxes = "5 boxes of 100" if one.number == "7781" else str(one.quantity)
    words = ("Rechnung", "vom", "Ihre Bestellung", "Summe", "USt. (Reverse Charge)", "Gesamt EUR") if abroad else (
        "Invoice", "of", "Your order", "Net", f"VAT {one.vat} %", "Total EUR")  # fmt: skip
    lines = [one.supplier.upper(), "", f"{words[0]} {one.number} {words[1]} {one.day}", "To: Quaymark, Rotterdam", ""]
    lines.append("As agreed on the telephone" if order is FRAME else f"{words[2]}: {one.order}")
    what = (
        "Washing QM-01 QM-02 QM-04 QM-05 QM-06 QM-08 QM-10 QM-12"
        if order is FRAME
        else order.what.removesuffix(" (cancelled)")
    )
    lines += [f"{boxes} x {what} at {_number(one.price, abroad)}", "", f"{words[3]}: {_number(net, abroad)}"]
    lines.append(f"{words[4]}: {_number(net * one.vat / 100, abroad)}")
    lines += [f"{words[5]}: {_number(gross, abroad)}", "", one.account or ACCOUNT[one.supplier]]
    return "\n".join(lines)


def _suppliers(book: Any) -> None:
    sheet = book.create_sheet("Suppliers")
    sheet.append(["Supplier", "Account", "Telephone", "Terms"])
    for place, row in enumerate(SUPPLIERS):
        sheet.append([row[0], row[1] if place % 2 else row[1].replace(" ", ""), *row[2:]])
    old = book.create_sheet("before 2024")
    old.append(["Koelservice Maas", "NL11 ABNA 0417 1643 00", "old account"])
    old.sheet_state = "hidden"


def _orders(book: Any) -> None:
    sheet = book.create_sheet("2026")
    sheet["A1"] = "Orders 2026 - prices without VAT"
    sheet.merge_cells("A1:G1")
    sheet.append(["Order", "Supplier", "What", "Quantity", "Price", "By", "State"])
    for place, one in enumerate(ORDERS):
        price: object = float(one.price) if place % 2 else one.price.replace(".", ",")
        state = "cancelled" if "cancelled" in one.what else "ordered"
        sheet.append(
            [
                int(one.number) if place % 3 else f"PO {one.number}",
                one.supplier.upper() if place % 4 == 3 else one.supplier,
                one.what,
                one.quantity,
                price,
                one.by,
                state,
            ]
        )
    frame = book.create_sheet("Frame orders 2025")
    frame.append(["Order", "Supplier", "What", "Price", "By", "Until"])
    frame.append(["PO 4490", FRAME.supplier, "Washing of a vehicle, on call by telephone", 48, FRAME.by, "12/2026"])
    frame.append(["PO 4471", "Rolfilm BV", "Stretch film", 17.5, "Bram", "12/2025"])


def _received() -> bytes:
    rows: list[tuple[object, ...]] = [("Tag", "Auftrag", "Lieferant", "Menge", "Einheit", "Bemerkung")]
    days = iter(range(3, 28))
    for order, amounts in RECEIVED.items():
        supplier = next(one.supplier for one in ORDERS if one.number == order)
        for amount in amounts:
            unit, count, remark = "Stück", amount, ""
            if order == "4510":
                unit, count = "Karton à 100", amount // 100
            if amount < 0:
                remark = "beschädigt, zurück"
            rows.append((f"{next(days):02}.02.2026", order, supplier, count, unit, remark))
            if order == "4502" and amount == 180:
                rows.append((rows[-1][0], order, supplier, count, unit, "doppelt eingetragen"))
    return table(rows, sign=";", encoding="cp1252", end="\r\n")
