"""One small file of each format that the document viewers show, with something to see in each."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from viewing import material

SITE = """<!doctype html><title>Shop</title><style>body{background:#fde;font:28px sans-serif}</style>
<h1>Pears</h1><p id=said>Scripts do not run.</p>
<form id=order><button>Order</button></form><script src="app.js"></script>"""
APP = """
said.textContent = 'Scripts run: ' + 6 * 7;
order.onsubmit = event => { event.preventDefault(); said.textContent = 'Ordered'; };
"""
WANTS_MORE = '<!doctype html><title>Far</title><h1>Near</h1><img src="http://cdn.example/x.png">'
CODE = """\
"Prices."

import os


def total(prices: list[float]) -> float:
    # The sum.
    return sum(prices) * 1.19
"""
NOTE = """\
# Title

A *short* text with a [link](https://example.org) and a picture:

![chart](../image/a.png)

| a | b |
|---|---|
| 1 | 2 |
"""
PAPER = r"\documentclass{article}\begin{document}\section{Area}The area is $\pi r^2$.\end{document}"


def drawn(form: str, size: tuple[int, int] = (320, 200), mode: str = "RGB", **options: Any) -> bytes:
    """A picture with shapes, so that a blank pane cannot pass for it."""
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((20, 20, size[0] // 2, size[1] - 20), fill="firebrick")
    pen.ellipse((size[0] // 2, 30, size[0] - 20, size[1] - 30), fill="royalblue")
    out = io.BytesIO()
    image.convert(mode).save(out, form, **options)
    return out.getvalue()


def pdf(pages: int) -> bytes:
    """Pages with words, in Helvetica, which no file embeds."""
    return written_pdf([f"Page {n} of the findings" for n in range(1, pages + 1)])


def written_pdf(texts: list[str]) -> bytes:
    """Each text on a page of its own, all of one flat tree."""
    streams = [f"BT /F1 24 Tf 60 700 Td ({text}) Tj ET 0.2 0.4 0.7 rg 60 500 300 120 re f" for text in texts]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(texts)))
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, stream in enumerate(streams):
        bodies.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * n} 0 R >>"
        )
        bodies.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, places = [b"%PDF-1.4\n"], []
    at = len(out[0])
    for number, body in enumerate(bodies, 1):
        places.append(at)
        out.append(f"{number} 0 obj\n{body}\nendobj\n".encode())
        at += len(out[-1])
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}"
    out.append(f"{head}trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n".encode())
    return b"".join(out)


def notebook() -> str:
    def output(kind: str, **data: Any) -> dict[str, Any]:
        return {"output_type": "display_data", "data": {kind: data["text"]}, "metadata": {}}

    import base64

    code = {"cell_type": "code", "source": "total(prices)", "execution_count": 3}
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
        output("image/png", text=base64.b64encode(drawn("PNG", (160, 90))).decode()),
        output("text/html", text="<table><tr><td>cell</td></tr></table><script>document.body.append('ran')</script>"),
        output("text/latex", text="$\\frac{a}{b}$"),
        {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "", "traceback": ["\x1b[31mdivided\x1b[0m"]},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "of *pears*, where $x^2 > 1$"]},
        code | {"outputs": outputs},
    ]
    return json.dumps({"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": cells})


def photoshop(scratch: Path) -> bytes:
    from psd_tools import PSDImage

    document = PSDImage.frompil(Image.open(io.BytesIO(drawn("PNG"))))
    document.create_pixel_layer(Image.new("RGB", (60, 60), "gold"), name="logo")
    document.save(str(scratch / "made.psd"))
    return (scratch / "made.psd").read_bytes()


def tables(scratch: Path) -> dict[str, bytes | str]:
    rows = "\n".join(f"{n},pear {n},{n * 1.5}" for n in range(1, 2_001))
    return {
        "table/prices.csv": f"id,item,price\n{rows}\n",
        "table/genes.tsv": "gene\tcount\nBRCA1\t3\n",
        "table/sums.xlsx": material.workbook(First=[[1, 2, "=A1+B1"], ["x", "y", "z"]], Second=[["other"]]),
        "table/stock.db": material.database(
            scratch / "stock.db",
            ("CREATE TABLE stock (item TEXT, n INTEGER, photo BLOB)", ()),
            ("INSERT INTO stock VALUES ('pear', 4, x'00ff'), ('fig', 7, NULL)", ()),
            ("CREATE VIEW pears AS SELECT * FROM stock WHERE item = 'pear'", ()),
        ),
    }


def files(scratch: Path) -> dict[str, bytes | str]:
    """Quoted path -> content, below one folder."""
    archive = {
        "in/notes.txt": "hello from inside",
        "in/deep.zip": material.packed({"x.txt": "y"}),
        "a.png": drawn("PNG"),
    }
    return {
        "text/run.py": CODE,
        "text/old.txt": ("Größe: 3 µm, größer als früher\n" * 4).encode("cp1252"),
        "text/read.md": NOTE,
        "text/paper.tex": PAPER,
        "text/report.pdf": pdf(3),
        "text/book.ipynb": notebook(),
        **tables(scratch),
        "office/letter.rtf": r"{\rtf1 Dear reader}",
        "office/report.docx": material.docx("Findings"),
        "office/talk.fodp": material.slides("One", "Two"),
        "image/a.png": drawn("PNG"),
        "image/a.jpg": drawn("JPEG"),
        "image/a.webp": drawn("WEBP"),
        "image/a.gif": drawn("GIF"),
        "image/a.bmp": drawn("BMP"),
        "image/a.ico": drawn("ICO", (64, 64)),
        "image/b.avif": drawn("AVIF"),
        "image/c.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 60"><circle cx="45" cy="30" r="25" \
fill="teal"/><script>document.documentElement.remove()</script></svg>',
        "image/d.tif": drawn("TIFF", mode="CMYK", save_all=True, append_images=[Image.new("CMYK", (80, 40))]),
        "image/e.psd": photoshop(scratch),
        "more/deck.apkg": material.deck(scratch),
        "more/all.zip": material.packed(archive),
        "more/all.7z": material.seven_zip(scratch),
        "more/odd.xyz": bytes(range(256)) * 8,
        "more/empty.docx": b"",
        "site/index.html": SITE,
        "site/app.js": APP,
        "far/index.html": WANTS_MORE,
    }
