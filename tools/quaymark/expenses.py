# ruff: noqa: E501
"""Expenses of February 2026: what was spent, what the rules pay for, and how untidily it was handed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from .formats import letter, mail, page, scan, table, workbook

RATES = {"EUR": Decimal(1), "GBP": Decimal("0.8431"), "USD": Decimal("1.0842"), "CHF": Decimal("0.9412")}
"""What one EUR is, of February, final."""
HOTEL, HOTEL_TOWNS, HEAD, ALONE, KILOMETRE = Decimal(120), Decimal(150), Decimal(45), Decimal(32), Decimal("0.23")
TOWNS = ("Hamburg", "London", "Paris")
DAYS, WITHOUT = 60, Decimal(10)


@dataclass(frozen=True)
class Claim:
    """`kind`: hotel, guests, alone, car or other. `also`: what is on the receipt and is not paid for."""

    number: str
    who: str
    day: date
    what: str
    claimed: str
    currency: str = "EUR"
    kind: str = "other"
    count: int = 1
    also: str = "0"
    town: str = ""
    receipt: tuple[str, ...] = ()
    handed_in: date = date(2026, 3, 5)
    again: str = ""
    """Why it is another's, or was paid before."""
    shown: str = ""
    """The day as it was written."""
    remark: str = ""


CLAIMS = (
    Claim("E-0201", "Viktor Hale", date(2026, 2, 12), "Hotel Hamburg, trade fair", "318.00", kind="hotel", count=2, also="20.00", town="Hamburg",
          receipt=("HOTEL ALSTERBLICK  Hamburg", "Guest: V. Hale      10 to 12 February 2026", "2 nights at 149.00          298.00", "2 breakfasts at 10.00        20.00", "Total EUR                   318.00"), shown="12.2.26"),
    Claim("E-0202", "Viktor Hale", date(2026, 2, 11), "Dinner with guests, Hamburg", "212.40", kind="guests", count=4, also="38.00",
          receipt=("RESTAURANT FISCHERHAUS  Hamburg", "11.02.2026 21:14      Table 6      4 covers", "Food and water              174.40", "Wine, 1 bottle               38.00", "Total EUR                   212.40", "Guests:  _______________________"), shown="11/02/2026", remark="customers"),
    Claim("E-0203", "Imani Clarke", date(2026, 2, 17), "Train to London and back", "86.20", "GBP", receipt=("CHANNEL RAIL", "I. Clarke   Rotterdam - London - Rotterdam", "17 Feb 2026 / 20 Feb 2026", "Paid GBP 86.20"), shown="2026-02-17"),
    Claim("E-0204", "Imani Clarke", date(2026, 2, 20), "Hotel London, 3 nights", "411.00", "GBP", kind="hotel", count=3, town="London",
          receipt=("THE LANTERN, London", "Ms Clarke, 17-20 Feb 2026", "3 nights room only @ 137.00", "TOTAL GBP 411.00"), shown="20 Feb 2026"),
    Claim("E-0205", "Bram de Vries", date(2026, 2, 19), "Parking, Antwerp", "9.50", shown="19-2"),
    Claim("E-0206", "Bram de Vries", date(2026, 2, 23), "Tools for gate 4", "64.90", shown="23-2", remark="bill is somewhere"),
    Claim("E-0207", "Petra Novak", date(2026, 2, 11), "Taxi from the fair, Hamburg", "31.60", receipt=("TAXI HAMBURG  no. 7741", "11.02.2026 18:32   Messe - Alsterblick", "EUR 31.60", "VISA **** 4410  P NOVAK"), shown="11.02.2026"),
    Claim("E-0208", "Viktor Hale", date(2026, 2, 11), "Taxi to the hotel", "31.60", again="double", receipt=("TAXI HAMBURG  no. 7741", "11.02.2026 18:32   Messe - Alsterblick", "EUR 31.60", "VISA **** 4410  P NOVAK"), shown="11/02/2026", remark="shared with Petra"),
    Claim("E-0209", "Sven Larsson", date(2026, 2, 6), "Cables for gateways", "23.80", "USD", receipt=("PORTLAND CABLE CO.", "Order 55102   Feb 6, 2026", "4 x USB-serial cable       $23.80"), shown="2/6/26"),
    Claim("E-0210", "Callum Reid", date(2026, 2, 24), "Lunch with an applicant", "71.00", kind="guests", count=2, receipt=("EETHUIS DE KADE", "24-02-2026   2 persons", "Lunch      EUR 71.00"), shown="24-02-2026", remark="with A. Visser"),
    Claim("E-0211", "Mei Lin", date(2025, 11, 28), "Book: time series", "45.00", receipt=("Boekhandel Prins", "28-11-2025", "1 x Time series     EUR 45.00"), handed_in=date(2026, 3, 6), shown="28.11."),
    Claim("E-0212", "Grace Okafor", date(2026, 2, 12), "Train to Duisburg and back", "58.00", receipt=("BAHN  Duisburg Hbf", "G. Okafor 12.02.2026", "Hin und zurück   58,00 EUR"), shown="12.02.26"),
    Claim("E-0213", "Viktor Hale", date(2026, 1, 14), "Taxi to the airport", "48.50", again="paid", receipt=("STADSTAXI", "14 Jan 2026   Airport", "EUR 48.50     V. Hale"), shown="14-01-2026"),
    Claim("E-0214", "Aiko Tanaka", date(2026, 2, 18), "Own car to Antwerp and back, 184 km", "55.20", kind="car", count=184, shown="18 February", remark="0.30 a km"),
    Claim("E-0215", "Oskar Nowak", date(2026, 2, 25), "Dinner, alone, Antwerp", "38.00", kind="alone", receipt=("Frituur & Zo, Antwerpen", "25/02/2026", "EUR 38.00    1 person"), shown="25/02/26"),
    Claim("E-0216", "Pavel Horak", date(2026, 2, 3), "Fee of the conference", "290.00", "CHF", receipt=("ROUTING DAYS 2026", "Participant: Pavel Horak", "Invoice of 3 February 2026", "CHF 290.00, paid"), shown="2026-02-03"),
)  # fmt: skip
PAID_BEFORE = ("E-0117", "Viktor Hale", "14.01.2026", "Taxi, airport", "48,50")

POLICY = """
# Expenses: what we pay for
Quaymark, as of 1 January 2026. Owner: Dario Conti.
# Receipts
Above 10.00 EUR nothing is paid without a receipt. Receipts lie in finance/expenses/receipts, under the number of the claim. For kilometres none is needed.
# Nights
Up to 120 EUR a night for the room. Breakfast is not paid for. What a night costs above that is the traveller's.
# Meals
|Meal|What we pay|
|alone, away from Rotterdam|up to 32 EUR|
|with guests|up to 45 EUR for each who sat at the table, our own people too|
Meals with guests need the names of all who sat there. Without names nothing is paid. Alcohol is paid by nobody: it is taken off first.
# Own car
0.23 EUR a kilometre.
# Other currencies
By the final rate of the month in which it was paid (finance/expenses/rates.csv: what one euro was). Rounded to cents, half a cent goes up. Limits in euro hold for what comes out.
# Not paid at all
What is handed in more than 60 days after it was spent. What was paid before. What two people claim is paid once: to whoever paid.
"""


def settled(one: Claim) -> tuple[str, Decimal]:
    """(pay | cut | refuse, amount in EUR), by the rules as they stand since 1 February."""
    late = (one.handed_in - one.day).days > DAYS
    claimed = _euro(Decimal(one.claimed), one.currency)
    lacks = not one.receipt and one.kind != "car" and claimed > WITHOUT
    if late or lacks or one.again:
        return "refuse", Decimal("0.00")
    rest = _euro(Decimal(one.claimed) - Decimal(one.also), one.currency)
    most = {
        "hotel": (HOTEL_TOWNS if one.town in TOWNS else HOTEL) * one.count, "guests": HEAD * one.count, "alone": ALONE,
        "car": KILOMETRE * one.count,
    }.get(one.kind, rest)  # fmt: skip
    amount = min(rest, most).quantize(Decimal("0.01"))
    return ("pay" if amount == claimed else "cut"), amount


def _euro(amount: Decimal, currency: str) -> Decimal:
    return (amount / RATES[currency]).quantize(Decimal("0.01"), ROUND_HALF_UP)


def total() -> Decimal:
    return sum((settled(one)[1] for one in CLAIMS), Decimal(0))


def documents() -> dict[str, bytes]:
    """Below company/files."""
    found = {
        "finance/expenses/claims-2026-02.xlsx": workbook(_claims),
        "finance/expenses/policy.docx": letter(POLICY),
        "finance/expenses/mail-nights-2026-02-02.eml": mail(
            "Helena Brandt <helena@quaymark.invalid>", "everybody@quaymark.invalid", "Nights in Hamburg, London, Paris",
            "Mon, 02 Feb 2026 09:30:00 +0000",
            "Dear all,\n\nrooms at the fair cannot be had for 120 EUR. From 1 February we pay up to 150 EUR a night in Hamburg, London and Paris. "
            "Everywhere else, and for everything else, the rules stay as they are. Dario changes the document when he finds the time.\n\nHelena",
        ),
        "finance/expenses/rates.csv": table(_rates(), sign=";"),
        "finance/expenses/receipts/E-0206-note.png": scan("\nBram\n\nbill for tools is lost, sorry\nask at the shop?\n", 4),
    }  # fmt: skip
    for one in CLAIMS:
        if one.receipt:
            found[f"finance/expenses/receipts/{one.number}.pdf"] = page("\n".join(one.receipt))
    return found


def _rates() -> list[tuple[str, str, str, str]]:
    rows = [("month", "currency", "1 EUR is", "state")]
    for month, state, shift in (
        ("2026-01", "final", "0.0091"),
        ("2026-02", "provisional", "0.0057"),
        ("2026-02", "final", "0"),
    ):
        for currency, rate in RATES.items():
            if currency != "EUR":
                rows.append((month, currency, f"{rate + Decimal(shift)}".replace(".", ","), state))
    return rows


def _claims(book: Any) -> None:
    sheet = book.create_sheet("February")
    sheet["A1"] = "Expenses handed in, February 2026 (filled in by whoever claims)"
    sheet.merge_cells("A1:G1")
    sheet.append([])
    sheet.append(["Claim", "Who", "Day", "What", "Amount", "Handed in", "Remark"])
    signs = {"EUR": "", "GBP": "£", "USD": "$", "CHF": "CHF "}
    for place, one in enumerate(CLAIMS):
        amount: object = f"{signs[one.currency]}{one.claimed}"
        if one.currency == "EUR":
            amount = float(one.claimed) if place % 2 else one.claimed.replace(".", ",") + " €"
        handed = one.handed_in if place % 3 else f"{one.handed_in:%d.%m.%Y}"
        who = one.who if place % 4 else one.who.split()[0]
        sheet.append(
            [
                one.number if place % 5 else one.number.replace("-", " "),
                who,
                one.shown,
                one.what,
                amount,
                handed,
                one.remark or None,
            ]
        )
    sheet.append([None, "Total", None, None, 1873.4, None, "currencies??"])
    old = book.create_sheet("January (paid)")
    old.append(["Claim", "Who", "Day", "What", "EUR"])
    old.append(["E-0116", "Lena Fischer", "12.01.2026", "Train Duisburg", "58,00"])
    old.append(list(PAID_BEFORE))
    old.sheet_state = "hidden"


def answer() -> bytes:
    """The table that a right result equals."""
    rows: list[tuple[object, ...]] = [("claim", "decision", "amount")]
    return table([*rows, *((one.number, *settled(one)) for one in CLAIMS)])
