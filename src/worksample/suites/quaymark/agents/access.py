# ruff: noqa: E501
"""Rights to shared folders beside the page Access."""

import csv
import io
import re
from datetime import date, datetime

from office import TRACKER, ask, fetch, named, page, put
from openpyxl import load_workbook

NAMES = {"tomás": "tomas"}


def allowed():
    """folder -> (who may write, who may read)."""
    found = {}
    for line in page("platform", "Access").splitlines():
        cells = [cell.strip().lower() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and cells[0] not in ("folder", "---"):
            write, read = (
                {NAMES.get(name.strip(), name.strip()) for name in cell.split(",") if name.strip()}
                for cell in cells[2:]
            )
            found[cells[0]] = write, {"everyone" if name == "all" else name for name in read}
    return found


def leavers():
    sheet = load_workbook(io.BytesIO(fetch("office/access/leavers.xlsx")))["Gone"]
    return {row[1] for row in sheet.iter_rows(min_row=2, values_only=True) if row[1] and not row[3]}


def shares():
    """Each right once: folder, account, whether it writes, given, ends."""
    rows = csv.DictReader(io.StringIO(fetch("office/access/shares-2026-03-14.csv").decode("utf-16")), delimiter="\t")
    found = []
    for row in rows:
        who = re.sub(r"^QM\\|@quaymark\.invalid$", "", row["principal"])
        who = who if who.startswith("x-") else who.lower()
        given = datetime.strptime(row["granted"], "%Y-%m-%d" if "-" in row["granted"] else "%d.%m.%Y").date()
        ends = date.fromisoformat(row["expires"]) if "-" in row["expires"] else None
        one = row["share"].strip("/").lower(), who, row["rights"] in ("READ/WRITE", "rw-", "full"), given, ends
        if one not in found:
            found.append(one)
    return found


def findings(agreed=()):
    """[(folder, account, action)]; agreed: (folder, account) that an owner wants kept."""
    rules, gone, found = allowed(), leavers(), []
    for folder, who, writes, given, ends in shares():
        write, read = rules[folder]
        if who.startswith("x-"):
            if ends is None or (ends - given).days > 90:
                found.append((folder, who, "remove"))
        elif who in gone:
            found.append((folder, who, "remove"))
        elif who not in write and (folder, who) not in agreed:
            may = who in read or "everyone" in read
            if writes and may:
                found.append((folder, who, "reduce"))
            elif not may:
                found.append((folder, who, "remove"))
    return found


def write(found):
    put(
        "office/access/findings-2026-03.csv",
        "folder,account,action\n" + "".join(f"{','.join(row)}\n" for row in found),
        "text/csv",
    )


def issue_of(found):
    fields = {
        "subject": "Rights of shared folders to be changed",
        "description": "\n".join(f"* {folder}: {who}: {what}" for folder, who, what in found),
    }
    fields |= {
        "tracker_id": named("trackers", "")["Support"],
        "assigned_to_id": named("people", "platform")["Sven Larsson"],
    }
    ask(f"{TRACKER}/projects/platform/issues.json", {"issue": fields})
