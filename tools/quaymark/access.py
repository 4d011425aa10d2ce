# ruff: noqa: E501
"""Who has a right to which shared folder, as the server exports it, and who has left."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from .formats import table, workbook

WRITE = {
    "finance": ("helena", "dario", "maren"), "people": ("nadia", "callum", "sofia", "maren"), "customers": ("imani", "petra", "viktor", "yusuf"), "depot": ("bram",),
    "data": ("rafael", "mei", "oskar"), "engineering": ("idris", "lena", "tomas", "aiko", "grace", "pavel", "sven"), "sales": ("viktor", "helena", "maren"),
}  # fmt: skip
READ = {
    "customers": ("everyone",),
    "depot": ("everyone",),
    "data": ("everyone",),
    "engineering": ("everyone",),
    "sales": ("petra",),
}
LEFT = ("rosa.klein", "tom.berg")
AGREED = (("finance", "viktor"), ("customers", "oskar"))
"""What owners say was agreed, and is still needed."""
MOST = timedelta(days=90)
EXTRA = (
    ("finance", "viktor", "r", "2025-09-01", ""), ("finance", "idris", "r", "2025-06-12", ""), ("finance", "rosa.klein", "rw", "2023-02-01", ""), ("people", "bram", "r", "2025-03-03", ""),
    ("people", "x-payroll-office", "r", "2025-11-03", ""), ("customers", "oskar", "rw", "2026-03-03", ""), ("customers", "mei", "rw", "2026-02-09", ""), ("customers", "tom.berg", "r", "2024-05-06", ""),
    ("depot", "everyone", "rw", "2026-02-27", ""), ("data", "lena", "rw", "2025-10-20", ""), ("engineering", "rosa.klein", "rw", "2023-02-01", ""), ("engineering", "x-pentest", "r", "2026-01-20", "2026-04-15"),
    ("sales", "x-fair-agency", "rw", "2026-02-01", "2026-06-30"),
)  # fmt: skip


def findings() -> list[tuple[str, str, str]]:
    """(folder, account, remove | reduce), by the page Access."""
    found = []
    for folder, who, right, given, ends in EXTRA:
        if (folder, who) in AGREED or who in WRITE[folder]:
            continue
        if who.startswith("x-"):
            if not ends or date.fromisoformat(ends) - date.fromisoformat(given) > MOST:
                found.append((folder, who, "remove"))
            continue
        reads = {"everyone", who} & set(READ.get(folder, ())) and who not in LEFT
        if not reads:
            found.append((folder, who, "remove"))
        elif right == "rw":
            found.append((folder, who, "reduce"))
    return found


def answer() -> bytes:
    return table([("folder", "account", "action"), *findings()])


def documents() -> dict[str, bytes]:
    """Below company/files."""
    return {"office/access/shares-2026-03-14.csv": _export(), "office/access/leavers.xlsx": workbook(_leavers)}


def _export() -> bytes:
    rows: list[tuple[object, ...]] = [("share", "principal", "rights", "granted", "expires")]
    every = [(folder, who, "rw", "2024-01-08", "") for folder, people in WRITE.items() for who in people]
    every += [(folder, who, "r", "2024-01-08", "") for folder, people in READ.items() for who in people]
    for place, (folder, who, right, given, ends) in enumerate(
        sorted([*every, *EXTRA], key=lambda row: (row[0], row[3], row[1]))
    ):
        plain = who.startswith("x-") or "." in who or who == "everyone"
        shown = who if plain else (f"QM\\{who}", f"{who}@quaymark.invalid", who.upper())[place % 3]
        words = {"r": ("READ", "r--", "read only"), "rw": ("READ/WRITE", "rw-", "full")}[right][place % 3]
        day = date.fromisoformat(given)
        rows.append(
            (
                f"/{folder}" if place % 2 else folder.capitalize(),
                shown,
                words,
                (given, f"{day:%d.%m.%Y}")[place % 2],
                ends or ("never", "")[place % 2],
            )
        )
        if place == 9:
            rows.append(rows[-1])
    return table(rows, sign="\t", encoding="utf-16")


def _leavers(book: Any) -> None:
    sheet = book.create_sheet("Gone")
    sheet.append(["Name", "Account then", "Last day", "Came back"])
    sheet.append(["Rosa Klein", "rosa.klein", date(2025, 12, 31), None])
    sheet.append(["Tom Berg", "tom.berg", "30.6.2025", None])
    sheet.append(["Yusuf Demir", "yusuf", "2023-04-30", "1 September 2024"])
    sheet.append(["3 people", None, None, None])
