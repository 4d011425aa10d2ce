from __future__ import annotations

import hashlib
import sqlite3
import struct
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from worksample.errors import DeliverableError, GraderError, ReferenceUnreadable
from worksample.kit import (
    Case,
    Check,
    Expect,
    Mesh,
    Ran,
    close,
    drawing,
    exact,
    executable,
    geometric,
    hashed,
    mentions,
    number,
    numbers_in,
    plain_text,
    possible_numbers,
    query,
    read_stl,
    says,
    state,
    surface,
    visual,
    words,
)
from worksample.kit.comparisons.tabular import best_pairs


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.50", 1234.5),
        ("1.234,50", 1234.5),
        ("1,234", 1234),
        ("1.234.567", 1234567),
        ("1,5", 1.5),
        ("1.5", 1.5),
        ("1 234,5", 1234.5),
        ("1'234.50", 1234.5),
        ("$12", 12),
        ("12 €", 12),
        ("EUR 1.234,56", 1234.56),
        ("-$5.20", -5.2),
        ("\u2212 3", -3),
        ("(12.50)", -12.5),
        ("12%", 0.12),
        ("1e3", 1000),
        (" 7 ", 7),
        (True, None),
        (None, None),
        ("", None),
        ("abc", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        (float("nan"), None),
        (10**400, None),
        ("1,23,4", None),
        ("--1", None),
        ("9" * 100, None),
        ("2026 12", None),
        ("1 2345", None),
        ("12 345.6", 12345.6),
        ("٣", None),
    ],
)
def test_numbers_as_people_write_them_are_read(text: object, value: float | None) -> None:
    assert number(text) == (None if value is None else pytest.approx(value))


@given(st.floats(-1e12, 1e12).map(lambda f: round(f, 2)))
def test_every_spelling_of_a_number_reads_the_same(value: float) -> None:
    english = f"{value:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    for text in (english, german, f"{value:.2f}", english.replace(",", " ")):
        assert number(text) == pytest.approx(value)


@given(st.text(max_size=80))
def test_any_text_is_a_number_or_none(text: str) -> None:
    found = number(text)
    assert found is None or abs(found) < float("inf")


def test_ambiguous_number_is_none_unless_a_mark_is_named() -> None:
    assert [number(text) for text in ("1.200", "€1.200", "-12.500", "1.000")] == [None] * 4
    assert (number("1.200", "."), number("1.200", ","), number("1,234", ",")) == (1.2, 1200, 1.234)
    assert (possible_numbers("1.200"), possible_numbers("1200"), possible_numbers("x")) == ((1.2, 1200), (1200,), ())
    assert (number("12,5", ","), number("12.5", ","), number("0.125"), number("1.2345")) == (12.5, None, 0.125, 1.2345)


def test_text_gives_its_possible_number_and_the_reason_says_so() -> None:
    german = says("Zusammen 1.200 EUR.", 1200)
    assert german.passed and german.reason == "1.200 is read as 1200"
    assert says("A length of 1.200 m", 1.2).reason == "" and says("1,200 items", 1200).reason == ""
    assert not says("Zusammen 1.200 EUR.", 12).passed
    assert numbers_in("1.200 EUR und 3,5 %") == [1200, 0.035] and numbers_in("1.200 m, 3.5 kg") == [1.2, 3.5]
    assert numbers_in("1.200 EUR") == [] and numbers_in("1.200 EUR", ",") == [1200]


def test_dates_compare_as_text() -> None:
    assert plain_text(datetime(2026, 3, 1)) == plain_text(date(2026, 3, 1)) == "2026-03-01"


def test_exact_and_hashed_values_are_compared(tmp_path: Path) -> None:
    got, want = tmp_path / "got.txt", tmp_path / "want.txt"
    got.write_text(' "Flag  {X}"\n')
    want.write_text("flag {x}")
    assert exact(got, want, ignore=["quotes", "space", "case"]).passed
    assert not exact(got, want).passed
    assert exact(b"a", "a").passed
    digest = hashlib.sha256(b"flag {x}").hexdigest()
    assert hashed(got, [digest.upper()], ignore=["quotes", "space", "case"]).passed
    assert hashed(want, hashlib.sha256(want.read_bytes()).hexdigest(), ignore=()).passed
    assert not hashed("other", digest).passed
    with pytest.raises(DeliverableError):
        exact(tmp_path / "none", want)
    with pytest.raises(ReferenceUnreadable):
        exact(got, tmp_path / "none")
    with pytest.raises(GraderError):
        exact("a", "a", ignore=["spaces"])


def test_mentions_are_found() -> None:
    text = "The client\u2019s  Category is over-budget."
    assert mentions(text, ["client's category", ["overspent", "over-budget"]]).passed
    check = mentions(text, ["cat", "budget"])
    assert (check.fraction, check.reason) == (0.5, "does not mention 'cat'")
    assert mentions(text, ["cat"], whole=False).passed
    assert words("a - b, c!") == 3


def test_numbers_in_a_text_are_found() -> None:
    text = "In March we spent $1,234.50 (3.5 % more), i.e. -12 or (7.25) of v2, 2026-03-01."
    found = numbers_in(text)
    assert found == pytest.approx([1234.5, 0.035, -12, -7.25, 2026, 3, 1])
    assert numbers_in("in 2026 100 of 12 345 items: 1, 2, 3") == [2026, 100, 12345, 1, 2, 3]
    assert says(text, 1234.5).passed
    assert says(text, 1234, tolerance=1, near="we SPENT", reach=20).passed
    assert says(text, 7, near="spent", reach=10).reason == "does not give 7 near 'spent'"
    assert says("nothing", 7, near="spent").reason == "does not mention 'spent'"


@given(st.text("0123456789.,()%$ -", max_size=60))
def test_any_text_has_numbers_or_none(text: str) -> None:
    assert all(abs(n) < float("inf") for n in numbers_in(text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
)


@given(JSON, st.booleans())
def test_state_matches_itself(value: object, ordered: bool) -> None:
    assert state(value, value, ordered=ordered).passed


@given(JSON, JSON)
def test_state_score_is_a_share_and_1_only_without_differences(got: object, want: object) -> None:
    check = state(got, want)
    assert check.passed == (check.reason == "")


def test_states_are_compared() -> None:
    want = {"users": [{"name": "Ann", "open": 2}], "closed": True}
    got = {"users": [{"name": "Bob"}, {"name": "Ann", "open": 2.0, "more": 1}], "closed": 1, "rest": []}
    check = state(got, want)
    assert check.fraction == pytest.approx(2 / 3)
    assert check.reason == "closed: 1 instead of True"
    assert "users[0].name: 'Bob' instead of 'Ann'" in state(got, want, ordered=True).reason
    assert state({"n": 1.01}, {"n": 1}, tolerance=0.02).passed
    assert not state([1], [1, 1]).passed
    assert not state(1.5, 10**307).passed
    assert "too many" in state([1] * 100_000, [1] * 100).reason


def test_databases_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    link = sqlite3.connect(path)
    link.execute("create table t (a, b)")
    link.execute("insert into t values (1, 'x')")
    link.commit()
    assert query(path, "select * from t where a = ?", (1,)).rows == ({"a": 1, "b": "x"},)
    link.execute("pragma journal_mode = wal")
    link.execute("insert into t values (2, 'y')")
    link.commit()
    assert (tmp_path / "a.db-wal").stat().st_size > 0
    assert len(query(path, "select * from t")) == 2
    for sql in ("select * from none", "insert into t values (3, 'z')"):
        with pytest.raises(DeliverableError):
            query(path, sql)
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n"
    with pytest.raises(DeliverableError, match="more than"):
        query(path, endless)
    link.close()
    (tmp_path / "b.db").write_bytes(b"no database, but long enough to look at" * 100)
    with pytest.raises(DeliverableError):
        query(tmp_path / "b.db", "select 1 from t")


CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
FACES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
    (1, 5, 7), (1, 7, 3),
]  # fmt: skip


def cube(size: tuple[float, float, float] = (1, 1, 1), at: float = 0.0) -> Mesh:
    return Mesh(CORNERS[np.array(FACES)] * np.array(size) + at)


def stl(mesh: Mesh) -> bytes:
    body = b"".join(bytes(12) + t.astype("<f4").tobytes() + bytes(2) for t in mesh.triangles)
    return bytes(80) + struct.pack("<I", len(mesh.triangles)) + body


def ascii_stl(mesh: Mesh) -> bytes:
    lines = ["solid x"]
    for t in mesh.triangles:
        lines += ["facet normal 0 0 0", "outer loop", *(f"  vertex {a:.6e} {b:.6e} {c:.6e}" for a, b, c in t)]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid x"]).encode()


@given(st.floats(0.1, 100), st.floats(0.1, 100), st.floats(0.1, 100), st.floats(-1e3, 1e3))
def test_box_has_its_volume_anywhere(x: float, y: float, z: float, at: float) -> None:
    mesh = cube((x, y, z), at)
    assert mesh.volume == pytest.approx(x * y * z, rel=1e-6)
    assert mesh.area == pytest.approx(2 * (x * y + y * z + x * z), rel=1e-6)
    assert mesh.watertight


def test_meshes_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "a.stl"
    for data in (stl(cube()), ascii_stl(cube())):
        path.write_bytes(data)
        assert read_stl(path).volume == pytest.approx(1)
        assert geometric(path, cube()).passed
    assert not Mesh(cube().triangles[:-1]).watertight
    turned = cube().triangles.copy()
    turned[0] = turned[0][::-1]
    assert not Mesh(turned).watertight
    check = geometric(cube((1, 1, 2)), cube())
    assert "volume 2 instead of 1" in check.reason
    assert "length along z 2 instead of 1" in check.reason
    for bad in (
        b"",
        b"solid x\nvertex 1 2 3",
        stl(cube())[:-1],
        stl(Mesh(cube().triangles * 0)),
        stl(Mesh(cube().triangles * np.nan)),
    ):
        path.write_bytes(bad)
        with pytest.raises(DeliverableError):
            read_stl(path)


def test_surfaces_are_compared() -> None:
    bands = {0.1: 0.7, 0.5: 0.3}
    assert surface(cube((10, 10, 10)), cube((10, 10, 10)), {0.5: 1}, samples=2_000).fraction > 0.99
    near = surface(cube((10, 10, 10.3)), cube((10, 10, 10)), {0.6: 0.5, 0.2: 0.5}, samples=1_000)
    far = surface(cube((10, 10, 30)), cube((10, 10, 10)), bands, samples=1_000)
    assert far.fraction < near.fraction <= 1
    for wrong in ({}, {0.1: 0.0}, {-1.0: 1.0}):
        with pytest.raises(GraderError):
            surface(cube(), cube(), wrong)


def test_similar_pictures_are_compared() -> None:
    chance = np.random.default_rng(0)
    noise = Image.fromarray(chance.integers(0, 256, (40, 60, 3), dtype=np.uint8))
    other = Image.fromarray(chance.integers(0, 256, (40, 60, 3), dtype=np.uint8))
    blank = Image.new("RGB", (60, 40), (128, 128, 128))
    for measure in ("similarity", "difference"):
        assert visual(noise, noise, measure=measure).passed
        assert visual(other, noise, measure=measure).fraction < 0.9
    assert visual(blank, noise, floor=0.3).fraction < 0.05
    assert "60 x 40 pixels instead of 30 x 20" in visual(noise, noise.resize((30, 20))).reason
    assert visual(noise.resize((120, 80)), noise, same_size=False).fraction > 0.5
    with pytest.raises(GraderError):
        visual(noise, noise, measure="taste")


def test_drawings_are_compared(tmp_path: Path) -> None:
    head = '<svg xmlns="http://www.w3.org/2000/svg">'
    want, got = tmp_path / "want.svg", tmp_path / "got.svg"
    want.write_text(f"{head}<rect/><rect/><text>Sales</text></svg>")
    got.write_text(f"{head}<rect/><text>Sales</text></svg>")
    assert drawing(want, want).passed
    check = drawing(got, want)
    assert 0.5 < check.fraction < 1
    assert check.reason == "1 rect fewer"


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=4))
def test_pairs_maximise_the_sum(gain: list[list[int]]) -> None:
    from itertools import permutations

    rows, columns = len(gain), 3
    found = best_pairs(gain)
    assert len(found) == min(rows, columns)
    assert len({c for _, c in found}) == len({r for r, _ in found}) == len(found)
    if rows <= columns:
        best = max(sum(gain[r][c] for r, c in enumerate(p)) for p in permutations(range(columns), rows))
    else:
        best = max(sum(gain[r][c] for c, r in enumerate(p)) for p in permutations(range(rows), columns))
    assert sum(gain[r][c] for r, c in found) == best


@given(st.floats(-1e9, 1e9), st.floats(0, 1e3))
def test_closeness_holds_at_the_edge(want: float, tolerance: float) -> None:
    assert close(want + tolerance, want, tolerance)
    assert not close(10**400, want)
    assert not close(want + tolerance + 1 + abs(want) * 1e-6, want, tolerance)


class Scripted(Case):
    """A case whose programs answer from a list."""

    def __init__(self, *answers: Ran) -> None:
        super().__init__({})
        self.answers = list(answers)

    def run(self, *args: object, **more: object) -> Ran:
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("ran", "expect", "fraction", "says"),
    [
        (Ran(0, "a \nb\n\n", ""), Expect(stdout="a\nb"), 1, ""),
        (Ran(0, "c", ""), Expect(stdout="a"), 0, "printed: 'c' instead of 'a'"),
        (Ran(1, "a", "boom"), Expect(stdout="a"), 0, "exit code 1 instead of 0: boom"),
        (Ran(1, "a", ""), Expect(stdout="a", exit=None), 1, ""),
        (Ran(None, "a", ""), Expect(stdout="a"), 0, "did not end within 30 seconds"),
        (Ran(0, "", "", {"f": b"1"}), Expect(files={"f": b"1", "g": "2"}), 0.5, "did not write g"),
        (Ran(0, "", "", {"f": b"1"}), Expect(files={"f": lambda data: Check(0.25, "meh")}), 0.25, "meh"),
        (Ran(0, "", ""), Expect(), 1, ""),
    ],
)
def test_programs_are_run_and_compared(ran: Ran, expect: Expect, fraction: float, says: str) -> None:
    check = executable(Scripted(ran, Ran(0, "", "")), ["x"], [expect, Expect()])
    assert check.fraction == pytest.approx((fraction + 1) / 2)
    assert says in check.reason
