"""All that a store says, for comparing two of them."""

from __future__ import annotations

from typing import Any

from worksample.records import REGISTRY
from worksample.results.slot_results import slots_df
from worksample.store import Store, StoreFault, check
from worksample.store.dataframes import comparisons_df, evaluations_df, submissions_df, trials_df

FRAMES = (trials_df, submissions_df, evaluations_df, comparisons_df, slots_df)


def frames(store: Store) -> dict[str, list[dict[str, Any]]]:
    """Every frame's rows, for all experiments."""
    return {f.__name__: f(store).to_dicts() for f in FRAMES}


def everything(store: Store) -> dict[str, Any]:
    """Every frame and every record."""
    records = {kind: [r.plain() for r in store.find(cls)] for kind, cls in REGISTRY.items()}
    return frames(store) | records


def live(store: Store) -> dict[str, str]:
    """Slot -> live trial."""
    rows = trials_df(store).filter("live").select("slot", "trial").rows()
    assert len({slot for slot, _ in rows}) == len(rows), "a slot has two live trials"
    return dict(rows)


def damage(store: Store, *, deep: bool = False) -> list[StoreFault]:
    """What `check` finds, but for work that was done twice: random histories hold it, and stores that were merged."""
    return [fault for fault in check(store, deep=deep) if " twice" not in fault.what]
