# ruff: noqa: E501
"""Who applied for the post of a planner in Antwerp, and how differently they wrote."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from .formats import letter, mail, page, table, workbook

FOLDER = "people/applications/planner-antwerp"
CLOSES, MONTHS = date(2026, 2, 28), 36
SYSTEMS = ("Nordlicht telematics", "FleetLine telematics", "a program for tachographs")
"""What counts, as Bram says: tachographs too, lists in a spreadsheet not."""
LEVELS = ("A1", "A2", "B1", "B2", "C1", "C2", "mother tongue")


@dataclass(frozen=True)
class Applicant:
    """`planned`: months (first, last) in which they planned road transport; `also`: other work, as it stands there."""

    name: str
    came: date
    planned: tuple[tuple[str, str], ...]
    dutch: str
    english: str
    system: str
    shifts: bool = True
    also: tuple[str, ...] = ()
    kind: str = "docx"
    withdrew: bool = False


APPLICANTS = (
    Applicant("Noor Claessens", date(2026, 2, 9), (("2021-03", "2024-05"),), "mother tongue", "C1", SYSTEMS[1], also=("2024-06 to today: parental leave",)),
    Applicant("Tariq Aziz", date(2026, 2, 12), (("2022-01", "2023-06"), ("2023-01", "2024-12")), "C1", "B2", SYSTEMS[2], kind="pdf", also=("The second post began half-time, beside the first.",)),
    Applicant("Emma Lind", date(2026, 2, 13), (("2018-01", "2025-12"),), "B2", "C2", SYSTEMS[0], withdrew=True),
    Applicant("Joost Bakker", date(2026, 3, 2), (("2017-05", "2026-02"),), "mother tongue", "B2", SYSTEMS[1], kind="eml"),
    Applicant("Carla Mendes", date(2026, 2, 16), (("2019-02", "2024-01"),), "A2", "C1", SYSTEMS[1], kind="pdf"),
    Applicant("Sven Olofsson", date(2026, 2, 17), (("2024-01", "2025-12"),), "B1", "C1", SYSTEMS[0], kind="txt", also=("2016-01 to 2023-12: manager of a warehouse, no planning",)),
    Applicant("Yara Demirci", date(2026, 2, 18), (("2021-06", "2025-09"),), "C2", "B2", "lists in a spreadsheet"),
    Applicant("Pieter Jong", date(2026, 2, 19), (("2015-04", "2022-03"),), "mother tongue", "B2", SYSTEMS[1], shifts=False, kind="pdf"),
    Applicant("Lukas Brenner", date(2026, 2, 20), (("2019-04", "2023-03"),), "B2", "B2", SYSTEMS[0], kind="de"),
    Applicant("Anna de Wit", date(2026, 2, 15), (("2020-09", "2025-02"),), "mother tongue", "B2", SYSTEMS[1], kind="pdf"),
    Applicant("Fatima el Idrissi", date(2026, 2, 24), (("2023-04", "2026-02"),), "C1", "C1", SYSTEMS[0], kind="txt"),
    Applicant("Mila Kovač", date(2026, 2, 26), (), "B1", "C1", SYSTEMS[0], kind="docx", also=("2019-01 to 2025-12: forwarding of sea and air freight",)),
)  # fmt: skip


def months(spans: tuple[tuple[str, str], ...]) -> int:
    """Each month once, first and last included."""
    taken = set()
    for first, last in spans:
        begin, end = (int(text[:4]) * 12 + int(text[5:]) - 1 for text in (first, last))
        taken |= set(range(begin, end + 1))
    return len(taken)


def why_not(one: Applicant) -> str:
    """The first of the vacancy's criteria that is not met; "" where all are."""
    reasons = {
        "late": one.came > CLOSES, "withdrawn": one.withdrew, "experience": months(one.planned) < MONTHS,
        "language": LEVELS.index(one.dutch) < LEVELS.index("B1") or LEVELS.index(one.english) < LEVELS.index("B2"),
        "shifts": not one.shifts, "system": one.system not in SYSTEMS,
    }  # fmt: skip
    return next((why for why, holds in reasons.items() if holds), "")


def answer() -> bytes:
    rows: list[tuple[object, ...]] = [("name", "decision", "reason")]
    return table([*rows, *((one.name, "decline" if (why := why_not(one)) else "invite", why) for one in APPLICANTS)])


VACANCY = """
# Planner (m/f/x), depot Antwerp, from 1 June 2026
Owner: Callum Reid. The post reports to Bram de Vries, who says what a criterion means where it is not plain.
# Who is invited
Whoever meets all of these. Who does not is declined for the first that is not met, in this order.
|Word|Criterion|
|late|The application came by 28 February 2026.|
|withdrawn|It was not withdrawn.|
|experience|At least 36 months of planning or dispatch in road transport. Months that two posts share count once; the first and the last month count.|
|language|Dutch B1 or better, and English B2 or better.|
|shifts|Ready for shifts from 4:00.|
|system|Has worked with telematics, or what Bram takes for as good.|
Where somebody writes twice, the later letter holds.
Applications are confidential: names of applicants stay among people who hire, and in this folder.
"""


def documents() -> dict[str, bytes]:
    """Below company/files."""
    found = {
        "people/vacancies/planner-antwerp.docx": letter(VACANCY),
        "people/applications/overview.xlsx": workbook(_overview),
    }
    for one in APPLICANTS:
        word = one.name.lower().replace(" ", "-").replace("č", "c")
        text = _german(one) if one.kind == "de" else _english(one)
        name = f"{FOLDER}/{one.came:%m%d}-{word}"
        if one.kind in ("docx", "de"):
            found[f"{name}.docx"] = letter(text)
        elif one.kind == "pdf":
            text = text.replace("English: B2", "English: B1") if one.name == "Anna de Wit" else text
            found[f"{name}.pdf"] = page(text.replace("# ", ""))
        elif one.kind == "eml":
            found[f"{name}.eml"] = mail(
                f"{one.name} <{word}@mail.invalid>",
                "jobs@quaymark.invalid",
                "Planner Antwerp",
                "Mon, 02 Mar 2026 07:12:00 +0000",
                text.replace("# ", ""),
            )
        else:
            found[f"{name}.txt"] = text.replace("# ", "").replace("\n", "\r\n").encode("cp1252")
    found[f"{FOLDER}/0305-mail-lind.eml"] = mail(
        "Emma Lind <emma-lind@mail.invalid>", "jobs@quaymark.invalid", "Re: Planner", "Thu, 05 Mar 2026 18:40:00 +0000",
        "Dear Mr Reid,\n\nI have found another post and take my application back. Thank you for your time.\n\nEmma Lind",
    )  # fmt: skip
    found[f"{FOLDER}/0220-de-wit-again.eml"] = mail(
        "Anna de Wit <anna-de-wit@mail.invalid>", "jobs@quaymark.invalid", "My application of 15 February", "Fri, 20 Feb 2026 08:05:00 +0000",
        "Dear Callum Reid,\n\none correction of what I sent last week: my certificate of English came yesterday, it is\n\n  English: B2\n\nAll else is as I wrote.\n\nAnna de Wit",
    )  # fmt: skip
    return found


def _english(one: Applicant) -> str:
    lines = [
        f"# {one.name}",
        f"Application of {one.came.day} {one.came:%B} {one.came.year}",
        "Planner, Antwerp",
        "What I did:",
    ]
    lines += [f"{first} to {last}: planning of road transport" for first, last in one.planned]
    lines += list(one.also)
    lines += [f"Dutch: {one.dutch}", f"English: {one.english}", f"Worked with: {one.system}"]
    lines.append(
        "Early shifts are fine, also from 4:00."
        if one.shifts
        else "I bring the children to school, so I cannot begin before 8:30."
    )
    return "\n".join(lines)


def _german(one: Applicant) -> str:
    (first, last), = one.planned  # fmt: skip
    spoken = "Muttersprache" if one.dutch == "mother tongue" else one.dutch
    return "\n".join([
        f"# {one.name}", f"Bewerbung vom {one.came:%d.%m.%Y}", "Disponent, Antwerpen", f"{first[5:]}/{first[:4]} - {last[5:]}/{last[:4]}: Disponent im Straßengüterverkehr",
        f"Niederländisch: {spoken}", f"Englisch: {one.english}", "Gearbeitet mit: Telematik von Nordlicht", "Frühschichten ab 4 Uhr sind kein Problem.",
    ])  # fmt: skip


def _overview(book: Any) -> None:
    sheet = book.create_sheet("Antwerp")
    sheet["A1"] = "Planner Antwerp - who wrote (not complete, see the folder)"
    sheet.merge_cells("A1:D1")
    sheet.append(["Name", "Came", "First look", "Note"])
    for place, one in enumerate(APPLICANTS[:9]):
        came = one.came if place % 2 else f"{one.came:%d.%m.}"
        sheet.append(
            [
                one.name if place % 3 else one.name.upper(),
                came,
                ("good", "?", "no", "ok")[place % 4],
                "rang up" if place == 2 else None,
            ]
        )
    sheet.append(["11 applications", None, None, None])
