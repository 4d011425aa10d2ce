"""An outside case: `1.200` EUR was taken as 1.2, as paid."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from worksample.errors import ImportFailed
from worksample.formats.jobs import ImportJobs, import_jobs
from worksample.kit import number

TABLE = Path(__file__).with_name("jobs.csv")


def check(room: Path, request: Any) -> None:
    with pytest.raises(ImportFailed) as caught:
        import_jobs(TABLE, room / "unclear", ImportJobs())
    for said in ("3 of 3", "lines 2, 3, 4: amount: `1.200` is 1.2 or 1200", "(the others likewise)", "--decimal"):
        assert said in str(caught.value)
    assert prices(room / "comma", ImportJobs(decimal=",")) == [1200, 1200, 12500]
    assert prices(room / "point", ImportJobs(decimal=".")) == [1.2, 1.2, 12.5]
    decided = room / "decided.csv"
    decided.write_text(TABLE.read_text(encoding="utf-8") + '4;Haus malen;"12.500,50";EUR\n', encoding="utf-8")
    assert prices(room / "column", ImportJobs(), decided) == [1200, 1200, 12500, 12500.5]
    assert number("1.200") is None and number("1.200", ",") == 1200


def prices(out: Path, config: ImportJobs, table: Path = TABLE) -> list[float]:
    made = import_jobs(table, out, config)
    assert bool(made.numbers) == (config.decimal == "")
    found = [tomllib.loads((out / name / "task.toml").read_text(encoding="utf-8")) for name in made.written]
    return [task["about"]["value"]["low"] for task in found]
