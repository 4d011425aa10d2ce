"""UpBench's six tables: exported and imported tables are equal by value and type."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.random_upbench_tables import Maker
from reports import people_world
from results.random_worlds import RandomWorld
from worksample.errors import FaultyRows, ImportFailed, UsageError
from worksample.formats.upbench import (
    ExportUpbench,
    Tables,
    export_upbench,
    import_upbench,
    read_tables,
    tables_of,
    write_tables,
)
from worksample.formats.upbench.table_files import TABLE_FORMATS
from worksample.formats.upbench.tables import (
    COLUMNS,
    NAMES,
    ColumnKind,
    complete_tables,
    differing_columns,
    equal_tables,
    id_of,
)
from worksample.records import Experiment, Protocol
from worksample.reports.sections import measure
from worksample.store import Store, check

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    ["NA", "None", "=1+1", "a,b;c\td", 'say "so"', "one\r\ntwo\nthree\rfour", "0", "true", " space ", "\x00\x7f"]
)
_CELLS: dict[ColumnKind, Any] = {
    ColumnKind.TEXT: _TEXTS,
    ColumnKind.WHOLE: st.integers(0, 2**63 - 1),
    ColumnKind.NUMBER: st.floats(0, allow_nan=False, allow_infinity=False),
    ColumnKind.FLAG: st.booleans(),
    ColumnKind.MOMENT: st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)),
    ColumnKind.JSON: st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab c", max_size=3), inner, max_size=3),
        max_leaves=4,
    ).filter(lambda value: isinstance(value, list | dict)),
}  # fmt: skip


@st.composite
def any_tables(draw: st.DrawFn) -> Tables:
    out: Tables = {}
    for name, columns in COLUMNS.items():
        ids = draw(st.lists(_TEXTS.filter(lambda t: t != ""), max_size=2, unique=True))
        out[name] = [
            {c: draw(st.none() | _CELLS[kind]) for c, kind in columns.items()} | {id_of(name): id} for id in ids
        ]
    return complete_tables(out)


@settings(max_examples=10, deadline=None)
@given(tables=any_tables(), form=st.sampled_from(TABLE_FORMATS))
def test_written_tables_are_read_equal(tables: Tables, form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("tables")
    write_tables(tables, folder, form)
    back, unread = read_tables(folder)
    assert not unread
    for name in COLUMNS:
        assert [differing_columns(a, b) for a, b in zip(tables[name], back[name], strict=True)] == [()] * len(
            back[name]
        )


def test_equal_tables_compares_types() -> None:
    rows: Tables = complete_tables({"projects": [{"contract_id": "1", "job_amount": 1.0, "onet_tasks": ["a", 1]}]})
    for other in ({"job_amount": 1}, {"onet_tasks": ["a", 1.0]}, {"onet_tasks": ["a", True]}, {"contract_id": 1}):
        assert not equal_tables(rows, complete_tables({"projects": [{**rows["projects"][0], **other}]})), other
    assert equal_tables(rows, complete_tables(rows))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store.open(tmp_path_factory.mktemp("world") / "s", create=True)
    RandomWorld(store, random.Random(1), Protocol.RUBRIC)
    return store


def test_store_is_exported_in_every_file_format(world: Store, tmp_path: Path) -> None:
    tables, _ = tables_of(world)
    assert {name: bool(rows) for name, rows in tables.items()} == {
        **dict.fromkeys(COLUMNS, True),
        "qualifications": False,
    }
    for form in TABLE_FORMATS:
        made = export_upbench(world, tmp_path / form, config=ExportUpbench(format=form))
        assert made.rows == {name: len(rows) for name, rows in tables.items()}
        assert equal_tables(read_tables(tmp_path / form)[0], tables)


def out_in_out(tables: Tables, folder: Path, form: str = "csv") -> Store:
    """Write tables to files and import them into a new store; assert that its export is equal and a second import finds
    no new
    row.
    """
    write_tables(tables, folder / "a", form)
    store = Store.open(folder / "new", create=True)
    made = import_upbench(store, folder / "a", folder / "jobs")
    assert not made.faults and not made.unread
    found, _ = tables_of(store)
    assert {
        n: [d for a, b in zip(tables[n], found[n], strict=True) if (d := differing_columns(a, b))] for n in NAMES
    } == {n: [] for n in NAMES}
    again = import_upbench(store, folder / "a", folder / "jobs")
    assert {(rows["new"], rows["changed"]) for rows in again.refresh.rows.values()} == {(0, 0)}
    # Foreign tables may hold two gradings of a judge; the check names them, rightly.
    assert not [fault for fault in check(store) if "graded twice by one evaluator" not in fault.what]
    return store


def test_store_exported_and_imported_exports_equal_tables(world: Store, tmp_path: Path) -> None:
    out_in_out(tables_of(world)[0], tmp_path, "jsonl").close()


def random_tables(seed: int, jobs: int) -> Tables:
    """Return random valid tables of jobs, with ids that all differ."""
    drawn = (Maker(n, jobs).make() for n in range(seed, seed + 10_000, 100))
    return next(made for made in drawn if len({p["contract_id"] for p in made["projects"]}) == jobs)


def test_random_small_tables_imported_and_exported_are_equal(tmp_path: Path) -> None:
    out_in_out(random_tables(1, 2), tmp_path, "parquet").close()


@pytest.mark.thorough(quick="formats/test_upbench.py::test_random_small_tables_imported_and_exported_are_equal")
@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_random_tables_imported_and_exported_are_equal(tmp_path: Path, form: str) -> None:
    for seed in range(15):
        out_in_out(random_tables(seed + 20 * TABLE_FORMATS.index(form), 4), tmp_path / str(seed), form).close()


@pytest.mark.thorough(quick="formats/test_upbench.py::test_store_exported_and_imported_exports_equal_tables")
@pytest.mark.parametrize("protocol", [Protocol.RUBRIC, Protocol.HOLISTIC])
def test_random_store_exported_and_imported_exports_equal_tables(tmp_path: Path, protocol: Protocol) -> None:
    for seed in range(15):
        with Store.open(tmp_path / f"s{seed}", create=True) as store:
            RandomWorld(store, random.Random(seed), protocol)
            out_in_out(tables_of(store)[0], tmp_path / str(seed)).close()


@pytest.mark.thorough(quick="formats/test_upbench.py::test_store_exported_and_imported_exports_equal_tables")
def test_lifts_equal_those_of_the_exported_store(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        people_world.upbench(store)
        other = out_in_out(tables_of(store)[0], tmp_path)
        told = [
            [[str(cell) for cell in row.cells] for row in section.rows]
            for at in (store, other)
            for section in measure(at, at.find(Experiment))
            if section.id == "lifts"
        ]
        other.close()
    assert told[0] == told[1] and told[0]


FAULTS: dict[str, tuple[str, str]] = {
    "negative": ("contract_id,job_amount\n1,-5\n", "job_amount: is below 0"),
    "a formula": ("contract_id,job_amount\n1,=A1*2\n", "job_amount: is a formula"),
    "no id": ("contract_id,job_title\n,x\n", "contract_id: is missing"),
    "an id twice": ("contract_id\n1\n1\n", "'1' is already used in line 2"),
    "broken JSON": ('contract_id,onet_tasks\n1,"[1, 2"\n', "onet_tasks: begins like JSON, but is not valid JSON"),
    "a day of another land": ("contract_id,start_ts\n1,31/12/2024\n", "start_ts: '31/12/2024' is not a date"),
    "beyond the calendar": ("contract_id,start_ts\n1,0001-01-01T00:00:00+05:00\n", "not a valid date"),
    "not whole": ("contract_id,num_openings\n1,1.5\n", "num_openings: is not a whole number"),
    "too large": ("contract_id,num_openings\n1,99999999999999999999\n", "num_openings: is too large"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_unreadable_cell_is_named(tmp_path: Path, name: str) -> None:
    text, said = FAULTS[name]
    (tmp_path / "projects.csv").write_text(text)
    with pytest.raises(FaultyRows) as caught:
        read_tables(tmp_path)
    assert said in str(caught.value) and "projects.csv, line " in str(caught.value)


def test_invalid_set_of_tables_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="no table `projects`"):
        read_tables(tmp_path)
    (tmp_path / "projects.csv").write_text("id\n1\n")
    with pytest.raises(ImportFailed, match="no column contract_id"):
        read_tables(tmp_path)
    (tmp_path / "projects.json").write_text("[]")
    with pytest.raises(ImportFailed, match="has two files"):
        read_tables(tmp_path)
    with pytest.raises(UsageError, match="unknown format 'xlsx'"):
        write_tables({}, tmp_path, "xlsx")
    (tmp_path / "projects.csv").write_bytes("contract_id;job_title\n1;Prüfung\n".encode("cp1252"))
    (tmp_path / "projects.json").unlink()
    with pytest.raises(ImportFailed, match="not UTF-8"):
        read_tables(tmp_path)
    assert read_tables(tmp_path, encoding="cp1252")[0]["projects"][0]["job_title"] == "Prüfung"
