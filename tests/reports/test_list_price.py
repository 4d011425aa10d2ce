"""Cost of trials at list price without caching, from the indexed tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.measuring import cell, sections
from store import worlds
from worksample.models import Price
from worksample.records import Usage
from worksample.store import Store

PRICES = {"m/1": Price(input=2, output=10, cache_read=0.2)}


def test_cached_tokens_cost_as_fresh_ones_and_unknown_models_nothing(tmp_path: Path) -> None:
    world = worlds.World()
    store = worlds.planted(Store.open(tmp_path / "store", create=True), world)
    used = Usage(
        calls=9, input_tokens=100_000, output_tokens=20_000, cache_read_tokens=800_000, cache_write_tokens=50_000,
        cost=0.9, priced=True,
    )  # fmt: skip
    for slot in range(8):
        trial = world.trial(slot, f"t{slot}", slot + 1, usage={"agent": used})
        made = world.submission(trial)
        store.commit(trial, made, world.evaluation(made.id, f"e{slot}", 1.0, instance=trial.instance))
    found = sections(store, prices=PRICES)["scores"]
    assert cell(found, "ann", "list price").value == pytest.approx(0.95 * 2 + 0.02 * 10)
    assert cell(found, "ann", "cost").value == pytest.approx(0.9)
    cached = (0.1 * 2 + 0.8 * 0.2 + 0.05 * 2) + 0.02 * 10  # written to the cache: at the price of input
    assert cell(found, "ann", "list price, cached").value == pytest.approx(cached)
    assert cell(found, "bob", "list price").value is None
    plain = sections(store, prices={"m/1": Price(input=2, output=10)})["scores"]
    assert "list price" in plain.columns and "list price, cached" not in plain.columns
    assert any(note.startswith("list price") for note in found.notes)
    assert "list price" not in sections(store)["scores"].columns
