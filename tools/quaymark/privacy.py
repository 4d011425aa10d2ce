# ruff: noqa: E501
"""What lies about of somebody who asks to be forgotten, and of somebody with nearly the same name."""

from __future__ import annotations

from hashlib import sha256

from .formats import letter, mail, page, table

RULES = """
# Personal data: when somebody asks us to delete it
Quaymark, Imani Clarke and Nadia Haddad, as of May 2025
Whoever asks gets an answer within a month, and what we have of them is deleted: in lists, in notes, in mails. It is looked for in the folders customers and sales, under every way in which the name is written.
|What|What becomes of it|
|A line about this person alone|goes|
|A line with others in it|stays, without this person's name|
|A note about them, even by their initials|goes|
|A mail of theirs|goes|
|A signed contract|stays for seven years|
|What a claim hangs on that is not settled|stays until it is; whoever looks after the customer says whether there is one|
|The request and our answer|stay: they are the proof|
Data of others are not touched. The answer says what was deleted, what stays, and why.
"""
NEWSLETTER = (
    ("name", "address", "since"), ("Ingrid Solberg", "i.solberg@nordvik.invalid", "2024-02"), ("Jana Bremer", "jana.bremer@oakridge.invalid", "03/2023"), ("Tom Oak", "tom@oakridge.invalid", "2022"),
    ("Jan Bremer", "j.bremer@kaiser.invalid", "2025-01"), ("Chloé Lemaire", "chloe@lemaire.invalid", "2023-11"), ("BREMER, JANA", "j.bremer@oakridge.invalid", "2025-06"), ("Joris van Rijn", "joris@vanrijn.invalid", "?"),
)  # fmt: skip
VISITS = (
    ("day", "customer", "with", "who went"), ("14.01.2025", "Nordvik Foods", "Ingrid Solberg", "Imani"), ("2025-02-20", "Oakridge Garden", "Jana Bremer, Tom Oak", "Viktor"),
    ("03.04.2025", "Kaiser Ersatzteile", "Dirk Kaiser, Jan Bremer", "Viktor"), ("2025-09-11", "Oakridge Garden", "J. Bremer", "Imani"), ("06.11.2025", "Van Rijn Flowers", "Joris van Rijn", "Imani"),
)  # fmt: skip
NOTES = """Oakridge Garden - notes
Deliveries through the back yard, gate code with the gardener.
JB: rings up after ten only, has two dogs, does not like Viktor's jokes
Eleven pallets in spring, four in winter.
Frau Bremer leaves in January, Tom takes over.
Invoice address is not the delivery address!
"""


def after() -> dict[str, object]:
    """What the lists and notes hold when the work is right."""
    visits = [list(row) for row in VISITS[1:] if row[2] != "J. Bremer"]
    visits = [[*row[:2], row[2].replace("Jana Bremer, ", ""), row[3]] for row in visits]
    notes = [line for line in NOTES.splitlines() if "JB" not in line and "Bremer" not in line]
    newsletter = [list(row) for row in NEWSLETTER[1:] if "Jana" not in row[0] and "JANA" not in row[0]]
    return {"newsletter": newsletter, "visits": visits, "notes": notes}


STAY = (
    "customers/mail-oakridge-2026-01-12.eml",
    "customers/mail-bremer-2026-03-10.eml",
    "sales/contract-oakridge-2024.pdf",
)


def staying() -> dict[str, str]:
    """Documents that nobody may change -> their digests."""
    return {name: sha256(documents()[name]).hexdigest() for name in STAY}


def documents() -> dict[str, bytes]:
    """Below company/files."""
    return {
        "handbook/personal-data.docx": letter(RULES),
        "customers/newsletter.csv": table(NEWSLETTER, sign=";", encoding="utf-8-sig"),
        "customers/visits-2025.csv": table(VISITS, sign=";", encoding="cp1252", end="\r\n"),
        "customers/notes-oakridge.txt": NOTES.encode(),
        "customers/mail-bremer-2025-11-20.eml": mail(
            "Jana Bremer <jana.bremer@oakridge.invalid>", "imani@quaymark.invalid", "Christmas", "Thu, 20 Nov 2025 11:12:00 +0000",
            "Dear Imani,\n\nthank you for the calendar. The dogs have eaten December.\n\nJana",
        ),
        "customers/mail-oakridge-2026-01-12.eml": mail(
            "Jana Bremer <jana.bremer@oakridge.invalid>", "support@quaymark.invalid", "Eleven pallets too warm", "Mon, 12 Jan 2026 08:02:00 +0000",
            "Dear all,\n\nthe delivery R26-0031 came at 9 degrees. We have thrown away eleven pallets of bulbs and ask you for a credit of 2,310 EUR.\n\nJana Bremer\nOakridge Garden",
        ),
        "customers/mail-bremer-2026-03-10.eml": mail(
            "Jana Bremer <jana@bremer.invalid>", "privacy@quaymark.invalid", "Please delete my data", "Tue, 10 Mar 2026 20:45:00 +0000",
            "Dear Quaymark,\n\nI no longer work for Oakridge Garden. Please delete whatever you have of me, and tell me what that was and what you keep, if anything, and why.\n\nJana Bremer",
        ),
        "sales/contract-oakridge-2024.pdf": page("Contract 2024-03: Dispatch for Oakridge Garden\n\n1 March 2024, three years, 780 EUR a month\n\nSigned:  Jana Bremer            Maren Holt"),
    }  # fmt: skip
