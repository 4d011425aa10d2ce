# ruff: noqa: E501
"""Contracts of the two planners who begin in April."""

from __future__ import annotations

from .formats import letter, mail, table

CONTRACT = """
# Contract of employment
between Quaymark, Rotterdam, and {name}
|Post|Planner, depot Rotterdam|
|First day|{first}|
|Hours|{hours}|
|Salary|{salary} EUR a year, gross|
|Leave|by the rules of the house|
The first two months are a time of trial. Signed on {signed} by Maren Holt and {name}.
"""
HIRED = (
    ("Mara Lenz", "1 April 2026", "40 a week", "38,400", "19 February 2026"),
    ("Ties Hofman", "01/04/2026", "40 a week", "39,600", "24-02-2026"),
)


def documents() -> dict[str, bytes]:
    """Below company/files."""
    found = {
        f"people/contracts/{name.split()[1].lower()}-2026.docx": letter(CONTRACT.format(name=name, first=first, hours=hours, salary=salary, signed=signed))
        for name, first, hours, salary, signed in HIRED
    }  # fmt: skip
    found["people/contracts/mail-hofman-2026-03-09.eml"] = mail(
        "Ties Hofman <ties.hofman@mail.invalid>", "callum@quaymark.invalid", "My first day", "Mon, 09 Mar 2026 19:22:00 +0000",
        "Hello Callum,\n\nmy old employer does not let me go before 10 April. Could I begin later, on the 13th or the 15th? I hope that is no trouble.\n\nTies",
    )  # fmt: skip
    found["office/desks.csv"] = table(
        (("desk", "room", "who"), (12, "Ground floor", "Callum"), (13, "Ground floor", "Sofia"), (14, "First floor", "(intern, until January)"),
         (15, "First floor", "Aiko"), (15, "First floor", "Aiko?"), (17, "First floor", "Grace"), (19, "First floor", "printer"), (21, "Loft", "Tomás"), (22, "Loft", "-"), (23, "Loft", "broken")),
        sign=";", encoding="cp1252",
    )  # fmt: skip
    return found
