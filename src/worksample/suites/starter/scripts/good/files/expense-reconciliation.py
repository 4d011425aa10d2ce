"""Matches a bank statement with a ledger, explains what is left, and writes the entries that put the ledger right."""

import csv
import datetime as dt
import itertools
import json
import re
import sys
import unicodedata
from decimal import Decimal
from pathlib import Path

source, target = Path(sys.argv[1]), Path(sys.argv[2])
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905


def cents(text):
    """An amount in cents; the last of comma and point is the decimal mark."""
    text = text.strip()
    if not text:
        return 0
    text = text.replace(".", "").replace(",", ".") if text.rfind(",") > text.rfind(".") else text.replace(",", "")
    return int(Decimal(text) * 100)


def words(text):
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return set(re.findall(r"[a-z]{4,}|\d{3,}", plain))


def table(name):
    data = (source / name).read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252")
    lines = text.splitlines()
    while not lines[0].startswith(("Ref", "Entry")):
        lines.pop(0)
    return list(csv.DictReader(lines, delimiter=";" if ";" in lines[0] else ","))


bank, ledger = [], []
for row in table("bank.csv"):
    closing = cents(row["Balance"])
    if row["Ref"]:
        number, month = row["Date"].split()
        day = dt.date(2026, MONTHS.index(month.lower()) + 1, int(number))
        amount = cents(row["Paid in"]) - cents(row["Paid out"])
        bank.append({"id": row["Ref"], "day": day, "kind": row["Type"], "text": row["Description"], "cents": amount})
book = 0
for name in ("open-items.csv", "ledger.csv"):
    for row in table(name):
        amount = cents(row["Debit"]) - cents(row["Credit"])
        book += amount if name == "ledger.csv" else 0
        if row["Entry"]:
            a, b, c = map(int, re.split(r"[-/]", row["Date"]))
            day = dt.date(a, b, c) if a > 31 else dt.date(c, b, a)
            text = f"{row['Text']} {row['Document']}"
            entry = {"id": row["Entry"], "day": day, "text": text, "cents": amount, "contra": row["Contra"]}
            ledger.append(entry | {"document": row["Document"]})
vouchers = {p.stem: p.read_text(encoding="utf-8") for p in sorted((source / "receipts").iterdir())}
matches, unmatched, entries = [], [], []


def post(ref, debit, credit, amount, text):
    entries.append([ref, debit, credit, f"{amount / 100:.2f}", text])


def voucher_for(amount):
    """A voucher whose last figure is this amount."""
    for name, text in vouchers.items():
        if amount in [cents(f) for f in re.findall(r"\d[\d.,]*[.,]\d\d(?!\d)", text)]:
            return name, text
    return None


seen = {}
for entry in ledger:
    key = (entry["document"], entry["contra"], entry["cents"])
    if key in seen:
        unmatched.append(["ledger", entry["id"], "duplicate"])
        post(entry["id"], "1200", entry["contra"], -entry["cents"], f"{entry['document']} was booked twice")
        entry["done"] = True
    seen[key] = entry
for line in bank:
    amount, text = line["cents"], line["text"]
    if line["kind"] == "INT":
        post(line["id"], "1200", "4905", amount, text)
    elif line["kind"] in ("CHG", "FEE"):
        post(line["id"], "7901", "1200", -amount, text)
    elif "RETURNED" in text:
        post(line["id"], "1100", "1200", -amount, f"{text}: invoice open again")
    else:
        continue
    unmatched.append(["bank", line["id"], "not_booked"])
    line["done"] = True


def free(side):
    return [x for x in side if not x.get("done")]


def pair(lines, entries_of):
    for line in lines:
        for entry in entries_of:
            matches.append([line["id"], entry["id"]])
            line["done"] = entry["done"] = True


def alike(line, entry):
    return len(words(line["text"]) & words(entry["text"]))


for line in free(bank):  # the same amount: the most words in common, then the nearest day
    fits = [e for e in free(ledger) if e["cents"] == line["cents"] and abs((e["day"] - line["day"]).days) <= 7]
    if fits:
        pair([line], [max(fits, key=lambda e: (alike(line, e), -abs((e["day"] - line["day"]).days)))])
for size in (2, 3, 4):  # one for several, and several for one
    for line in free(bank):
        near = [e for e in free(ledger) if alike(line, e)]
        for group in itertools.combinations(near, size):
            if sum(e["cents"] for e in group) == line["cents"]:
                pair([line], group)
                break
    for entry in free(ledger):
        near = [x for x in free(bank) if alike(x, entry)]
        for group in itertools.combinations(near, size):
            if sum(x["cents"] for x in group) == entry["cents"]:
                pair(group, [entry])
                break
for line in free(bank):  # the same payment with another amount
    for entry in free(ledger):
        gap = line["cents"] - entry["cents"]
        if alike(line, entry) and line["cents"] * entry["cents"] > 0 and abs(gap) < 0.1 * abs(line["cents"]):
            if re.search(r"\b(USD|GBP|CHF) [\d.]+ at ", entry["text"]):
                other, why = "7900", "exchange difference"
            elif line["cents"] > 0:
                other, why = "7901", "charges taken out of the transfer"
            else:
                assert voucher_for(-line["cents"]), line
                other, why = entry["contra"], "the voucher has the bank's amount"
            debit, credit = (other, "1200") if gap < 0 else ("1200", other)
            post(line["id"], debit, credit, abs(gap), f"{entry['text']}: {why}")
            pair([line], [entry])
            break
for line in free(bank):  # forgotten purchases
    name, text = voucher_for(-line["cents"])
    account = "7503" if re.search(r"packaging|sacs|bags", text, re.IGNORECASE) else "7500"
    post(line["id"], account, "1200", -line["cents"], f"{name} was not booked")
    unmatched.append(["bank", line["id"], "not_booked"])
transit = 0
for entry in free(ledger):
    transit += entry["cents"]
    unmatched.append(["ledger", entry["id"], "in_transit"])

adjusted = book + sum((1 if e[1] == "1200" else -1) * round(100 * float(e[3])) for e in entries)
figures = {
    "bank_balance": closing / 100,
    "ledger_balance": book / 100,
    "adjusted_ledger_balance": adjusted / 100,
    "in_transit": transit / 100,
    "difference": (adjusted - closing - transit) / 100,
}
(target / "reconciliation.json").write_text(json.dumps(figures, indent=2) + "\n")
for name, head, rows in (
    ("matches.csv", "bank_ref ledger_entry", matches),
    ("unmatched.csv", "side ref reason", unmatched),
    ("adjustments.csv", "ref debit_account credit_account amount text", entries),
):
    with (target / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head.split(), *sorted(rows)])
