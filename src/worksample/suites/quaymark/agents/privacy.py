# ruff: noqa: E501
"""What is left of somebody in lists, notes and mails, and taking it out."""

import re

from office import FILES, ask, fetch, put

NEWSLETTER, VISITS, NOTES = "customers/newsletter.csv", "customers/visits-2025.csv", "customers/notes-oakridge.txt"


def keep(name, encoding, change, end="\n"):
    """Write a file anew with each line as `change` gives it back; None takes it out."""
    text = fetch(name).decode(encoding)
    lines = [new for line in text.splitlines() if (new := change(line)) is not None]
    put(name, (end.join(lines) + end).encode(encoding))


def forget(hers=re.compile(r"jana|j\. bremer|j\.bremer@oakridge|\bJB\b|frau bremer", re.I)):
    def visit(line):
        if ";J. Bremer;" in line:
            return None
        return line.replace("Jana Bremer, ", "")

    keep(NEWSLETTER, "utf-8-sig", lambda line: None if hers.search(line) else line)
    keep(VISITS, "cp1252", visit, "\r\n")
    keep(NOTES, "utf-8", lambda line: None if hers.search(line) else line)
    delete("customers/mail-bremer-2025-11-20.eml")


def delete(name):
    ask(f"{FILES}/{name}", None, "DELETE")
