"""Reading sections in tests."""

from __future__ import annotations

from typing import Any

from store import worlds
from worksample.metrics import Estimate, Resampling
from worksample.records import Amendment, Target
from worksample.reports.sections import MeasureConfig, Section, measure
from worksample.store import Store

QUICK = Resampling(resamples=50)


def sections(store: Store, **config: Any) -> dict[str, Section]:
    found = measure(store, (), MeasureConfig(**({"how": QUICK} | config)))
    assert [s.fault for s in found if s.fault] == []
    assert len({s.id for s in found}) == len(found)
    for section in found:
        assert all(len(row.cells) == len(section.columns) for row in section.rows), section.id
        for row in section.rows:
            for cell in row.cells:
                assert isinstance(cell, str) or (cell.value is None) == bool(cell.reason)
    return {s.id: s for s in found}


def cell(section: Section, label: str, column: str) -> Estimate:
    row = next(r for r in section.rows if r.label == label)
    found = row.cells[section.columns.index(column)]
    assert isinstance(found, Estimate)
    return found


def strike(store: Store, target: Target, id: str) -> None:
    store.commit(
        Amendment(id=f"a-{id}", action="strike", target=target, target_id=id, reason="r", author="me", at=worlds.at(99))
    )
