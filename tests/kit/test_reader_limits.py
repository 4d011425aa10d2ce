"""Readers refuse input made to exhaust them, quickly and within memory, and read real files."""

from __future__ import annotations

import io
import resource
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from worksample.errors import DeliverableError
from worksample.kit import Case, tabular
from worksample.kit.source import UnreadableSource, find
from worksample.kit.table import Table
from worksample.kit.workbook import STRING_LIMIT, guard_archive, read_cells

HEAD = b'<?xml version="1.0"?>'
SPACE = b' xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def book(cells: list[list[object]]) -> bytes:
    made = openpyxl.Workbook()
    sheet = made.create_sheet("first", 0)
    for row in cells:
        sheet.append(row)
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def replaced(data: bytes, name: str, content: bytes, path: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.namelist():
            if item != name:
                new.writestr(item, old.read(item))
        new.writestr(name, content)
    return path


SHEET = HEAD + b"<worksheet" + SPACE + b'><sheetData><row r="1"><c r="A1">%s</c></row></sheetData></worksheet>'
BOMBS: dict[str, Callable[[], tuple[str, bytes]]] = {
    "4.5 million strings": lambda: (
        "xl/sharedStrings.xml",
        HEAD + b"<sst" + SPACE + b">" + b"<si><t/></si>" * 4_500_000 + b"</sst>",
    ),
    "strings with a prefix": lambda: ("xl/sharedStrings.xml", HEAD + b"<x:sst>" + b"<x:si/>" * 500_000 + b"</x:sst>"),
    "three million styles": lambda: (
        "xl/styles.xml",
        HEAD + b"<styleSheet" + SPACE + b">" + b"<x/>" * 3_000_000 + b"</styleSheet>",
    ),
    "a hundred thousand sheets": lambda: (
        "xl/workbook.xml",
        HEAD + b"<workbook><sheets>" + b"<sheet />" * 100_000 + b"</sheets></workbook>",
    ),
    "a number beyond any": lambda: ("xl/worksheets/sheet1.xml", SHEET % b"<v>1e999</v>"),
    "a number of 400 digits": lambda: ("xl/worksheets/sheet1.xml", SHEET % (b"<v>" + b"9" * 400 + b"</v>")),
    "a number of 5,000 digits": lambda: ("xl/worksheets/sheet1.xml", SHEET % (b"<v>" + b"9" * 5_000 + b"</v>")),
    "no number": lambda: ("xl/worksheets/sheet1.xml", SHEET % b"<v>nan</v>"),
}


@pytest.mark.parametrize("what", sorted(BOMBS))
def test_exhausting_workbooks_are_malformed(what: str, tmp_path: Path) -> None:
    name, content = BOMBS[what]()
    replaced(book([["a", 1]]), name, content, tmp_path / "got.xlsx")
    before = resource.getrusage(resource.RUSAGE_SELF)
    with pytest.raises(DeliverableError, match=r"got\.xlsx: "):
        Case({"output": tmp_path}).cells("got.xlsx")
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 30


def test_strings_are_counted_across_pieces(tmp_path: Path) -> None:
    """However long the tags are, none is counted twice and none is lost."""
    for length in (1, 7, 61, 1021):
        strings = (b"<si>" + b"x" * length) * (3_000_000 // (length + 4))
        count = strings.count(b"<si>")
        path = replaced(book([["a"]]), "xl/sharedStrings.xml", strings, tmp_path / f"{length}.xlsx")
        if count > STRING_LIMIT:
            with pytest.raises(UnreadableSource, match="shared strings"):
                guard_archive(path)
        else:
            guard_archive(path)


def test_workbook_at_the_documented_size_is_read(tmp_path: Path) -> None:
    rows: list[list[object]] = [[f"name {n}", n, n / 7, "shared"] for n in range(20_000)]
    (tmp_path / "large.xlsx").write_bytes(book(rows))
    assert len(read_cells(tmp_path / "large.xlsx")) == 20_000


def test_table_far_larger_than_the_reference_scores_zero() -> None:
    want = Table.of([{"id": n, "value": n} for n in range(10)])
    with pytest.raises(DeliverableError, match="has 10,001 rows, but 10 are expected"):
        tabular(Table.of([{"id": n, "value": n} for n in range(10_001)]), want, keys=["id"])
    assert tabular(Table.of([{"id": n, "value": n} for n in range(9_000)]), want, keys=["id"]).fraction < 0.01


def test_impossible_file_name_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="not a valid file name"):
        find(tmp_path, "a\ud800")


PACKAGES = Path(openpyxl.__file__).parents[1]
PLACES = (
    (Path("/usr/share/doc"), ("svg", "csv", "json", "txt", "xml", "png", "gz")),
    (Path("/usr/share/icons"), ("svg", "png")),
    (PACKAGES / "scipy/io/tests/data", ("wav", "mat", "sav", "arff")),
    (PACKAGES / "matplotlib/mpl-data", ("svg", "png", "csv", "ttf")),
)
REAL = [
    path
    for folder, endings in PLACES
    for ending in endings
    for path in sorted(folder.rglob(f"*.{ending}"))[:25]
    if path.is_file() and not path.is_symlink()
]


@pytest.mark.skipif(not REAL, reason="there are no files of other packages here")
def test_external_files_are_read_or_malformed() -> None:
    """SciPy's sounds with odd heads, pictures, tables, documents of the machine: a value or a fault, nothing else."""
    read: Counter[str] = Counter()
    for path in REAL:
        case = Case({"output": path.parent})
        readers: tuple[Callable[[str], object], ...] = (
            case.text, case.json, case.rows, case.cells, case.xml, case.svg, case.image, case.wav,
        )  # fmt: skip
        for reader in readers:
            try:
                reader(path.name)
                read[path.suffix] += 1
            except DeliverableError:
                continue
    assert read
    sounds = [path for path in REAL if path.suffix == ".wav"]
    assert not sounds or 0 < read[".wav"] < len(sounds) * 2
