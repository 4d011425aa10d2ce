# ruff: noqa: E501
"""Leave of 2026 until the end of March: who has which contract, who was away, and what that leaves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_UP, Decimal
from typing import Any

from .formats import letter, sheet_ods, table, workbook

FULL, MOST_CARRIED = Decimal(26), Decimal(5)
UNTIL = date(2026, 3, 31)
HOLIDAYS = ((date(2026, 1, 1), "New Year's Day"), (date(2026, 4, 3), "Good Friday"), (date(2026, 4, 6), "Easter Monday"), (date(2026, 4, 27), "King's Day"),
            (date(2026, 5, 14), "Ascension"), (date(2026, 5, 25), "Whit Monday"), (date(2026, 12, 25), "Christmas"), (date(2026, 12, 26), "Christmas"))  # fmt: skip


@dataclass(frozen=True)
class Contract:
    """`days`: weekdays that are worked, 0 is Monday. `begins`: in 2026, otherwise before."""

    who: str
    days: tuple[int, ...]
    carried: str
    begins: date = date(2026, 1, 1)


@dataclass(frozen=True)
class Absence:
    """`kind`: leave, sick, half (half a day of leave), unpaid, cancelled."""

    who: str
    first: date
    last: date
    kind: str = "leave"


WEEK = (0, 1, 2, 3, 4)
CONTRACTS = (
    Contract("aiko", WEEK, "3"), Contract("grace", (0, 1, 2, 3), "4.5"), Contract("lena", WEEK, "7"), Contract("mei", (0, 1, 3), "0"),
    Contract("oskar", WEEK, "5"), Contract("pavel", WEEK, "2"), Contract("sven", WEEK, "1.5"), Contract("tomas", WEEK, "6"),
    Contract("imani", (1, 2, 3, 4), "2"), Contract("rafael", WEEK, "0", date(2026, 2, 1)),
)  # fmt: skip


def _day(text: str) -> date:
    return date.fromisoformat(f"2026-{text}")


ABSENCES = (
    Absence("aiko", _day("01-02"), _day("01-02")), Absence("aiko", _day("02-13"), _day("02-16")),
    Absence("grace", _day("01-01"), _day("01-06")), Absence("grace", _day("03-19"), _day("03-19"), "half"),
    Absence("lena", _day("02-23"), _day("02-27"), "cancelled"), Absence("lena", _day("03-06"), _day("03-06"), "half"),
    Absence("mei", _day("01-12"), _day("01-23")),
    Absence("oskar", _day("02-16"), _day("02-20")),
    Absence("pavel", _day("01-26"), _day("01-30"), "unpaid"), Absence("pavel", _day("03-02"), _day("03-03")),
    Absence("sven", _day("03-27"), _day("04-02")),
    Absence("tomas", _day("03-23"), _day("03-25")), Absence("tomas", _day("03-23"), _day("03-25")), Absence("tomas", _day("02-02"), _day("02-02"), "half"),
    Absence("imani", _day("02-09"), _day("02-13")), Absence("imani", _day("03-05"), _day("03-06"), "sick"),
    Absence("rafael", _day("03-09"), _day("03-10")),
)  # fmt: skip
ILL = {"oskar": (_day("02-17"), _day("02-18"))}
"""Ill in their leave, with a certificate: only Nadia knows."""


def worked(one: Contract, first: date, last: date) -> list[date]:
    free = {day for day, _ in HOLIDAYS}
    days = (first + timedelta(number) for number in range((last - first).days + 1))
    return [day for day in days if day.weekday() in one.days and day not in free and day <= UNTIL]


def taken(one: Contract) -> Decimal:
    found = Decimal(0)
    for absence in dict.fromkeys(absence for absence in ABSENCES if absence.who == one.who):
        if absence.kind in ("leave", "half"):
            days = worked(one, absence.first, absence.last)
            back = set(worked(one, *ILL[one.who])) if one.who in ILL else set()
            found += sum(day not in back for day in days) * (Decimal("0.5") if absence.kind == "half" else 1)
    return found


def entitled(one: Contract) -> Decimal:
    """By days a week, and by months from the first whole one; half days, rounded up."""
    share = FULL * len(one.days) / 5 * (13 - one.begins.month) / 12
    return (share * 2).quantize(Decimal(1), ROUND_UP) / 2


def settled(one: Contract) -> tuple[Decimal, Decimal, Decimal, Decimal, Decimal]:
    """(entitlement, carried, taken, left of the year's, what lapses on 31 March)."""
    carried, used = min(Decimal(one.carried), MOST_CARRIED), taken(one)
    lapses = max(carried - used, Decimal(0))
    return entitled(one), carried, used, entitled(one) - max(used - carried, Decimal(0)), lapses


def answer() -> bytes:
    rows: list[tuple[object, ...]] = [("who", "entitlement", "carried", "taken", "left", "lapses")]
    return table([*rows, *((one.who, *(f"{n:.1f}" for n in settled(one))) for one in CONTRACTS)])


RULES = """
# Leave
Quaymark, Nadia Haddad, as of January 2026
# How much
26 days a year for who works five days a week; less days a week in proportion. Who begins in the year has a twelfth for each month, the first one too. Rounded up to half days.
# What counts
A day of leave is a day on which one would have worked: no weekends, no holidays (office/holidays-2026.ods), none of one's free weekdays. Half a day counts 0.5. Sick days and
unpaid days are no leave. What was cancelled was not taken. What stands in the list twice was taken once. Who falls ill in their leave and hands in a certificate has those days back.
# From last year
At most 5 days come along from the year before. They are taken first, and what is left of them on 31 March lapses.
What is meant by left: what remains of the year's own days.
"""


def documents() -> dict[str, bytes]:
    """Below company/files."""
    return {
        "people/leave/rules.docx": letter(RULES),
        "people/leave/contracts.xlsx": workbook(_contracts),
        "people/leave/absences-2026.csv": _absences(),
        "office/holidays-2026.ods": sheet_ods({"2026": [("Day", "Holiday"), *((f"{day:%d-%m-%Y}", name) for day, name in HOLIDAYS)], "2025": [("Day", "Holiday"), ("01-01-2025", "New Year's Day")]}),
    }  # fmt: skip


_SHORT = ("Mo", "Tu", "We", "Th", "Fr")


def _contracts(book: Any) -> None:
    sheet = book.create_sheet("Contracts")
    sheet["A1"] = "Who works when (confidential)"
    sheet.merge_cells("A1:E1")
    sheet.append(["Account", "Days", "Since", "Left of 2025", "Remark"])
    for place, one in enumerate(CONTRACTS):
        days = "Mo-Fr" if one.days == WEEK else " ".join(_SHORT[day] for day in one.days)
        since: object = one.begins if one.begins != date(2026, 1, 1) else f"{2018 + place % 7}"
        carried: object = float(one.carried) if place % 2 else one.carried.replace(".", ",")
        sheet.append(
            [
                one.who if place % 3 else one.who.capitalize() + " ",
                days,
                since,
                carried,
                "see mail" if place == 4 else None,
            ]
        )
    old = book.create_sheet("2024")
    old.append(["grace", "Mo-Fr", "", 9])
    old.sheet_state = "hidden"


def _absences() -> bytes:
    rows: list[tuple[object, ...]] = [("who", "from", "to", "what", "granted")]
    words = {
        "leave": ("leave", "Urlaub", "holiday"),
        "half": ("leave, half a day",) * 3,
        "sick": ("sick",) * 3,
        "unpaid": ("unpaid",) * 3,
        "cancelled": ("leave - CANCELLED",) * 3,
    }
    for place, one in enumerate(sorted(ABSENCES, key=lambda one: (one.first, one.who))):
        shown = ("%d.%m.%Y", "%Y-%m-%d", "%d/%m/%Y")[place % 3]
        last = "" if one.last == one.first else one.last.strftime(shown)
        rows.append(
            (
                one.who if place % 4 else one.who.upper(),
                one.first.strftime(shown),
                last,
                words[one.kind][place % 3].replace(",", ""),
                "NH" if place % 5 else "N.H.",
            )
        )
    return table(rows, sign=",", encoding="utf-8-sig", end="\r\n")
