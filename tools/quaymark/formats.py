# ruff: noqa: E501
"""Files of offices, the same bytes each time: workbooks, letters, pages, scans, mails."""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from datetime import datetime
from email.message import EmailMessage
from html import escape
from typing import Any

DAY = (2026, 3, 13, 17, 0, 0)


def workbook(fill: Callable[[Any], None]) -> bytes:
    """An .xlsx; `fill` writes into an empty openpyxl workbook."""
    from openpyxl import Workbook

    book = Workbook()
    del book["Sheet"]
    fill(book)
    book.properties.created = book.properties.modified = datetime(*DAY)
    made = io.BytesIO()
    book.save(made)
    return _steady(made.getvalue())


def _steady(data: bytes) -> bytes:
    """The archive with one date for all that is in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist(), key=lambda one: (one != "[Content_Types].xml", one)):
            content = old.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:\w+[^>]*>)[^<]*", rb"\g<1>2026-03-13T17:00:00Z", content)
            new.writestr(zipfile.ZipInfo(name, DAY), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def letter(text: str) -> bytes:
    """A .docx: a line that begins with `# ` is a heading, `|` parts the cells of a table's row."""
    body, rows = [], []  # type: list[str], list[str]

    def table() -> None:
        if rows:
            body.append(f"<w:tbl>{''.join(rows)}</w:tbl>")
            rows.clear()

    for line in text.strip().splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows.append("<w:tr>" + "".join(f"<w:tc>{_paragraph(cell)}</w:tc>" for cell in cells) + "</w:tr>")
        else:
            table()
            body.append(_paragraph(line.removeprefix("# "), bold=line.startswith("# ")))
    table()
    document = f'<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="{_WORD}"><w:body>{"".join(body)}</w:body></w:document>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in (
            ("[Content_Types].xml", _TYPES), ("_rels/.rels", _RELATIONS), ("word/document.xml", document),
        ):  # fmt: skip
            made.writestr(zipfile.ZipInfo(name, DAY), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _paragraph(text: str, *, bold: bool = False) -> str:
    style = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:p><w:r>{style}<w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def page(text: str) -> bytes:
    """A .pdf of one page, in Helvetica; characters of Latin-1 alone."""
    lines = ["BT /F1 11 Tf 60 780 Td 15 TL"]
    for line in text.strip("\n").splitlines():
        plain = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        lines.append(f"({plain}) Tj T*")
    stream = "\n".join([*lines, "ET"]).encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n" % len(stream) + stream + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def scan(text: str, seed: int) -> bytes:
    """A .png as a cheap scanner makes it: a little askew, with specks."""
    from PIL import Image, ImageDraw, ImageFont

    chance = random.Random(seed)
    lines = text.strip("\n").splitlines()
    paper = Image.new("L", (620, 60 + 22 * len(lines)), 244)
    draw, font = ImageDraw.Draw(paper), ImageFont.load_default(size=15)
    for number, line in enumerate(lines):
        draw.text((34, 26 + 22 * number), line, fill=40, font=font)
    paper = paper.rotate(chance.uniform(-1.4, 1.4), fillcolor=244, resample=Image.Resampling.BILINEAR)
    for _ in range(160):
        paper.putpixel((chance.randrange(paper.width), chance.randrange(paper.height)), chance.randrange(60, 200))
    out = io.BytesIO()
    paper.quantize(16).save(out, "PNG", optimize=True)
    return out.getvalue()


def mail(sender: str, to: str, subject: str, at: str, text: str) -> bytes:
    """An .eml with quoted-printable text."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"], message["Date"] = sender, to, subject, at
    message["Message-ID"] = f"<{abs(hash_of(subject + at)):x}@mail.invalid>"
    message.set_content(text.strip() + "\n", cte="quoted-printable")
    return message.as_bytes()


def hash_of(text: str) -> int:
    """The same in every process."""
    import zlib

    return zlib.crc32(text.encode())


def table(rows: Sequence[Sequence[object]], *, sign: str = ",", encoding: str = "utf-8", end: str = "\n") -> bytes:
    """A .csv without any quoting."""
    return (end.join(sign.join(str(cell) for cell in row) for row in rows) + end).encode(encoding)


def sheet_ods(sheets: dict[str, Sequence[Sequence[object]]]) -> bytes:
    """An .ods: sheet -> rows; None leaves a cell empty."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    spaces = f'xmlns:office="{office}" xmlns:table="{office.replace("office:1", "table:1")}" xmlns:text="{office.replace("office:1", "text:1")}"'
    body = []
    for name, rows in sheets.items():
        lines = []
        for row in rows:
            cells = (
                "<table:table-cell/>" if cell is None
                else f'<table:table-cell office:value-type="string"><text:p>{escape(str(cell))}</text:p></table:table-cell>'
                for cell in row
            )  # fmt: skip
            lines.append(f"<table:table-row>{''.join(cells)}</table:table-row>")
        body.append(f'<table:table table:name="{escape(name)}">{"".join(lines)}</table:table>')
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces} office:version="1.2"><office:body>'
        f"<office:spreadsheet>{''.join(body)}</office:spreadsheet></office:body></office:document-content>"
    )
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{what}"/>'
        for path, what in (("/", kind), ("content.xml", "text/xml"))
    )
    listed = (
        f'<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest="{office.replace("office:1", "manifest:1")}">'
        f"{entries}</manifest:manifest>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(zipfile.ZipInfo("mimetype", DAY), kind, zipfile.ZIP_STORED)
        for path, text in (("content.xml", content), ("META-INF/manifest.xml", listed)):
            made.writestr(zipfile.ZipInfo(path, DAY), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()
