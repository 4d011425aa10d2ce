"""Readers on files written by agents, spreadsheets and attackers."""

from __future__ import annotations

import csv
import io
import json
import struct
import wave
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference
from PIL import Image

from worksample.errors import DeliverableError, GraderError, ReferenceUnreadable
from worksample.kit import Case
from worksample.kit.source import UnreadableSource, find
from worksample.kit.table import parse_csv, read_csv
from worksample.kit.text import decode, parse_json


@pytest.fixture
def case(tmp_path: Path) -> Case:
    for name in ("output", "reference", "probes"):
        (tmp_path / name).mkdir()
    return Case({name: tmp_path / name for name in ("output", "reference", "probes")}, settings={"a": 1})


def put(case: Case, name: str, data: bytes | str) -> None:
    path = case.folder("output") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def workbook(**sheets: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße".encode(), "Grüße"),
        ("Grüße".encode("utf-8-sig"), "Grüße"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Grüße".encode("utf-16-le"), "Grüße"),
        ("Grüße".encode("utf-16-be"), "Grüße"),
        ("Grüße".encode("utf-32"), "Grüße"),
        ("Grüße".encode("latin-1"), "Grüße"),
        (b"a\r\nb\rc", "a\nb\nc"),
    ],
)
def test_texts_are_read(case: Case, data: bytes, text: str) -> None:
    put(case, "a.txt", data)
    assert case.text("a.txt") == text


@given(st.binary(max_size=200))
def test_any_bytes_decode(data: bytes) -> None:
    decode(data)


@pytest.mark.parametrize("name", ["/etc/passwd", "../reference/a", "a/../../b", "", "a\0b", "sub/link/x", "link"])
def test_names_stay_inside_and_links_are_not_followed(case: Case, name: str) -> None:
    put(case, "sub/x", "x")
    (case.folder("output") / "link").symlink_to("/etc/passwd")
    (case.folder("output") / "sub" / "link").symlink_to("/etc")
    with pytest.raises(DeliverableError):
        case.text(name)
    assert case.outputs() == ["sub/x"]
    with pytest.raises(UnreadableSource):
        find(case.folder("output"), name)


def test_folders_and_pipes_are_not_files(case: Case) -> None:
    import os

    os.mkfifo(case.folder("output") / "pipe")
    (case.folder("output") / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(DeliverableError, match="is not a file"):
            case.text(name)


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", "[1, Infinity]", "-Infinity", "1e999", "[" * 5_000, "9" * 500, "\ufeff{}x", "[" * 201 + "]" * 201],
)
def test_malformed_json_is_refused(case: Case, text: str) -> None:
    put(case, "a.json", text)
    with pytest.raises(DeliverableError):
        case.json("a.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON)
def test_json_is_read_back(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_csv_dialects_are_read(mark: str) -> None:
    lines = [["name", "amount"], ["Ann, the first", "1"], ["", ""], ["Bob", "2"]]
    text = "\n".join(mark.join(f'"{c}"' if "," in c else c for c in line) for line in lines)
    table = parse_csv(text)
    assert table.columns == ("name", "amount")
    assert table.column("amount") == ["1", "2"]


@pytest.mark.parametrize("mark", [";", "|", "\t", ","])
def test_single_column_of_lists_is_one_column(mark: str) -> None:
    lists = [mark.join(pair) for pair in ("ab", "cd", "ef")]
    written = io.StringIO()
    csv.writer(written).writerows([["name"], *([one] for one in lists)])
    table = parse_csv(written.getvalue())
    assert table.columns == ("name",)
    assert [row["name"] for row in table.rows] == lists


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "is empty"), ("a,a\n1,2", "twice"), ("a,b\n1,2,3", "more cells"), ('a,b\n1,"2', "is not CSV")],
)
def test_malformed_csv_is_refused(text: str, says: str) -> None:
    with pytest.raises(UnreadableSource, match=says):
        parse_csv(text)


def test_csv_over_its_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" * 100)
    with pytest.raises(UnreadableSource, match="larger than 50 bytes"):
        read_csv(tmp_path / "a.csv", limit=50)


def test_workbooks_are_read(case: Case) -> None:
    put(case, "a.xlsx", workbook(One=[["name", "sum"], ["Ann", 3], ["Bob", "=1+1"]], Two=[[], ["x"], [1.5]]))
    assert case.sheet("a.xlsx").rows[0] == {"name": "Ann", "sum": 3}
    assert case.sheet("a.xlsx").rows[1]["sum"] is None
    assert case.cells("a.xlsx", formulas=True)[2][1] == "=1+1"
    assert case.sheet("a.xlsx", "Two").rows == ({"x": 1.5},)
    for sheet in ("Three", 2, -1):
        with pytest.raises(DeliverableError, match="sheet"):
            case.sheet("a.xlsx", sheet)


def test_chart_before_the_first_sheet_is_no_sheet(case: Case) -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook(One=[["name", "sum"], ["Ann", 3]], Two=[["x"], [1.5]])))
    chart = BarChart()
    chart.add_data(Reference(book["One"], min_col=2, min_row=1, max_row=2), titles_from_data=True)
    book.create_chartsheet("Shown", 0).add_chart(chart)
    data = io.BytesIO()
    book.save(data)
    put(case, "a.xlsx", data.getvalue())
    assert case.sheet("a.xlsx").rows == ({"name": "Ann", "sum": 3},)
    assert case.sheet("a.xlsx", 1).rows == ({"x": 1.5},)
    with pytest.raises(DeliverableError, match="is a chart"):
        case.sheet("a.xlsx", "Shown")


def rezipped(data: bytes, name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for member in source.namelist():
            target.writestr(member, content if member == name else source.read(member))
    return out.getvalue()


BOMB = b"""<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>"""
OUTSIDE = b"""<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]>"""


@pytest.mark.parametrize("head", [BOMB, OUTSIDE])
@pytest.mark.parametrize("member", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "[Content_Types].xml"])
def test_workbooks_with_entities_are_refused(case: Case, head: bytes, member: str) -> None:
    space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cell = b'<row><c t="str"><v>&a;</v></c></row>'
    body = b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (space, cell)
    put(case, "a.xlsx", rezipped(workbook(One=[["a"], [1]]), member, head + body))
    with pytest.raises(DeliverableError):
        case.sheet("a.xlsx")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04junk", b"no zip", workbook(One=[["a"]])[:300]])
def test_invalid_workbook_is_refused(case: Case, data: bytes) -> None:
    put(case, "a.xlsx", data)
    with pytest.raises(DeliverableError):
        case.sheet("a.xlsx")


def test_endlessly_unpacking_workbook_is_refused(case: Case) -> None:
    put(case, "a.xlsx", rezipped(workbook(One=[["a"]]), "xl/styles.xml", b" " * (257 << 20)))
    with pytest.raises(DeliverableError, match="unpacks to more"):
        case.sheet("a.xlsx")


@given(st.data())
def test_damaged_workbook_is_malformed_or_read(data: st.DataObject) -> None:
    import tempfile

    whole = bytearray(WORKBOOK)
    for _ in range(data.draw(st.integers(1, 5))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.xlsx").write_bytes(whole)
        try:
            Case({"output": Path(folder)}).sheet("a.xlsx")
        except DeliverableError:
            return


WORKBOOK = workbook(One=[["a", "b"], [1, "x"]])


@pytest.mark.parametrize(
    "data", [b"", b"<a>", b"<a></b>", BOMB + b"<b>&c;</b>", OUTSIDE + b"<b>&a;</b>", b"\xff\xfe", b"<a>" * 100_000]
)
def test_malformed_xml_is_refused(case: Case, data: bytes) -> None:
    put(case, "a.xml", data)
    with pytest.raises(DeliverableError):
        case.xml("a.xml")
    with pytest.raises(DeliverableError):
        case.svg("a.xml")


def test_svg_is_read(case: Case) -> None:
    put(case, "a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><text>Hi  <tspan>you</tspan></text><rect/></svg>')
    assert len(list(case.svg("a.svg"))) == 2
    put(case, "b.svg", "<html/>")
    with pytest.raises(DeliverableError, match="is not an SVG"):
        case.svg("b.svg")


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 6)) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", size, (10, 20, 30)).save(data, kind)
    return data.getvalue()


def test_pictures_are_read(case: Case) -> None:
    for kind in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF"):
        put(case, "a.png", picture(kind))
        assert case.image("a.png").size == (8, 6)


def test_invalid_pictures_are_refused(case: Case) -> None:
    huge = bytearray(picture())
    huge[16:24] = struct.pack(">II", 60_000, 60_000)
    for data in (b"", b"GIF89a", picture()[:40], bytes(huge), b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"):
        put(case, "a.png", data)
        with pytest.raises(DeliverableError):
            case.image("a.png")


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_sound_is_read(case: Case, width: int) -> None:
    tone = np.sin(np.linspace(0, 60, 800))
    with wave.open(str(case.folder("output") / "a.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(width)
        file.setframerate(400)
        whole = (tone * (2 ** (8 * width - 1) - 1)).astype(np.int64)
        frames = b"".join(
            (int(v) + (128 if width == 1 else 0)).to_bytes(width, "little", signed=width > 1) * 2 for v in whole
        )
        file.writeframes(frames)
    sound = case.wav("a.wav")
    assert (sound.seconds, sound.samples.shape) == (2.0, (800, 2))
    assert np.abs(sound.samples[:, 0] - tone).max() < 0.02
    assert sound.loudness == pytest.approx(2**-0.5, abs=0.02)


@pytest.mark.parametrize("data", [b"", b"RIFF", b"RIFF\x24\x00\x00\x00WAVEfmt ", b"ID3"])
def test_invalid_sound_is_refused(case: Case, data: bytes) -> None:
    put(case, "a.wav", data)
    with pytest.raises(DeliverableError):
        case.wav("a.wav")


def test_errors_in_the_reference_are_ours(case: Case) -> None:
    (case.folder("reference") / "a.json").write_text("{")
    for ask in (
        lambda: case.ref_json("a.json"),
        lambda: case.ref_text("none"),
        lambda: case.reference("../x"),
        lambda: case.references("*.csv"),
        lambda: case.probe("none"),
    ):
        with pytest.raises(ReferenceUnreadable):
            ask()
    for call in (lambda: case.folder("input"), lambda: case.setting("b"), lambda: case.run(["true"])):
        with pytest.raises(GraderError):
            call()
    (case.folder("probes") / "size.json").write_text("[1]")
    (case.folder("probes") / "list.txt").write_text("a b")
    assert (case.probe("size"), case.probe("list"), case.setting("a")) == ([1], "a b", 1)


def test_missing_column_is_the_files_fault(case: Case) -> None:
    put(case, "a.csv", "name,amount\nAnn,1\n")
    (case.folder("reference") / "a.csv").write_text("name\nAnn\n")
    table = case.rows("a.csv")
    assert table.rows[0]["amount"] == "1"
    assert table.rows[0].get("total") is None
    assert case.rows("a.csv") is table
    for ask in (lambda: table.rows[0]["total"], lambda: table.column("total")):
        with pytest.raises(DeliverableError, match=r"a\.csv: has no 'total'; it has name, amount"):
            ask()
    with pytest.raises(ReferenceUnreadable, match="has no 'amount'"):
        case.ref_rows("a.csv").rows[0]["amount"]
    for _ in range(2):
        with pytest.raises(DeliverableError, match="is missing"):
            case.rows("b.csv")


def test_missing_key_is_the_files_fault(case: Case) -> None:
    put(case, "a.json", '{"a": {"b": [{"c": 1}]}, "n": 1.5}')
    value = case.json("a.json")
    assert value == {"a": {"b": [{"c": 1}]}, "n": 1.5}
    with pytest.raises(DeliverableError, match="has no 'd'; it has c"):
        value["a"]["b"][0]["d"]


@pytest.mark.parametrize(
    ("like", "says"),
    [
        ({"a": {"b": [{"c": int}]}, "n": float}, ""),
        ({"a": {"b": list}, "n": (str, float)}, ""),
        ({"a": None}, ""),
        (list, "the value is {'a'"),
        ({"a": {"b": [{"c": str}]}}, "a.b[0].c is 1, not a text"),
        ({"a": {"x": None}}, "a has no 'x'"),
        ({"n": int}, "n is 1.5, not a whole number"),
        ({"n": bool}, "n is 1.5, not true or false"),
        ({"n": (str, list)}, "n is 1.5, not a text"),
    ],
)
def test_shape_is_checked_before_use(case: Case, like: object, says: str) -> None:
    put(case, "a.json", '{"a": {"b": [{"c": 1}]}, "n": 1.5}')
    if not says:
        assert case.json("a.json", like=like)
        return
    with pytest.raises(DeliverableError) as caught:
        case.json("a.json", like=like)
    assert says in str(caught.value)
