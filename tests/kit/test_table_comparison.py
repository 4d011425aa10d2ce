from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.errors import DeliverableError, ReferenceUnreadable
from worksample.kit import Table, number, read_csv, tabular
from worksample.kit.numbers import close

CELLS = st.one_of(
    st.none(), st.integers(-1_000, 1_000), st.floats(-1e6, 1e6, allow_nan=False), st.text("ab,. %$1", max_size=6)
)
ROWS = st.lists(st.fixed_dictionaries({"k": st.sampled_from("abc"), "x": CELLS, "y": CELLS}), min_size=1, max_size=7)


@given(ROWS)
def test_table_equals_itself(rows: list[dict]) -> None:
    for keys in ((), ("k",), ("k", "x")):
        check = tabular(rows, rows, keys=keys)
        assert check.fraction == 1.0, check.reason
        assert not check.reason or " is read as " in check.reason  # of unclear numbers


@given(ROWS, ROWS, st.data())
def test_row_order_does_not_matter_with_keys(got: list[dict], want: list[dict], data: st.DataObject) -> None:
    mixed, shaken = (data.draw(st.permutations(rows)) for rows in (got, want))
    assert tabular(mixed, shaken, keys=["k"]).fraction == tabular(got, want, keys=["k"]).fraction


@given(ROWS, ROWS, st.floats(0, 1e6), st.floats(0, 1e6), st.booleans(), st.booleans())
def test_more_tolerance_never_lowers_the_score(
    got: list[dict], want: list[dict], a: float, b: float, keyed: bool, partial: bool
) -> None:
    keys = ["k"] if keyed else []
    low, high = sorted((a, b))
    small = tabular(got, want, keys=keys, tolerance=low, partial=partial).fraction
    assert tabular(got, want, keys=keys, tolerance=high, partial=partial).fraction >= small


@given(ROWS, ROWS, st.booleans())
def test_score_is_a_share_and_1_only_without_faults(got: list[dict], want: list[dict], partial: bool) -> None:
    check = tabular(got, want, keys=["k"], partial=partial)
    assert 0 <= check.fraction <= 1
    assert check.passed == (check.reason == "")


@given(ROWS)
def test_surplus_rows_cost_unless_allowed(rows: list[dict]) -> None:
    more = [*rows, {"k": "zz", "x": 1, "y": 1}]
    assert not tabular(more, rows, keys=["k"]).passed
    assert tabular(more, rows, keys=["k"], extra=False).passed
    assert not tabular(rows, more, keys=["k"], extra=False).passed


WANT = [{"Employee": "Ann", "total": 1234.5, "note": "ok"}, {"Employee": "Bob", "total": -12.5, "note": None}]


def test_numbers_text_and_names_as_people_write_them_match(tmp_path: Path) -> None:
    path = tmp_path / "report.csv"
    path.write_bytes(
        "EMPLOYEE;Total Amount;Note\r\n bob ;(12,50);\r\nANN;€1.234,50;OK\r\n".encode("latin-1", "replace")
    )
    path.write_text("EMPLOYEE;Total Amount;Note\r\n bob ;(12,50);\r\nANN;€1.234,50;OK\r\n", encoding="utf-8-sig")
    check = tabular(path, WANT, keys=["Employee"], aliases={"total": ["total amount"]})
    assert check.passed, check.reason


def test_reason_names_the_first_differences() -> None:
    got = [{"Employee": "Ann", "total": 1234, "note": "ok"}, {"Employee": "Cy", "total": 1, "note": None}]
    check = tabular(got, WANT, keys=["Employee"])
    assert check.fraction == pytest.approx(1 / 6)
    assert check.reason == (
        "1 of 6 cells right: row Employee=Bob: missing; row Employee=Ann: total 1234 instead of 1234.5; "
        "row Employee=Cy: not expected"
    )


def test_equal_keys_are_paired_for_the_best_total() -> None:
    want = [{"k": 1, "x": 0}, {"k": 1, "x": 10}, {"k": 1, "x": 20}]
    got = [{"k": "1.0", "x": 20}, {"k": "1", "x": 99}, {"k": 1, "x": 0}]
    assert tabular(got, want, keys=["k"]).fraction == pytest.approx(2 / 3)


def test_leading_zeros_are_part_of_a_code() -> None:
    assert tabular([{"k": "007", "x": 1}], [{"k": "7", "x": 1}], keys=["k"]).fraction == 0


def test_missing_columns_are_wrong_and_missing_keys_malformed() -> None:
    got = [{"Employee": "Ann", "total": 1234.5}, {"Employee": "Bob", "total": -12.5}]
    check = tabular(got, WANT, keys=["Employee"])
    assert check.fraction == 0.5
    assert "no column note" in check.reason
    with pytest.raises(DeliverableError, match="has no column 'Employee'"):
        tabular([{"name": "Ann"}], WANT, keys=["Employee"])


def test_fault_of_the_reference_is_ours() -> None:
    for wrong in ({"keys": ["name"]}, {"columns": ["sum"]}, {"tolerance": {"sum": 1}}, {"tolerance": -1.0}):
        with pytest.raises(ReferenceUnreadable):
            tabular(WANT, WANT, **wrong)  # type: ignore[arg-type]


def test_invalid_table_is_the_fault_of_its_owner(tmp_path: Path) -> None:
    broken, sound = tmp_path / "a.csv", tmp_path / "b.csv"
    broken.write_text('a,b\n1,"2\n')
    sound.write_text("a,b\n1,2\n")
    with pytest.raises(DeliverableError, match="is not CSV"):
        tabular(broken, sound)
    with pytest.raises(ReferenceUnreadable, match="is not CSV"):
        tabular(sound, broken)


def test_large_table_takes_linear_time() -> None:
    rows = tuple({"k": i, "x": i * 1.5, "y": f"n{i}"} for i in range(20_000))
    table = Table(("k", "x", "y"), rows)
    assert tabular(table, Table(("k", "x", "y"), rows[::-1]), keys=["k"]).passed


GERMAN = "id;amount\n1;1.200\n2;12.500\n"


def test_column_decides_its_thousands_separator(tmp_path: Path) -> None:
    got = tmp_path / "got.csv"
    got.write_text(GERMAN + "3;12,50\n", encoding="utf-8")
    found = tabular(
        got, [{"id": 1, "amount": 1200}, {"id": 2, "amount": 12500}, {"id": 3, "amount": 12.5}], keys=["id"]
    )
    assert found.passed and found.reason == "column amount: 1.200 is read as 1200, like its other cells"


def test_ambiguous_column_is_read_as_in_the_reference_and_reported(tmp_path: Path) -> None:
    got = tmp_path / "got.csv"
    got.write_text(GERMAN, encoding="utf-8")
    large = tabular(got, [{"id": 1, "amount": 1200}, {"id": 2, "amount": 12500}], keys=["id"])
    assert large.passed and "1.200 is read as 1200, like the reference" in large.reason
    small = tabular(got, [{"id": 1, "amount": 1.2}, {"id": 2, "amount": 12.5}], keys=["id"])
    assert small.passed and small.reason == ""
    mixed = tabular(got, [{"id": 1, "amount": 1.2}, {"id": 2, "amount": 12500}], keys=["id"])
    assert mixed.fraction == 0.5


def test_three_decimals_on_both_sides_are_compared_within_tolerance(tmp_path: Path) -> None:
    got, want = tmp_path / "got.csv", tmp_path / "want.csv"
    got.write_text("id,x\n1,1.234\n2,2.345\n", encoding="utf-8")
    want.write_text("id,x\n1,1.239\n2,2.349\n", encoding="utf-8")
    assert tabular(got, want, keys=["id"], tolerance=0.01).reason == ""
    assert tabular(got, want, keys=["id"], tolerance=0.001).fraction == 0


def test_row_knows_its_columns_separator(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id;amount;alone\n1;1.200;1.200\n2;12,50;7\n", encoding="utf-8")
    rows = read_csv(path).rows
    assert ([number(row["amount"]) for row in rows], number(rows[0]["alone"])) == ([1200, 12.5], None)


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        (1234567890, 1234567891, False),
        ("1234567890123456788", "1234567890123456789", False),
        ("1234567890123456789", 1234567890123456789, True),
        ("+5", 5.0, True),
        (7.0, "7", True),
        (10**400, 10**400 + 1, False),
        (1234567889.9999998, 1234567890, True),  # rounded: no integer
        ("1,234", "1234", True),
    ],
)
def test_integers_are_compared_exactly(got: object, want: object, same: bool) -> None:
    assert (tabular([{"v": got}], [{"v": want}]).fraction == 1) is same


def test_keys_that_differ_in_the_last_digit_differ() -> None:
    rows = [{"id": f"12345678901234567{n:02d}", "v": n} for n in range(20)]
    assert tabular(rows[::-1], rows, keys=["id"]).fraction == 1


@given(st.integers(), st.integers(0, 10**6), st.floats(0, 0.5))
def test_integers_within_tolerance_are_close(want: int, off: int, relative: float) -> None:
    allowed = max(1000, relative * abs(want)) if abs(want) < 10**300 else 0
    if off <= allowed:
        assert close(want + off, want, 1000, relative) and close(want - off, want, 1000, relative)
    assert close(want + 1, want) is False
