"""Numbers as written in many countries; an ambiguous number is never read silently."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.files.tables.cell_values import InvalidCell, number, whole
from worksample.files.tables.number_columns import NumberColumns
from worksample.files.tables.numbers import format_float, marks_of, readings

CLEAR = {
    "1200": 1200, "1 200": 1200, "1'200": 1200, "1’200.50": 1200.5, "1\u00a0200,50": 1200.5, "1\u202f200,5": 1200.5,
    "1,234.50": 1234.5, "1.234,50": 1234.5, "1,234,567": 1234567, "1.234.567": 1234567, "1,00,000": 100000,
    "12,34,567.50": 1234567.5, "1.2e3": 1200, "1,2E3": 1200, "0.125": 0.125, "0,125": 0.125, "1234.567": 1234.567,
    "12.5": 12.5, "12,5": 12.5, ".5": 0.5, "$1,200.50": 1200.5, "€ 12.500,50": 12500.5, "12.500,50 €": 12500.5,
    "EUR 12,5": 12.5, "12,50EUR": 12.5, "CHF 1'200.-": 1200, "1200,-": 1200, "1.200,--": 1200, "R$ 5": 5, "5 kr": 5,
    "-5": -5, "\u22125": -5, "5-": -5, "1.200,50-": -1200.5, "- 5": -5, "-$5.20": -5.2, "$-5": -5, "(12.50)": -12.5,
    "(€ 5,50)": -5.5, "+5": 5, "12%": 0.12, "１２００": 1200, "￥１２００．５": 1200.5, "\u200e12\u200f": 12, "0": 0,
}  # fmt: skip
UNCLEAR = {
    "1.200": (1.2, 1200), "1,200": (1200, 1.2), "€1.200": (1.2, 1200), "12.500 EUR": (12.5, 12500),
    "-1.200": (-1.2, -1200), "(1.200)": (-1.2, -1200), "1.200-": (-1.2, -1200), "１．２００": (1.2, 1200),
    "1.000": (1, 1000), "$1,000": (1000, 1),
}  # fmt: skip
NONE = (
    "", " ", "abc", "nan", "inf", "1,23,4", "--1", "-(5)", "1..2", "1.200.00", "1 2345", "2026 12", "2026-01-02", "4h",
    "300–500", "5²", "½", "1_000", "0x10", "MAR 12", "1,200.50.3", "1.2,3.4", "12 12 €", "€", "%", "=B2*2", "٣", "1/2",
)  # fmt: skip


@pytest.mark.parametrize(("text", "value"), CLEAR.items())
def test_clear_number_has_one_reading(text: str, value: float) -> None:
    assert not readings(text).unclear and readings(text).only == pytest.approx(value)


@pytest.mark.parametrize(("text", "both"), UNCLEAR.items())
def test_ambiguous_number_has_two_readings(text: str, both: tuple[float, float]) -> None:
    found = readings(text)
    assert found.unclear and (found.point, found.comma) == pytest.approx(both) and found.only is None


@pytest.mark.parametrize("text", NONE)
def test_invalid_number_has_no_reading(text: str) -> None:
    assert not readings(text).is_number


@given(st.floats(-1e9, 1e9).map(lambda f: round(f, 2)))
def test_six_national_formats_give_one_number(value: float) -> None:
    english = f"{value:,.2f}"
    forms = [english, f"{value:.2f}", english.replace(",", "'"), english.replace(",", "\u202f")]
    forms += [form.translate(str.maketrans(",.", ".,")) for form in (english, f"{value:.2f}")]
    for form in forms:
        assert readings(form).only == pytest.approx(value)


@given(st.text("0123456789.,'- €$%()eE\u00a0１", max_size=20))
def test_any_text_is_read_or_refused_without_error(text: str) -> None:
    found = readings(text)
    assert found.unclear == (None not in (found.point, found.comma) and found.point != found.comma)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_float_is_clear_and_equal(value: float) -> None:
    text = format_float(value)
    assert not readings(text).unclear and float(text) == value


@pytest.mark.parametrize(
    ("column", "decimal"),
    [
        (["1.200", "12.500,50"], ","), (["1.200", "900"], ""), (["1.200", "0,5"], ","), (["1.200", "0.5"], "."),
        (["1.200", "1.234.567"], ","), (["1,200", "12,50"], ","), (["1,200", "1,234.5"], "."),
        (["1.200", "5.5", "5,5"], ""), (["1.200", "1'200"], ""), ([1.2, None, "1.200"], ""),
    ],
)  # fmt: skip
def test_column_decides_by_its_own_numbers(column: list[Any], decimal: str) -> None:
    assert marks_of(column).decimal == decimal


def rows(*cells: Any) -> list[tuple[int, dict[str, Any]]]:
    return [(n, {"a": cell}) for n, cell in enumerate(cells, 2)]


def test_ambiguous_cell_follows_its_column_and_is_reported() -> None:
    found = NumberColumns().with_rows({"a": True}, rows("1.200", "12.500,50"))
    assert (found.read("a", "1.200"), found.read("a", "12.500,50")) == (1200, 12500.5)
    assert found.notes() == ("a: `1.200` (line 2) is read as 1200: the column has `12.500,50` (line 3)",)


def test_column_with_both_marks_leaves_ambiguous_cells() -> None:
    found = NumberColumns().with_rows({"a": True}, rows("1.200", "5.5", "5,5"))
    assert (found.read("a", "5.5"), found.read("a", "5,5")) == (5.5, 5.5)
    with pytest.raises(
        InvalidCell, match=r"`1\.200` is 1\.2 or 1200, and the column has both `5.5` \(line 3\) and `5,5`"
    ):
        found.read("a", "1.200")


def test_thousands_by_comma_are_read_as_money_only_and_reported() -> None:
    money = NumberColumns().with_rows({"a": True}, rows("1,200"))
    assert money.read("a", "1,200") == 1200 and "money has no three decimals" in money.notes()[0]
    with pytest.raises(InvalidCell, match=r"is 1\.2 or 1200"):
        NumberColumns().with_rows({"a": False}, rows("1,200")).read("a", "1,200")
    for text in ("1.200", "1.000"):
        with pytest.raises(InvalidCell, match="name the decimal mark"):
            NumberColumns().with_rows({"a": True}, rows(text)).read("a", text)


def test_named_mark_holds_for_every_number() -> None:
    found = NumberColumns(",")
    assert (found.read("a", "1.200"), found.read("a", "1,5"), found.read("a", 7)) == (1200, 1.5, 7)
    with pytest.raises(InvalidCell, match="is not a number with ',' as the decimal mark"):
        found.read("a", "12.50")


def test_integer_is_exact_up_to_64_bits() -> None:
    assert [whole(cell) for cell in ("9223372036854775807", 2**63 - 1, "1,234,567", "12 000", "3.0")] == [
        2**63 - 1, 2**63 - 1, 1234567, 12000, 3,
    ]  # fmt: skip
    for cell in ("9223372036854775808", 2**63, 1e19, "9" * 40):
        with pytest.raises(InvalidCell, match="too large"):
            whole(cell)


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        (10**400, "not a finite number"), (-(10**400), "not a finite number"), ("1e999", "not a finite number"),
        ("9" * 4000, "not a finite number"),
        (math.inf, "not a finite number"), (True, "not a number"), ("=A1", "a formula"), ("12%", "is a percentage"),
        ("-3", "below 0"), ("9" * 6000, "not a number"), ("€", "not a number"),
    ],
)  # fmt: skip
def test_invalid_amount_is_refused(cell: Any, says: str) -> None:
    with pytest.raises(InvalidCell, match=says):
        number(cell)
