"""Reads every export of the sales clean-up, whatever its dialect, and writes sales.csv and issues.csv."""

import csv
import datetime as dt
import io
import re
import sys
import zipfile
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from xml.etree import ElementTree

URI = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
NS = {"m": URI}
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
source, target = Path(sys.argv[1]), Path(sys.argv[2])
products = list(csv.DictReader((source / "products.csv").open(encoding="utf-8")))
codes = {p["code"].replace("-", ""): p for p in products}
names = {p["name"].casefold(): p for p in products}


def text_of(path):
    data = path.read_bytes()
    for encoding in ("utf-16", "utf-8-sig", "cp1252"):
        if encoding == "utf-16" and data[:2] != b"\xff\xfe":
            continue
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise SystemExit(f"{path}: unknown encoding")


def delimited(path):
    text = text_of(path)
    mark = max(",;\t", key=text.count)
    return [[c.strip() for c in row] for row in csv.reader(io.StringIO(text), delimiter=mark)]


def workbook(path):
    """Rows of all sheets, cells by column; the archive is read without any library."""
    with zipfile.ZipFile(path) as book:
        shared = []
        if "xl/sharedStrings.xml" in book.namelist():
            tree = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            shared = ["".join(t.text or "" for t in si.iter(f"{{{URI}}}t")) for si in tree]
        for name in sorted(n for n in book.namelist() if n.startswith("xl/worksheets/sheet")):
            for row in ElementTree.fromstring(book.read(name)).iterfind(".//m:row", NS):
                cells = [""] * 10
                for cell in row.iterfind("m:c", NS):
                    value = cell.findtext("m:v", "", NS)
                    if cell.get("t") == "s":
                        value = shared[int(value)]
                    elif cell.get("t") == "inlineStr":
                        value = "".join(t.text or "" for t in cell.iter(f"{{{URI}}}t"))
                    cells[ord(re.match("[A-Z]", cell.get("r"))[0]) - 65] = value.strip()
                yield cells


def day(text, month_first=False):
    if re.fullmatch(r"\d{5}(\.0)?", text):
        return dt.date(1899, 12, 30) + dt.timedelta(days=int(float(text)))
    if match := re.match(r"(\d{4})-(\d\d)-(\d\d)", text):
        return dt.date(*map(int, match.groups()))
    if match := re.fullmatch(r"(\d+)[./](\d+)[./](\d+)", text):
        a, b, year = map(int, match.groups())
        return dt.date(year + 2000 * (year < 100), *((a, b) if month_first else (b, a)))
    if match := re.fullmatch(r"(\d+) (\w+) (\d{4})", text):
        return dt.date(int(match[3]), MONTHS.index(match[2][:3].lower()) + 1, int(match[1]))
    if match := re.fullmatch(r"(\w+) (\d+), (\d{4})", text):
        return dt.date(int(match[3]), MONTHS.index(match[1][:3].lower()) + 1, int(match[2]))
    return None


def number(text, comma):
    """A decimal out of text with signs, brackets, currency and marks; comma: whether it is the decimal mark."""
    text = text.translate(DASHES)
    negative = "(" in text or "-" in text
    digits = re.sub(r"[^\d.,]", "", text)
    digits = digits.replace(".", "").replace(",", ".") if comma else digits.replace(",", "")
    return -Decimal(digits) if negative else Decimal(digits)


def product(text):
    key = re.sub(r"[^A-Z0-9]", "", text.upper())
    return codes.get(key) or names[" ".join(text.split()).casefold()]


def quantity(text, item, comma):
    value = number(text, comma)
    unit = re.sub(r"[^a-z]", "", text.lower())
    if unit.startswith("box"):
        return value * int(item["pieces_per_box"])
    return value * 12 if unit == "dz" else value / 1000 if unit == "g" else value


def plain(value):
    return format(value.normalize(), "f")


lines, issues, seen = [], [], set()


def add(branch, invoice, position, date, code, customer, amount_of, price, stated, void, comma):
    if void:
        issues.append((branch, invoice, position, "void"))
        return
    if (branch, invoice, position) in seen:
        issues.append((branch, invoice, position, "duplicate"))
        return
    seen.add((branch, invoice, position))
    item = product(code)
    pieces, each = quantity(amount_of, item, comma), number(price, comma)
    amount = (pieces * each).quantize(Decimal("0.01"), ROUND_HALF_UP)
    if amount != number(stated, comma).quantize(Decimal("0.01"), ROUND_HALF_UP):
        issues.append((branch, invoice, position, "amount"))
    row = [branch, invoice, position, date, item["code"], " ".join(customer.split()), plain(pieces), each, amount]
    lines.append(row)


def is_void(text):
    return bool(re.search(r"void|storn|cancel|^y$", text, re.IGNORECASE))


for path in sorted(source.iterdir()):
    branch = path.stem
    if branch == "north":
        for r in delimited(path):
            if len(r) > 8 and r[1].isdigit():
                add(branch, r[0], r[1], day(r[2]), r[3], r[4], r[5], r[6], r[7], is_void(r[8]), True)
    elif branch == "south":
        for r in delimited(path):
            if len(r) > 8 and r[1].isdigit() and r[2]:
                add(branch, r[0], r[1], day(r[2], True), r[3], r[4], r[5], r[6], r[7], is_void(r[8]), False)
    elif branch == "webshop":
        for r in delimited(path)[1:]:
            add(branch, r[0], r[1], day(r[2]), r[3], r[4], r[5], r[6], r[7], is_void(r[8]), False)
    elif branch == "marketplace":
        for r in delimited(path):
            if len(r) > 7 and " / " in r[1] and r[1].split(" / ")[1].isdigit():
                invoice, position = r[1].split(" / ")
                add(branch, invoice, position, day(r[0]), r[3], r[2], r[4], r[5], r[6], is_void(r[7]), True)
    elif path.suffix == ".xlsx":
        invoice = date = customer = ""
        for r in workbook(path):
            if not r[1].isdigit():
                continue
            if branch == "phone":
                r = [*r[:5], r[5], r[6].replace(",", "."), r[7], r[8]]
            invoice, date, customer = r[0] or invoice, day(r[2]) or date, r[4] or customer
            price, stated = (str(round(Decimal(r[n]), 2)) for n in (6, 7))
            add(branch, invoice, r[1], date, r[3], customer, r[5], price, stated, is_void(r[8]), False)

for name, head, rows in (
    ("sales.csv", "branch invoice position date product customer quantity unit_price amount", lines),
    ("issues.csv", "branch invoice position issue", issues),
):
    with (target / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head.split())
        writer.writerows(rows)
