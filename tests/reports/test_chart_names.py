"""Charts find figures by the names of estimates, all of which exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.measuring import sections
from reports.people_world import rli, upbench
from worksample.metrics import Estimate, Unit
from worksample.reports.sections import Section
from worksample.reports.static_site.charts import PAIRED, SINGLE
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def estimates(found: dict[str, Section]) -> list[Estimate]:
    return [c for s in found.values() for row in s.rows for c in row.cells if isinstance(c, Estimate)]


def test_every_drawn_name_is_measured(tmp_path: Path) -> None:
    names: set[str] = set()
    elo = False
    for place, world in enumerate((rli, upbench)):
        with Store.open(tmp_path / f"store-{place}", create=True) as store:
            world(store)
            made = estimates(sections(store))
        names |= {e.name for e in made}
        elo = elo or any(e.unit is Unit.ELO for e in made)
    drawn = {name for name, *_ in SINGLE} | {name for both, *_ in PAIRED for name in both}
    assert drawn <= names, f"drawn and never measured: {sorted(drawn - names)}"
    assert elo
    assert "autoflation" in names


def test_pair_belongs_to_one_section(store: Store) -> None:
    upbench(store)
    found = sections(store)
    for both, *_ in PAIRED:
        homes = [{id for id, s in found.items() if name in {e.name for e in estimates({id: s})}} for name in both]
        assert homes[0] & homes[1], both
