"""Tables of finished work follow the rules of all tables: separators, encodings, number formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.errors import FaultyRows, ImportFailed
from worksample.experiments.finished_work_table import read_work

ROWS = "task;path;agent;minutes;cost\nt;a;bot;{};12,50\nt;b;bot;90,5;3\n"


def test_table_from_german_excel_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("sep=;\n" + ROWS.format("1.200"), encoding="cp1252")
    assert [(row.minutes, row.cost) for row in read_work(path)] == [(1200, 12.5), (90.5, 3)]
    path.write_text("sep=;\n" + ROWS.format("1.200").replace("bot", "Jörg"), encoding="cp1252")
    with pytest.raises(ImportFailed, match="not UTF-8"):
        read_work(path)
    assert read_work(path, encoding="cp1252")[0].agent == "Jörg"


def test_ambiguous_number_is_a_fault_of_its_row_until_the_mark_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("task,path,agent,minutes\nt,a,bot,1.200\nt,b,bot,5\n", encoding="utf-8")
    with pytest.raises(FaultyRows, match=r"row 1: minutes: `1\.200` is 1\.2 or 1200") as caught:
        read_work(path)
    assert list(caught.value.faults) == ["row 1"]
    assert read_work(path, decimal=",")[0].minutes == 1200 and read_work(path, decimal=".")[0].minutes == 1.2


def test_unreadable_rows_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    good = '{"task": "t", "path": "a", "agent": "bot", "minutes": 1}'
    path.write_text(f"{good}\n{{\n[]\n{good.replace('1}', '9' * 5000 + '}')}\n", encoding="utf-8")
    with pytest.raises(FaultyRows) as caught:
        read_work(path)
    assert [what.partition(";")[0].partition(": E")[0] for what in caught.value.faults.values()] == [
        "is not JSON", "is not an object", "minutes: is infinite or NaN, not a finite number",
    ]  # fmt: skip


def test_table_without_rows_says_so(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("task,path,agent\n", encoding="utf-8")
    with pytest.raises(ImportFailed, match="the table has no rows"):
        read_work(path)
