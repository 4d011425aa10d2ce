"""A folder with a file of every family of formats."""

from __future__ import annotations

import json
from pathlib import Path

from viewing import material


def files(scratch: Path) -> dict[str, bytes | str]:
    film, tone = material.film, material.tone
    return {
        "text/run.py": "import os\n\nprint(os.name)\n",
        "text/old.txt": "Größe: 3 µm, größer als früher\n".encode("cp1252"),
        "text/wide.txt": "naïve café\n".encode("utf-16"),
        "text/read.md": "# Title\n\n![chart](../image/a.png) <script>alert(1)</script> [x](javascript:alert(1))\n",
        "text/paper.tex": "\\documentclass{article}\\begin{document}Area $x^2$\\end{document}\n",
        "text/paper.pdf": material.pdf(3),
        "text/book.ipynb": json.dumps(_NOTEBOOK),
        "table/prices.csv": "item;price\npear;1,20\nfig;0,35\n",
        "table/genes.tsv": "gene\tcount\nBRCA1\t3\n",
        "table/sums.xlsx": material.workbook(First=[[1, 2, "=A1+B1"]], Second=[["x"]]),
        "table/stock.db": material.database(
            scratch / "stock.db",
            ("CREATE TABLE stock (item TEXT, n INTEGER, photo BLOB)", ()),
            ("INSERT INTO stock VALUES ('pear', 4, x'00ff')", ()),
            ("CREATE VIEW pears AS SELECT * FROM stock", ()),
        ),
        "office/letter.rtf": r"{\rtf1 Dear reader}",
        "office/report.docx": material.docx("Findings"),
        "office/talk.fodp": material.slides("One", "Two", "Three"),
        "image/a.png": material.picture("PNG"),
        "image/b.avif": material.picture("AVIF"),
        "image/c.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="3"/></svg>',
        "image/d.tif": material.picture(
            "TIFF", "CMYK", save_all=True, append_images=[material.Image.new("CMYK", (8, 4))]
        ),
        "image/e.psd": material.photoshop(scratch),
        "image/f.tif": material.picture("TIFF", "I;16"),
        "media/a.mp4": film(scratch, "a.mp4", "-c:v", "libx264", "-c:a", "aac"),
        "media/b.mkv": film(scratch, "b.mkv", "-c:v", "libx264", "-c:a", "aac"),
        "media/c.avi": film(scratch, "c.avi", "-c:v", "mpeg4", "-c:a", "mp3"),
        "media/d.webm": film(scratch, "d.webm", "-c:v", "libvpx", "-c:a", "libopus"),
        "media/e.mp3": tone(scratch, "e.mp3"),
        "media/f.wma": tone(scratch, "f.wma", "-c:a", "wmav2"),
        "media/g.mid": material.song(),
        "model/tri.glb": material.glb(material.TRIANGLE),
        "model/quad.obj": "mtllib quad.mtl\nv 0 0 0\nv 2 0 0\nv 2 3 0\nv 0 3 0\nusemtl wood\nf 1 2 3 4\n",
        "model/quad.mtl": "newmtl wood\nmap_Kd ../image/a.png\nmap_Ks gone.png\n",
        "model/crate.fbx": _FBX,
        "model/wood.png": material.picture("PNG"),
        "model/one.stl": bytes(80) + (1).to_bytes(4, "little") + bytes(50),
        "model/roof.skp": material.sketchup(),
        "model/part.3mf": material.packed({"3D/3dmodel.model": _THREE_MF}),
        "cad/tower.rvt": material.compound(
            {"BasicFileInfo": _REVIT, "RevitPreview4.0": b"??" + material.picture("PNG")}
        ),
        "cad/gear.ipt": material.compound({"UFRxDoc": b"x", "data": b"y"}),
        "cad/plan.dxf": material.drawing(),
        "cad/part.stp": _STEP.replace("FORM", "AUTOMOTIVE_DESIGN").replace("WHAT", "CARTESIAN_POINT"),
        "cad/house.ifc": _STEP.replace("FORM", "IFC4").replace("WHAT", "IFCWALL"),
        "cad/old.dwg": material.dwg(scratch),
        "more/deck.apkg": material.deck(scratch),
        "more/all.zip": material.packed({"in/notes.txt": "hello", "in/deep.zip": material.packed({"x.txt": "y"})}),
        "more/all.7z": material.seven_zip(scratch),
        "site/index.html": '<!doctype html><title>Shop</title><script src="app.js"></script><img src="//cdn.net/x">',
        "site/app.js": "document.title += '!'",
        "more/empty.docx": b"",
        "more/odd.xyz": bytes(range(256)) * 8,
    }


_FBX = """; FBX 7.4.0 project file
Video: { RelativeFilename: "C:\\jane\\tex\\wood.png" }
Video: { RelativeFilename: "../image/a.png" }
Video: { RelativeFilename: "tex/gone.jpg" }
"""
_STEP = "ISO-10303-21;\nHEADER;\nFILE_SCHEMA(('FORM'));\nENDSEC;\nDATA;\n#1=WHAT('');\nENDSEC;\nEND-ISO-10303-21;\n"
_THREE_MF = """<?xml version="1.0"?>
<model xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources><object id="1"><mesh><vertices>
<vertex x="0" y="0" z="0"/><vertex x="4" y="0" z="0"/><vertex x="0" y="5" z="0"/></vertices>
<triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh></object></resources></model>"""
_REVIT = "Worksharing: no Username: jane Format: 2022 Path: C:\\Users\\jane".encode("utf-16-le")
_NOTEBOOK = {
    "nbformat": 4,
    "metadata": {"kernelspec": {"language": "python"}},
    "cells": [
        {"cell_type": "markdown", "source": ["# Study\n", "of <b>pears</b>"]},
        {
            "cell_type": "code",
            "source": "1/0",
            "execution_count": 2,
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "", "traceback": ["line 1"]},
            ],
        },
    ],
}
