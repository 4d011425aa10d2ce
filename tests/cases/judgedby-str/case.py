"""`MeasureConfig(judged_by="people")`: the word is taken, and another one refused with the allowed words."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.people_world import rli
from worksample import JudgedBy, MeasureConfig, measure, open_store
from worksample.errors import UsageError
from worksample.store import Store


def check(room: Path, request: pytest.FixtureRequest) -> None:
    with Store.open(room / "store", create=True) as store:
        rli(store)
    with open_store(room / "store") as store:
        word, member = (measure(store, (), MeasureConfig(judged_by=by)) for by in ("people", JudgedBy.PEOPLE))  # type: ignore[arg-type]
        assert [s.plain() for s in word] == [s.plain() for s in member]
    with pytest.raises(UsageError, match="one of combined, people, judge, program"):
        MeasureConfig(judged_by="persons")  # type: ignore[arg-type]
