"""What agents, colleagues and judges cost stands beside each other, with what is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from store import worlds
from worksample.experiments.status import status_of
from worksample.records import Experiment, Usage
from worksample.store import Store
from worksample.store.dataframes import evaluations_df, trials_df
from worksample.store.model_costs import Spending, spending

SETTLED = Usage(calls=4, input_tokens=100, output_tokens=20, cost=0.5, priced=True)
UNPRICED = Usage(calls=2, input_tokens=50, output_tokens=10, unpriced=2)
ESTIMATED = Usage(calls=1, input_tokens=10, output_tokens=5, cost=0.1, estimated=1)
CUT = Usage(calls=1, input_tokens=10, output_tokens=5, cost=0.1, unsettled=2, unsettled_tokens=900, unsettled_cost=0.4)
REFUSED = Usage(failed=3, cost=0.0, priced=True)


def store_with(folder: Path, agents: list[Usage], colleague: Usage | None = None, judges: Any = ()) -> Store:
    """A trial for each usage, and an evaluation of the first for each of `judges`."""
    world = worlds.World()
    store = worlds.planted(Store.open(folder / "store", create=True), world)
    for slot, used in enumerate(agents):
        usage = {"agent": used} | ({"colleague": colleague} if colleague else {})
        trial = world.trial(slot, f"t{slot}", slot + 1, usage=usage)
        store.commit(trial, world.submission(trial))
    for number, used in enumerate(judges):
        told = {"usage": {"judge": used.plain()}}
        store.commit(world.evaluation("s-t0", f"e{number}", record=told, cost=used.cost))
    return store


def by_who(store: Store) -> dict[str, Spending]:
    return {one.who: one for one in spending(store, [store.find(Experiment)[0].id])}


def test_judges_and_colleagues_are_counted_beside_agents(tmp_path: Path) -> None:
    store = store_with(tmp_path, [SETTLED], colleague=ESTIMATED, judges=[SETTLED, SETTLED])
    found = by_who(store)
    assert found["agents"].cost == 0.5
    assert found["colleagues"] == Spending("colleagues", 1, 0.1, 0.1, 1, 0, 1)
    assert found["judges"] == Spending("judges", 8, 1.0, 1.0, 2, 0, 0)
    status = status_of(store, store.find(Experiment)[0])
    assert status.spending == tuple(found.values())
    assert status.cost == pytest.approx(0.6)  # judges' money is told beside it


def test_unpriced_usage_is_unknown_and_never_zero(tmp_path: Path) -> None:
    judges = by_who(store_with(tmp_path, [SETTLED], judges=[UNPRICED, SETTLED]))["judges"]
    assert (judges.calls, judges.cost, judges.at_most, judges.unpriced) == (6, 0.5, None, 1)
    alone = by_who(store_with(tmp_path / "two", [UNPRICED], judges=[UNPRICED]))
    assert (alone["judges"].cost, alone["judges"].unpriced) == (None, 1)
    assert (alone["agents"].cost, alone["agents"].at_most, alone["agents"].unpriced) == (None, None, 1)


def test_estimates_and_bounds_are_marked(tmp_path: Path) -> None:
    store = store_with(tmp_path, [CUT, ESTIMATED, REFUSED], judges=[CUT])
    found = by_who(store)
    assert (found["agents"].cost, found["agents"].unsettled) == (pytest.approx(0.2), 2)
    assert found["agents"].at_most == pytest.approx(0.6)
    assert (found["judges"].cost, found["judges"].at_most, found["judges"].unsettled) == (0.1, pytest.approx(0.5), 1)
    frame = trials_df(store).sort("trial")
    assert frame["cost_at_most"].to_list() == [pytest.approx(0.5), 0.1, 0.0]
    assert frame["priced"].to_list() == [False, False, True]
    assert frame["unsettled_calls"].to_list() == [2, 0, 0]
    assert frame["failed_calls"].to_list() == [0, 0, 3]
    assert evaluations_df(store)["cost_at_most"].to_list() == [pytest.approx(0.5)]


def test_unasked_judges_are_left_out(tmp_path: Path) -> None:
    found = by_who(store_with(tmp_path, [SETTLED]))
    assert (found["judges"].pieces, found["judges"].at_most, found["colleagues"].pieces) == (0, None, 0)
