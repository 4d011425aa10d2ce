"""The frame that every report stands on: one row per planned slot, with what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.errors import Cause, PlanError, RecordMissing
from worksample.records import Experiment
from worksample.store import Store

if TYPE_CHECKING:
    import polars as pl


def find_experiments(store: Store, names: Sequence[str] = ()) -> list[Experiment]:
    """Experiments by id or name; without names the latest one. Raises RecordMissing."""
    known = sorted(store.find(Experiment), key=lambda e: (e.at, e.id))
    if not known:
        raise RecordMissing("the store holds no experiment", next="worksample run --suite starter --agent scripted")
    if not names:
        return known[-1:]
    found = []
    for name in names:
        match = [e for e in known if name in (e.id, e.name)]
        if not match:
            raise RecordMissing(f"no experiment {name!r} in this store", next="worksample list")
        found.append(match[-1])
    return found


def same_lock(experiments: Sequence[Experiment]) -> None:
    """Refuse to compare what was not measured alike: other instances, environment models or protocol."""
    first = experiments[0]
    for other in experiments[1:]:
        if other.lock.comparable != first.lock.comparable:
            differs = [
                name
                for name in ("instances", "roles", "protocol")
                if sorted(getattr(first.lock, name)) != sorted(getattr(other.lock, name))
            ]
            raise PlanError(
                f"{first.name} and {other.name} differ in their locks ({', '.join(differs) or 'contents'})",
                next=f"worksample report {other.id}, each in its own report",
            )


def slots_frame(store: Store, experiments: Sequence[Experiment]) -> pl.DataFrame:
    """Every planned slot with its trial (the live one, else the latest try), verdict and `state`.

    `state` is a `worksample.metrics.State` or "not_attemptable". Rows are sorted by agent, task, instance, repeat.
    """
    import polars as pl

    from worksample.metrics import State
    from worksample.store.frames import slots_df, trials_df

    ids = [e.id for e in experiments]
    planned = pl.concat([slots_df(store, i) for i in ids], how="vertical_relaxed")
    tries = pl.concat([trials_df(store, i) for i in ids], how="vertical_relaxed")
    latest = tries.sort("live", "ended", "trial").unique("slot", keep="last")
    extra = [c for c in latest.columns if c not in planned.columns]
    frame = planned.drop([c for c in ("trial",) if c in planned.columns]).join(
        latest.select("slot", "trial", *extra), on="slot", how="left", maintain_order="left"
    )
    cancelled = pl.col("cause") == Cause.CANCELLED.value
    state = (
        pl.when(pl.col("not_attemptable").fill_null("") != "")
        .then(pl.lit("not_attemptable"))
        .when(pl.col("trial").is_null())
        .then(pl.lit(State.PENDING.value))
        .when(~pl.col("live").fill_null(False))
        .then(pl.when(cancelled).then(pl.lit(State.PENDING.value)).otherwise(pl.lit(State.INFRASTRUCTURE.value)))
        .when(pl.col("standing") == "decided")
        .then(pl.lit(State.VALID.value))
        .otherwise(pl.lit(State.UNGRADED.value))
    )
    return frame.with_columns(state=state).sort("agent_name", "task", "instance_name", "repeat", "slot")
