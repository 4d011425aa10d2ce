# ruff: noqa: E501
"""python -m tools.quaymark [--check]: writes the documents, or says which are not as it would write them."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from . import access, applicants, budget, contracts, expenses, figures, invoices, leave, papers, privacy, rooms, sales
from .formats import letter, mail, page, scan, table, workbook

ANSWERS = {
    "adm-access": access, "fin-expenses": expenses, "fin-invoices": invoices, "fin-variance": budget, "hr-leave": leave,
    "hr-screening": applicants,
}  # fmt: skip
"""Whose right results are worked out from what the documents were made of."""
SUITE = Path(__file__).parents[2] / "src/worksample/suites/quaymark"


def made() -> dict[str, bytes]:
    """Every file, by its name below the suite."""
    found = {f"company/files/{name}": data for name, data in documents().items()}
    found["tasks/ds-on-time/reference/answer.json"] = _json(figures.on_time())
    fuel = {"rates": {v: rate for v, (_, _, rate) in figures.consumption().items()}, "over": figures.conspicuous()}
    found["tasks/ds-fuel/reference/answer.json"] = _json(fuel)
    for name, task in ANSWERS.items():
        found[f"tasks/{name}/reference/answer.csv"] = task.answer()
    found["tasks/adm-rooms/reference/kept.json"] = _json(rooms.kept())
    found["tasks/oth-erasure/reference/after.json"] = _json(privacy.after())
    found["tasks/oth-erasure/reference/before.json"] = _json(privacy.staying())
    return found


def documents() -> dict[str, bytes]:
    """The files of the company that this makes; others lie there as they were written."""
    mails = {name: mail(*rest) for name, *rest in papers.MAILS}
    return {
        "handbook/handbook.docx": letter(papers.HANDBOOK),
        "handbook/first-day.pdf": page(papers.FIRST_DAY),
        "handbook/chat.md": papers.CHAT.encode(),
        "product/words-for-customers.docx": letter(papers.STYLE),
        "product/roadmap-draft3.pdf": page(papers.ROADMAP),
        "product/releases/1.7.0.md": papers.NOTES_17.encode(),
        "product/test-plan-1.8.pdf": page(papers.TEST_PLAN),
        "product/requests.xlsx": workbook(_requests),
        "depot/cold-chain.docx": letter(papers.COLD_CHAIN),
        "depot/inspection-2026-03-17.png": scan(papers.INSPECTION, 1),
        "depot/counts-february.png": scan(papers.COUNTS, 2),
        "depot/qm-17-garage.png": scan(papers.ODOMETER, 3),
        "depot/vehicles.xlsx": workbook(_vehicles),
        "depot/shifts-march.xlsx": workbook(_shifts),
        "depot/ramp-times.csv": table(
            (("depot", "from", "to"), ("Rotterdam", "04:00", "22:00"), ("Antwerp", "5h", "21h"), ("Duisburg", "05.00", "13.00")),
            sign="\t", encoding="utf-16",
        ),
        "sales/ott-delivery-by-night.pdf": page(papers.NIGHT),
        "data/README.txt": papers.README_DATA.encode(),
        "data/deliveries-2026-02.xlsx": figures.delivery_sheet(),
        "data/fuel-2026-02.csv": figures.fuel_cards(),
        "data/exports/sample-2026-02.csv": table(papers.SAMPLE, encoding="utf-8-sig"),
        "data/diesel-weekly.csv": table(papers.DIESEL),
        "data/complaints-2026.xlsx": workbook(_complaints),
        **{f"data/surveys/satisfaction-2025-q{n}.csv": _survey(n) for n in (1, 2, 3)},
        "data/surveys/form-2026.docx": letter(
            "# How content are you?\n|Question|1 to 5|\n|On time| |\n|Friendly drivers| |\n|Would you recommend us?| |"
        ),
        "engineering/logs/routing-2026-03-12.log": papers.LOG.encode(),
        "engineering/post-mortem-antwerp.md": papers.POST_MORTEM.encode(),
        "engineering/on-call.md": papers.ON_CALL.encode(),
        "engineering/architecture.docx": letter(papers.ARCHITECTURE),
        "engineering/review-2026-03-05.md": papers.REVIEW.encode(),
        "engineering/servers.csv": table(
            (("name", "what", "since"), ("gull", "production", "2023-05"), ("tern", "staging (old)", "06/2021"),
             ("heron", "staging (new)", "2026-02"), ("tern", "staging (old)", "2021-06"), ("auk", "backups", "?")),
            encoding="latin-1",
        ),
        "customers/contacts.xlsx": workbook(_contacts),
        **mails,
        **{
            name: data
            for one in (access, applicants, budget, contracts, expenses, invoices, leave, privacy, rooms, sales)
            for name, data in one.documents().items()
        },
    }  # fmt: skip


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


def _requests(book: Any) -> None:
    sheet = book.create_sheet("Wishes")
    sheet["A1"] = "What customers asked for (not deduplicated!)"
    sheet.merge_cells("A1:D1")
    for row in (
        ("Customer", "Wish", "When", "Votes"), ("Nordvik Foods", "Recurring orders", "12.01.2026", 4),
        ("Kaiser Ersatzteile", "recurring orders", "2026-01-20", 2), ("Pellworm Dairy", "Recurring orders ", "Feb 26", "3?"),
        ("Halden Pharma", "Temperature curve per delivery", "2/17/26", 5), ("Oakridge Garden", "Photos of damaged goods", "2026-02-19", 2),
        ("Van Rijn Flowers", "Longer imports", "20.02.2026", 9), ("Brasserie Lemaire", "Files with tabs", "2026-03-10", 1),
        (None, "Sum", None, 21),
    ):  # fmt: skip
        sheet.append(row)
    book.create_sheet("Ideas of Viktor").sheet_state = "hidden"
    book["Ideas of Viktor"].append(["Sell temperatures as an extra?"])


def _vehicles(book: Any) -> None:
    chance = random.Random(7)
    sheet = book.create_sheet("Fleet")
    sheet.append(papers.VEHICLES_HEAD)
    for number in range(1, 25):
        depot = "Rotterdam" if number <= 12 else "Antwerp" if number <= 19 else "Duisburg"
        due = f"{chance.randrange(1, 13):02}/2026" if number % 3 else f"2026-{chance.randrange(1, 13):02}-01"
        sheet.append([f"QM-{number:02}", depot, chance.randrange(2014, 2025), 33 if number % 4 else 18, due])
    sheet.append(["25 vehicles"])


def _shifts(book: Any) -> None:
    chance = random.Random(11)
    sheet = book.create_sheet("March")
    sheet["A1"] = "Ramp Rotterdam"
    sheet.merge_cells("A1:H1")
    sheet.append(["", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
    for name in ("Joke", "Wim", "Fatima", "Piotr", "Anneke", "Samir"):
        sheet.append([name, *(chance.choice(("E", "L", "N", "-", "E/L")) for _ in range(7))])
    sheet["A10"] = "E early 4-12, L late 12-20, N night 20-4"
    sheet.merge_cells("A10:H10")


def _complaints(book: Any) -> None:
    chance = random.Random(13)
    sheet = book.create_sheet("2026")
    sheet.append(["Date", "Customer", "Cause", "Settled"])
    causes = ("late", "Late", "too warm", "wrong gate", "damaged", "late ", "rude driver")
    for number in range(34):
        day = (
            f"{number % 28 + 1}.{number // 17 + 1}.26"
            if number % 3
            else f"2026-{number // 17 + 1:02}-{number % 28 + 1:02}"
        )
        sheet.append(
            [day, chance.choice(figures.CUSTOMERS), chance.choice(causes), chance.choice(("yes", "no", "x", ""))]
        )
    sheet.append(["", "", "Total", 36])


def _contacts(book: Any) -> None:
    sheet = book.create_sheet("Customers")
    sheet.append(["Customer", "Contact", "Mail", "Since", "Depot"])
    people = (
        "Ingrid Solberg",
        "Quality",
        "Chloé Lemaire",
        "Tom Oak",
        "Dirk Kaiser",
        "Büro Pellworm",
        "Joris van Rijn",
        "Herr Ott",
    )
    for number, (customer, person) in enumerate(zip(figures.CUSTOMERS, people, strict=True)):
        word = customer.split()[0].lower().replace("ä", "ae")
        since = f"{2018 + number}-0{number % 9 + 1}" if number % 2 else f"0{number % 9 + 1}/{2018 + number}"
        sheet.append(
            [customer, person, f"info@{word}.invalid", since, ("Rotterdam", "Antwerp", "Duisburg")[number % 3]]
        )
    sheet.append(["Nordvik", "Ingrid Solberg", "info@nordvik.invalid ", "2018", "Rotterdam"])


def _survey(quarter: int) -> bytes:
    chance = random.Random(100 + quarter)
    rows: list[list[object]] = [["customer", "depot", "on_time", "friendly", "recommend"]]
    for customer in figures.CUSTOMERS[:7]:
        depot = chance.choice(("Rotterdam", "Antwerp", "Duisburg"))
        rows.append([customer, depot, *(chance.choice((3, 4, 4, 5, "")) for _ in range(3))])
    return table(rows, encoding="cp1252")


def main(words: list[str]) -> int:
    """0 where nothing is to be done."""
    stale = []
    for name, data in made().items():
        path = SUITE / name
        if path.is_file() and path.read_bytes() == data:
            continue
        stale.append(name)
        if "--check" not in words:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    print("\n".join(stale) or f"{len(made())} files are as they should be")
    return int(bool(stale) and "--check" in words)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
