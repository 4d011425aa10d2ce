"""Reading sections in tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from running.profiles import is_quick_run
from store import worlds
from worksample.metrics import Estimate, Resampling
from worksample.records import Amendment, AmendmentTarget
from worksample.reports.sections import MeasureConfig, Section
from worksample.reports.sections.all_sections import PARTS, _run_part, resolve_experiments
from worksample.results.result_set import ResultSet
from worksample.store import Store

QUICK = Resampling(resamples=50)


class Sections(Mapping[str, Section]):
    """All sections of a store by id, each checked. In the quick profile a part is measured once a section is asked for:
    most tests read one, and all of them take half a second.
    """

    def __init__(self, store: Store, config: MeasureConfig) -> None:
        self._results, self._config = ResultSet(store, resolve_experiments(store, ()), config.work_rules), config
        self._made: dict[int, dict[str, Section]] = {}
        if not is_quick_run():
            self._all()

    def __getitem__(self, id: str) -> Section:
        for number in sorted(range(len(PARTS)), key=lambda number: number != _PLACES.get(id)):
            if id in (made := self._part(number)):
                return made[id]
        raise KeyError(id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Section]:
        parts = [self._part(number) for number in range(len(PARTS))]
        found = {id: section for made in parts for id, section in made.items()}
        assert len(found) == sum(map(len, parts))
        return found

    def _part(self, number: int) -> dict[str, Section]:
        if number not in self._made:
            found = list(_run_part(*PARTS[number], self._results, self._config))
            for section in found:
                _checked(section)
            self._made[number] = {s.id: s for s in found}
            assert len(self._made[number]) == len(found)
            _PLACES.update(dict.fromkeys(self._made[number], number))
        return self._made[number]


_PLACES: dict[str, int] = {}
"""In which part a section was found, so that it is looked for there first."""


def _checked(section: Section) -> None:
    assert not section.fault
    assert all(len(row.cells) == len(section.columns) for row in section.rows), section.id
    for row in section.rows:
        for cell in row.cells:
            assert isinstance(cell, str) or (cell.value is None) == bool(cell.reason)


def sections(store: Store, **config: Any) -> Mapping[str, Section]:
    return Sections(store, MeasureConfig(**({"how": QUICK} | config)))


def cell(section: Section, label: str, column: str) -> Estimate:
    row = next(r for r in section.rows if r.label == label)
    found = row.cells[section.columns.index(column)]
    assert isinstance(found, Estimate)
    return found


def strike(store: Store, target: AmendmentTarget, id: str) -> None:
    store.commit(
        Amendment(id=f"a-{id}", action="strike", target=target, target_id=id, reason="r", author="me", at=worlds.at(99))
    )
