"""The frame that every report stands on: one row per planned slot, with what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.errors import Cause, PlanError
from worksample.experiments.find import find_experiment
from worksample.records import Experiment, Suite
from worksample.store import Store

if TYPE_CHECKING:
    import polars as pl


_KEYS = {"slot", "live", "reason"}
"""Columns that keep their meaning as the slot's own; the reason is the verdict's."""


def find_experiments(store: Store, names: Sequence[str] = ()) -> list[Experiment]:
    """Experiments by what people call them; without names the latest one. Raises UsageError."""
    return [find_experiment(store, name) for name in names or [""]]


def called(experiments: Sequence[Experiment]) -> str:
    """How they are called in a heading: by their names, those that share one by their ids."""
    names = [e.name for e in experiments]
    return ", ".join(e.name if names.count(e.name) == 1 else e.id for e in experiments)


def held_out(store: Store, experiments: Sequence[Experiment]) -> bool:
    """Whether the suite is private: then what is shown of it are aggregates alone."""
    locked = {e.lock.suite for e in experiments}
    return any(s.visibility == "private" for s in store.find(Suite) if s.id in locked)


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


def slots_frame(store: Store, experiments: Sequence[Experiment], *, judged: bool = True) -> pl.DataFrame:
    """`slots_df` of the experiments, with `state`, `live` and, where no trial is live, the latest try's columns.

    `state` is a `worksample.metrics.State` or "not_attemptable"; without `judged` no verdict is read. Rows
    are sorted by agent, task, instance, repeat.
    """
    import polars as pl

    from worksample.metrics import State
    from worksample.store.frames import trials_df
    from worksample.store.slot_frame import slots_df

    planned = pl.concat([slots_df(store, e.id, judged=judged) for e in experiments], how="vertical_relaxed")
    tries = pl.concat([trials_df(store, e.id) for e in experiments], how="vertical_relaxed")
    latest = tries.filter(~pl.col("live") & ~pl.col("struck")).sort("ended", "trial").unique("slot", keep="last")
    frame = planned.with_columns(pl.col("trial").is_not_null().alias("live"))
    late = [c for c in latest.columns if c in frame.columns and c not in _KEYS]
    frame = frame.join(latest.select("slot", *late), on="slot", how="left", suffix="_late", maintain_order="left")
    frame = frame.with_columns(pl.coalesce(c, f"{c}_late").alias(c) for c in late).drop([f"{c}_late" for c in late])
    sandbox = tries.unique("trial").select("trial", "sandbox", pl.col("reason").alias("trial_reason"))
    cancelled = pl.col("cause") == Cause.CANCELLED.value
    state = (
        pl.when(pl.col("state") == "not_attemptable")
        .then(pl.lit("not_attemptable"))
        .when(pl.col("trial").is_null() | (~pl.col("live") & cancelled))
        .then(pl.lit(State.PENDING.value))
        .when(~pl.col("live"))
        .then(pl.lit(State.INFRASTRUCTURE.value))
        .when(pl.col("standing") == "decided")
        .then(pl.lit(State.VALID.value))
        .otherwise(pl.lit(State.UNGRADED.value))
    )
    frame = frame.with_columns(state=state).join(sandbox, on="trial", how="left", maintain_order="left")
    return frame.sort("agent_name", "task", "instance_name", "repeat", "slot")
