"""Delimited text from programs of many countries: separators, quotes, headers, and refusals."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample.files.tables.delimited import SAMPLE, TableFault, header_of, records, sniff
from worksample.files.tables.encodings import is_text_encoding, marked_encoding


def read(text: str) -> list[dict[str, Any]]:
    dialect = sniff(text[:SAMPLE], whole=len(text) <= SAMPLE)
    header, below = header_of(records(io.StringIO(text, newline=""), dialect))
    return [header.row(record) for record in below]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # The shapes of csv-spectrum.
        ('first,address,city\nJohn,120 any st.,"Anytown, WW"\n', [["John", "120 any st.", "Anytown, WW"]]),
        ('a,b,c\r\n1,"",""\r\n2,3,4', [["1", "", ""], ["2", "3", "4"]]),
        ('a,b\n1,"ha ""ha"" ha"\n3,4\n', [["1", 'ha "ha" ha'], ["3", "4"]]),
        (
            'key,val\n1,"{""type"": ""Point"", ""at"": [102.0, 0.5]}"\n',
            [["1", '{"type": "Point", "at": [102.0, 0.5]}']],
        ),
        ('a,b,c\r\n1,2,3\r\n"Once upon \r\na time",5,6\r\n', [["1", "2", "3"], ["Once upon \r\na time", "5", "6"]]),
        ("a,b,c\n4,5,ʤ\n", [["4", "5", "ʤ"]]),
        # Line ends of old Macs; separators of Excel's countries; a mark of the byte order.
        ("a;b\r1;2\r3;4\r", [["1", "2"], ["3", "4"]]),
        ("sep=;\r\nid;Betrag\r\n1;1,50\r\n", [["1", "1,50"]]),
        ('"sep=|"\nid|x\n1|2\n', [["1", "2"]]),
        ("sep=\t\nid\tx\n1\t2\n", [["1", "2"]]),
        ("\ufeffid\tname\n1\tA, B\n", [["1", "A, B"]]),
        # Commas in names and numbers; separators and line ends in quoted names.
        ("Preis, netto;Menge, Stück\n1,50;2,00\n", [["1,50", "2,00"]]),
        ('"Nr, intern";"Leistung, Text";amount\n1;Logo;900\n', [["1", "Logo", "900"]]),
        ('"Nr.\n(intern)";"Text, kurz"\n1;Draw, a logo\n', [["1", "Draw, a logo"]]),
        ('id, name, note\n1, "A, B", "x"\n2, "C, D", "y"\n', [["1", "A, B", "x"], ["2", "C, D", "y"]]),
        ("id|text\n1|a;b;c\n2|d,e\n", [["1", "a;b;c"], ["2", "d,e"]]),
        # Lists in a column, quoted or not, with more marks than the table has columns.
        ('id,tags\n1,"a;b;c"\n2,"d;e;f"\n', [["1", "a;b;c"], ["2", "d;e;f"]]),
        ("id,name,tags\n" + "1,A,x;y;z;w\n" * 9, [["1", "A", "x;y;z;w"]] * 9),
        ("id,path\n" + "1,a|b|c|d\n" * 9 + "3\n", [["1", "a|b|c|d"]] * 9 + [["3", None]]),
        # Columns without names at the end, blank lines, short rows, one column alone.
        ("id,x,,\n\n1,2,,\n,,,\n3\n", [["1", "2"], ["3", None]]),
        ("name\nA; B\nC\n", [["A; B"], ["C"]]),
    ],
)
def test_table_shapes_are_read(text: str, rows: list[list[str | None]]) -> None:
    assert [list(row.values()) for row in read(text)] == rows


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty: the first line names no columns"),
        (" , ,\n", "is empty"),
        ("id,id\n1,2\n", "the column 'id' occurs twice"),
        ("Orders 2026,,\nid,text\n1,x\n", r"line 1 is a title \('Orders 2026'\)"),
        (
            "\n\nOrders\nid;text;amount\n1;x;2\n",
            r"line 3 has one cell \('Orders'\), and line 4 has 3: it is a title above",
        ),
        ("title\na, b\nc, d\n", "or it names the only column and the cells below it are not in quotes"),
        (
            '"EXTF";700;21;20240101;20240101;"EUR"\nUmsatz;Konto;Datum;Text;Kurs;WKZ\n1,50;1200;0105;a;;EUR\n',
            "is a title",
        ),
        ('id,a\n1,"open\n2,b\n', "line 2: a quote that is opened in this row is never closed"),
        ('id,a\n1,"b" c\n', "line 2: after a closing quote comes something other than `,`"),
        ('id,a\n\n1,"' + "x" * (4 << 20) + '\n"\n', r"line 3: a cell has more than 4,194,304 characters"),
        (",".join(f"c{n}" for n in range(5000)) + "\n", "more than 4,096 columns"),
    ],
)
def test_unreadable_table_says_where_and_why(text: str, says: str) -> None:
    with pytest.raises(TableFault, match=says):
        read(text)


def test_cell_beyond_the_header_is_named() -> None:
    with pytest.raises(TableFault, match=r"more cells than the header: 3, not 2; 'c' stands in column 3") as caught:
        read("id,x\n1,b,c\n")
    assert "quotes" in caught.value.next


CELLS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\r"), max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.lists(CELLS.filter(str.strip), min_size=3, max_size=3), min_size=1, max_size=6),
    mark=st.sampled_from(",;\t|"), end=st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_quoted_table_is_read_back_equal(rows: list[list[str]], mark: str, end: str) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=mark, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([["one", "two", "three"], *rows])
    assert [list(row.values()) for row in read(out.getvalue())] == rows


@pytest.mark.parametrize("name", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8"])
def test_encoding_is_detected_from_the_bytes(name: str) -> None:
    text = "id;Größe\r\n1;2\r\n"
    data = text.encode(name)
    assert data.decode(marked_encoding(data) or "utf-8").removeprefix("\ufeff") == text


def test_unknown_encoding_name_is_refused() -> None:
    assert [is_text_encoding(n) for n in ("cp1252", "base64", "rot13", "none-such", "undefined")] == [True] + [
        False
    ] * 4
