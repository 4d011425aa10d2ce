"""Unusual but valid files: shown as other programs show them, and blamed only with proof."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewing import material
from worksample.app.content_origin.original_file import may_identify
from worksample.viewing.in_box.conversion_job import ConversionJob, ConverterFault, TooHeavy, Unreadable, fault, run
from worksample.viewing.in_box.csv_table import EXACT, json_cell
from worksample.viewing.in_box.format_detection import sniff
from worksample.viewing.in_box.main import convert_one, replace_non_finite
from worksample.viewing.in_box.office import convert_to

ORDER = {"light": False, "plain": False, "query": ""}


class Room:
    """A folder in which files are looked at."""

    def __init__(self, place: Path) -> None:
        self.place = place
        (place / "in").mkdir()

    def look(self, name: str, data: bytes | str, **beside: str) -> dict[str, Any]:
        for path, content in {name: data, **beside}.items():
            (self.place / "in" / path).write_bytes(content.encode() if isinstance(content, str) else content)
        places = {key: str(self.place / key) for key in ("in", "out", "work")}
        return convert_one({**places, **ORDER}, 0, name)

    def read(self, made: dict[str, Any], name: str) -> Any:
        return json.loads((self.place / "out" / made["files"][name]).read_bytes())


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


@pytest.mark.parametrize(
    ("text", "delimiter", "last"),
    [
        ('a,b\n"x ""y"", z",1\n', ",", ['x "y", z', "1"]),
        ("a;b\n" + "1,5;2\n" * 60 + '"er sagte ""gut; danke""";3,5\n', ";", ['er sagte "gut; danke"', "3,5"]),
        ("a\tb\n" + "1\t2\n" * 60 + '"x ""y""\tz"\t3\n', "\t", ['x "y"\tz', "3"]),
        ("a|b|c\n" + "1|2,3,4|5\n" * 60, "|", ["1", "2,3,4", "5"]),
        ('name,remark\nA,"first\nsecond, third"\n', ",", ["A", "first\nsecond, third"]),
        ("only\none\ncolumn\n", ",", ["column"]),
        ("a,b\r1,2\r", ",", ["1", "2"]),
        ("a,b\n1,x\u2028y\n", ",", ["1", "x\u2028y"]),
        ('size,name\n5",inch\n7",more\n', ",", ['7"', "more"]),
    ],
)
def test_table_is_read_by_rfc_4180(room: Room, text: str, delimiter: str, last: list[str]) -> None:
    made = room.look("t.csv", text)
    assert made["meta"]["delimiter"] == delimiter
    assert room.read(made, "0/0")[-1] == last


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_table_is_read_in_encodings_of_spreadsheets(room: Room, encoding: str) -> None:
    made = room.look("t.csv", "Stück;Preis\n1;2\n".encode(encoding))
    assert made["kind"] == "table" and [cell.lstrip("\ufeff") for cell in room.read(made, "0/0")[0]] == [
        "Stück",
        "Preis",
    ]


@given(st.integers() | st.floats() | st.booleans() | st.none())
def test_numbers_reach_the_browser_unchanged(value: Any) -> None:
    kept = json_cell(value)
    seen = json.loads(json.dumps(kept, allow_nan=False), parse_int=float)  # JavaScript has no other numbers
    assert seen == kept and (kept == value or kept == str(value))


def test_integers_too_large_for_a_browser_are_text() -> None:
    assert [json_cell(EXACT), json_cell(EXACT + 1), json_cell(-(2**63)), json_cell(True)] == [
        EXACT,
        str(EXACT + 1),
        str(-(2**63)),
        True,
    ]
    assert json_cell(10**5000).startswith("<an integer of")


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": None},
        {"metadata": {"kernelspec": None, "language_info": None}},
        {"cells": [None]},
        {"cells": [{"cell_type": None, "source": None, "outputs": None, "metadata": None, "execution_count": None}]},
        {"cells": [{"cell_type": "code", "source": ["a"], "outputs": [None, {"output_type": "stream", "text": None}]}]},
        {"cells": [{"cell_type": "code", "outputs": [{"output_type": "display_data", "data": None}]}]},
        {"cells": [{"cell_type": "code", "outputs": [{"output_type": "error", "traceback": None}]}]},
        {
            "cells": [
                {"cell_type": "code", "outputs": [{"output_type": "execute_result", "data": {"text/plain": None}}]}
            ]
        },
        {"cells": [{"cell_type": "markdown", "source": "x", "attachments": {"a.png": None}}]},
    ],
)
def test_null_in_a_notebook_is_empty(room: Room, change: dict[str, Any]) -> None:
    made = room.look("n.ipynb", json.dumps({"nbformat": 4, "metadata": {}, "cells": [], **change}))
    assert made.get("kind") == "notebook", made
    assert not made["meta"].get("leaks")


def test_outputs_of_all_notebook_formats_are_shown(room: Room) -> None:
    old = [{"output_type": "pyout", key: ["x", "y"]} for key in ("text", "html", "latex", "json", "javascript")]
    new = [
        {"output_type": "execute_result", "data": {mime: ["x", "y"]}}
        for mime in ("text/plain", "text/html", "text/latex", "application/json", "application/javascript")
    ]
    cells = [{"cell_type": "code", "input": "1", "prompt_number": 7, "outputs": outputs} for outputs in (old, new)]
    book = {"nbformat": 3, "worksheets": [{"cells": cells}, {"cells": None}]}
    made = room.look("n.ipynb", b"\xef\xbb\xbf" + json.dumps(book).encode())
    for cell in room.read(made, "cells"):
        assert [o["type"] for o in cell["outputs"]] == ["text", "html", "latex", "text", "text"]
        assert all("x" in o["text"] and "y" in o["text"] for o in cell["outputs"]) and cell["count"] == 7


FACE = (
    "{0} facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 0\n endloop\nendfacet\nendsolid"
)
ONE = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
SOLIDS = {
    "small": FACE.format("solid a\n"),
    "capitals": FACE.format("solid a\n").upper(),
    "mixed": FACE.format("Solid\n").replace("facet", "Facet").replace("vertex", "Vertex"),
    "marked": "\ufeff" + FACE.format("solid a\n"),
    "windows": FACE.format("solid a\n").replace("\n", "\r\n"),
    "late": FACE.format("solid a\n" + " \n" * 9000),
    "binary": bytes(80) + struct.pack("<I", 1) + ONE,
    "binary that begins as text": b"solid made by a program".ljust(80) + struct.pack("<I", 1) + ONE,
    "binary with more behind it": bytes(80) + struct.pack("<I", 1) + ONE + b"more",
}


PLY = "ply\nformat ascii 1.0\ncomment made by Eva\nelement vertex 3\nproperty float x\nelement face 1\nend_header\n"
OBJ = "# made by Eva\no part\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("part.ply", PLY), ("part.ply", PLY.upper()), ("PART.PLY", PLY.upper().replace("\n", "\r\n")),
        ("part.obj", OBJ), ("part.obj", OBJ.upper()), ("PART.OBJ", OBJ.upper()),
    ],
)  # fmt: skip
def test_upper_case_ply_and_obj_are_models_without_their_makers_name(room: Room, name: str, text: str) -> None:
    made = room.look(name, text)
    assert made.get("kind") == "model", made
    assert (made["meta"]["format"], made["meta"]["vertices"], made["meta"]["triangles"]) == (name[-3:].upper(), 3, 1)
    assert b"EVA" not in (room.place / "out" / made["files"]["blind"]).read_bytes().upper()
    assert may_identify(text[:16].encode())


@pytest.mark.parametrize("name", SOLIDS)
def test_every_kind_of_stl_is_a_model_without_its_makers_name(room: Room, name: str) -> None:
    made = room.look("part.stl", SOLIDS[name])
    assert made.get("kind") == "model", made
    assert (made["meta"]["format"], made["meta"]["triangles"], made["meta"]["box"][1]) == ("STL", 1, [1.0, 1.0, 0.0])
    if "blind" in made["files"]:
        assert b"made by" not in (room.place / "out" / made["files"]["blind"]).read_bytes()


@pytest.mark.parametrize(
    ("text", "vertices", "beside"),
    [
        ("mtllib a.mtl b.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 3, ["a.mtl", "b.mtl"]),
        ("mtllib my parts.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 3, ["my parts.mtl"]),
        ("  v\t0 0 0\r\n\tv 1 0 0\r\nv 0 1 0\r\nf\t1 2 3\r\n", 3, []),
        ("v 0 0 \\\n0\nv 1 0 0\nv 0 1 0\nf 1 \\\n2 3\n", 3, []),
        ("\ufeffv 0 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nf 1//1 2//1 -1//1\n", 3, []),
    ],
)
def test_obj_is_read_as_its_loaders_read_it(room: Room, text: str, vertices: int, beside: list[str]) -> None:
    made = room.look("m.obj", text, **{"a.mtl": "newmtl a\n", "b.mtl": "newmtl b\n", "my parts.mtl": "newmtl c\n"})
    assert (made["meta"]["vertices"], made["meta"]["triangles"], made["beside"]) == (vertices, 1, beside)
    assert made["problem"] == "" and made["meta"]["box"] == [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]


@pytest.mark.parametrize("version", ["R12", "R2000"])
def test_binary_dxf_is_drawn(room: Room, version: str) -> None:
    import ezdxf

    drawing = ezdxf.filemanagement.new(version)
    drawing.modelspace().add_line((0, 0), (10, 5))
    out = io.BytesIO()
    drawing.write(out, fmt="bin")
    made = room.look("d.dxf", out.getvalue())
    assert made.get("kind") == "cad", made
    assert made["meta"]["layouts"][0]["box"] == [0.0, 0.0, 10.0, 5.0]


THREE = '<model xmlns="u"><object><mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/>'
THREE += '<vertex x="0" y="1" z="0"/></vertices><triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh></object>'


@pytest.mark.parametrize("names", [("3D/3dmodel.model",), ("3D/3DModel.model",), ("3D/a.model", "3D/Objects/b.model")])
def test_3mf_is_found_under_any_name(room: Room, names: tuple[str, ...]) -> None:
    made = room.look("part.3mf", material.packed(dict.fromkeys(names, f"{THREE}</model>")))
    assert (made["kind"], made["meta"]["triangles"], made["meta"]["format"]) == ("model", len(names), "3MF")


@pytest.mark.parametrize(
    ("data", "family"),
    [
        (material.packed({"Word/Document.xml": "<x/>"}), "office"),
        (material.packed({"xl\\workbook.xml": "<x/>"}), "workbook"),
        ('<?xml version="1.0"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>', "workbook"),
        ('<?xml version="1.0"?>\n<?mso-application progid="Word.Document"?>\n<w:wordDocument/>', "office"),
        ("  0\nsection\n  2\nheader\n", "dxf"),
    ],
)
def test_file_type_ignores_capitals(tmp_path: Path, data: bytes | str, family: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    assert sniff(ConversionJob(path, "file", "file", tmp_path, tmp_path, tmp_path, path.stat().st_size)) == family


def test_numbers_that_json_lacks_are_unknown() -> None:
    assert replace_non_finite({"a": [float("nan"), 1.5], "b": (float("inf"), "x", None)}) == {
        "a": [None, 1.5],
        "b": [None, "x", None],
    }


def test_only_complete_pdfs_are_detected(room: Room, tmp_path: Path) -> None:
    def family(name: str, data: bytes) -> str:
        path = tmp_path / name
        path.write_bytes(data)
        return sniff(ConversionJob(path, name, name, tmp_path, tmp_path, tmp_path, len(data)))

    pdf = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\nstartxref\n9\n%%EOF\n"
    assert family("a.docx", pdf) == family("b.bin", b"HTTP/1.1 200 OK\r\n\r\n" + pdf) == "pdf"
    assert family("c.py", b'MAGIC = b"%PDF-"\n') == "text"


def test_unexpected_reader_error_is_not_damage() -> None:
    for error in (TypeError("x"), AttributeError("x"), NotImplementedError()):
        assert isinstance(fault(error, "the file"), ConverterFault)
    for error in (ValueError("x"), EOFError(), struct.error("x"), RecursionError("x")):
        assert isinstance(fault(error, "the file"), Unreadable)


def test_program_that_cannot_run_says_nothing_about_the_file() -> None:
    for words in (["/no/such/program"], ["sh", "-c", "exit 127"], ["sh", "-c", "kill -SEGV $$"]):
        with pytest.raises(ConverterFault):
            run(words)
    assert not run(["sh", "-c", "exit 3"]).ok


def test_processor_hungry_file_is_too_heavy_on_every_machine() -> None:
    with pytest.raises(TooHeavy, match="more than 1 seconds of processor time"):
        run(["sh", "-c", "while :; do :; done"], seconds=1)


SOFFICE = """#!/bin/sh
for last; do :; done
case "$last" in {opens}) ;; *) echo "Error: source file could not be loaded" >&2; exit 0;; esac
while [ "$1" != --outdir ]; do shift; done
echo made > "$2/out.pdf"
"""


@pytest.mark.parametrize(("opens", "blames"), [("*control*", Unreadable), ("nothing", ConverterFault)])
def test_file_is_blamed_only_if_its_converter_opens_a_sound_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opens: str, blames: type[Exception]
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "soffice"
    program.write_text(SOFFICE.format(opens=opens))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    source = tmp_path / "letter.docx"
    source.write_bytes(b"damaged")
    with pytest.raises(blames):
        convert_to(
            ConversionJob(source, source.name, source.name, tmp_path, tmp_path, tmp_path, 7), source, "pdf", seconds=60
        )


def _refused(kind: str) -> bytes:
    """A workbook that spreadsheet programs open and openpyxl does not."""
    made = io.BytesIO()
    rule = b'<conditionalFormatting sqref="A1"><cfRule type="bogus" priority="1"/></conditionalFormatting>'
    old = rb"http://schemas\.openxmlformats\.org/(officeDocument|spreadsheetml)/2006/"
    book = io.BytesIO(material.workbook(First=[[1, 2, "=A1+B1"]]))
    with zipfile.ZipFile(book) as parts, zipfile.ZipFile(made, "w") as kept:
        for name in parts.namelist():
            data = parts.read(name)
            if kind == "rule":
                data = data.replace(b"</sheetData>", b"</sheetData>" + rule)
            elif kind == "strict":
                data = re.sub(old, rb"http://purl.oclc.org/ooxml/\1/", data)
            kept.writestr(name.replace("/", "\\") if kind == "backslashes" else name, data)
    return made.getvalue()


@pytest.mark.parametrize("office", [True, False])
@pytest.mark.parametrize("kind", ["rule", "strict", "backslashes"])
def test_workbook_refused_by_one_reader_is_shown_by_another(
    room: Room, monkeypatch: pytest.MonkeyPatch, kind: str, office: bool
) -> None:
    if not office:  # as on a machine without LibreOffice
        monkeypatch.setenv("PATH", "")
    made = room.look("book.xlsx", _refused(kind))
    (sheet,) = made["meta"]["sheets"]
    by = "libreoffice" if office and kind != "backslashes" else "openpyxl"
    assert (sheet["name"], sheet["formulas"], made["by"]) == ("First", 1, by)
    assert room.read(made, "0/0")[0][:2] == [1, 2]
    assert (made["problem"] == "") is (by == "libreoffice")
