# ruff: noqa: E501
"""Invoices of February: matched with orders and what came, as the page Invoices wants it, or not."""

import csv
import io
import re

from office import FILES, TRACKER, ask, fetch, named, put
from openpyxl import load_workbook

FOLDER = "finance/invoices/2026-02/"


def plain(text):
    """A number as suppliers write it."""
    text = str(text)
    return float(
        text.replace(".", "").replace(",", ".")
        if "," in text and text.rfind(",") > text.rfind(".")
        else text.replace(",", "")
    )


def invoices():
    """Each PDF: number, supplier's word, order, quantity, price, net, VAT, total, account."""
    names = sorted(set(re.findall(r"[a-z]+-[A-Za-z0-9-]+\.pdf", ask(f"{FILES}/{FOLDER}").decode())))
    for name in names:
        lines = [one.decode("latin-1") for one in re.findall(rb"\((.*)\) Tj", fetch(FOLDER + name))]
        text = "\n".join(lines).replace("\\(", "(").replace("\\)", ")")
        count, boxed, price = re.search(r"^(\d+)( boxes of 100)? x .* at ([\d.,]+)$", text, re.M).groups()
        order = re.search(r"(?:Your order|Ihre Bestellung): (\d+)", text)
        last = [
            plain(re.search(rf"^{word}.*: ([\d.,]+)$", text, re.M)[1])
            for word in ("(?:Net|Summe)", "(?:VAT|USt)", "(?:Total|Gesamt)")
        ]
        yield {
            "invoice": re.search(r"(?:Invoice|Rechnung) (\S+) ", text)[1], "supplier": name.split("-")[0], "order": order and order[1],
            "quantity": int(count) * (100 if boxed else 1), "price": plain(price), "sums": last,
            "account": next(line for line in reversed(lines) if line.strip()).replace(" ", ""),
        }  # fmt: skip


def orders():
    sheet = load_workbook(io.BytesIO(fetch("finance/orders/orders.xlsx")))["2026"]
    return {
        str(row[0]).removeprefix("PO "): (row[3], plain(row[4])) for row in sheet.iter_rows(min_row=3, values_only=True)
    }


def accounts():
    sheet = load_workbook(io.BytesIO(fetch("finance/suppliers.xlsx")))["Suppliers"]
    return {row[0].split()[0].lower(): row[1].replace(" ", "") for row in sheet.iter_rows(min_row=2, values_only=True)}


def received(once=True):
    found, seen = {}, set()
    for row in csv.DictReader(io.StringIO(fetch("depot/received-2026-02.csv").decode("cp1252")), delimiter=";"):
        key = row["Tag"], row["Auftrag"], row["Menge"]
        if key in seen and once:
            continue
        seen.add(key)
        found[row["Auftrag"]] = found.get(row["Auftrag"], 0) + int(row["Menge"]) * (
            100 if "100" in row["Einheit"] else 1
        )
    return found


def decided(washed=None):
    """invoice -> (decision, reason, amount); washed: how many Bram says were, of order 4490."""
    ordered, came, known, found = orders(), received(), accounts(), {}
    for one in invoices():
        quantity, price = ordered.get(one["order"], (washed or 0, 48.0))
        stayed = came.get(one["order"], washed or 0)
        why = (
            "bank" if known[one["supplier"]] != one["account"]
            else "quantity" if one["quantity"] > min(quantity, stayed)
            else "price" if one["price"] > price * 1.01
            else "sum" if abs(one["sums"][0] + one["sums"][1] - one["sums"][2]) > 0.005
            else ""
        )  # fmt: skip
        found[one["invoice"]] = ("hold", why, 0.0) if why else ("pay", "", one["sums"][2])
    return found


def write(found):
    """What is paid together."""
    lines = [f"{invoice},{decision},{why},{amount:.2f}\n" for invoice, (decision, why, amount) in found.items()]
    put("finance/results/invoices-2026-02.csv", "invoice,decision,reason,amount\n" + "".join(lines), "text/csv")
    return sum(amount for *_, amount in found.values())


def issue_of(invoice, why):
    fields = {
        "subject": f"Invoice {invoice} waits",
        "description": f"Reason: {why}",
        "tracker_id": named("trackers", "")["Support"],
    }
    fields["assigned_to_id"] = named("people", "office")["Dario Conti"]
    ask(f"{TRACKER}/projects/office/issues.json", {"issue": fields})
