"""Chains of attempts in tables of results: which planned attempts are still needed, and which first attempts belong to
which arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from worksample.records import Experiment, Slot

JOB = ("experiment", "agent", "instance", "repeat")


def continued_arms(experiments: Iterable[Experiment]) -> dict[tuple[str, str], str]:
    """Return, for each (experiment, arm) with re-attempts, the name of the arm whose first attempts it continues."""
    return {(e.id, arm.name): arm.continues for e in experiments for arm in e.arms if arm.continues is not None}


def drop_unneeded_attempts(frame: pl.DataFrame, arms: Mapping[tuple[str, str], str], live: pl.Expr) -> pl.DataFrame:
    """Remove planned re-attempts that were not made and that are not needed, because an earlier attempt passed.

    live: an expression that is true if the slot has a valid finished trial. Attempts that were made stay in the frame,
    even if the verdict on the earlier attempt has changed since.
    """
    if not arms:
        return frame
    first = pl.DataFrame(
        [(e, arm, base) for (e, arm), base in arms.items()],
        schema={"experiment": pl.String, "arm": pl.String, "_base": pl.String},
        orient="row",
    )
    idle = frame.filter(~live.fill_null(False) & (pl.col("attempt") > 1)).join(first, on=["experiment", "arm"])
    won = frame.filter(pl.col("passed").fill_null(False)).select(*JOB, _arm="arm", _nth="attempt")
    same = (pl.col("_arm") == pl.col("arm")) & (pl.col("_nth") < pl.col("attempt"))
    begun = (pl.col("_arm") == pl.col("_base")) & (pl.col("_nth") == 1)
    gone = idle.join(won, on=JOB).filter(same | begun)["slot"].unique()
    return frame.filter(pl.col("slot").is_null() | ~pl.col("slot").is_in(gone.implode()))


def chain_origins(slots: Iterable[Slot]) -> dict[str, str]:
    """Return, by slot, the experiment in which the slot's chain began. Only slots that continue a chain of another
    experiment are included.
    """
    by_id = {slot.id: slot for slot in slots}
    found = {}
    for slot in by_id.values():
        first = slot
        while first.after in by_id:
            first = by_id[first.after]
        if first.experiment != slot.experiment:
            found[slot.id] = first.experiment
    return found


def join_attempts(frame: pl.DataFrame, experiments: Iterable[Experiment], begun: Mapping[str, str]) -> pl.DataFrame:
    """Return the frame with first attempts listed under each arm that continues them, instead of the arm that made
    them.

    Attempts after the first pass of a chain are left out. The frame is unchanged if no arm continues another. begun:
    the experiment in which a slot's chain began, by slot, if that is another experiment; the slot's rows are counted in
    that experiment.
    """
    arms = continued_arms(experiments)
    if not arms:
        return frame
    if begun:
        root = pl.col("slot").replace_strict(begun, default=None, return_dtype=pl.String)
        moved = frame.with_columns(_root=root).filter(pl.col("_root").is_not_null())
        keys = moved.select("experiment", "_root", "arm").unique().iter_rows()
        arms |= {(root, arm): arms[made, arm] for made, root, arm in keys if (made, arm) in arms}
        frame = frame.with_columns(experiment=pl.coalesce(root, "experiment"))
    bases = set(arms.values())
    parts = [frame.filter(~pl.col("arm").is_in(sorted(bases)) | pl.col("slot").is_null())]
    for (experiment, arm), base in sorted(arms.items()):
        mine = (pl.col("experiment") == experiment) & (pl.col("arm") == base) & (pl.col("attempt") == 1)
        name = pl.col("label").str.strip_suffix(f" ({base})")
        who, label = pl.col("agent") + f" / {arm}", name + f" ({arm})"
        rows = frame.filter(mine).with_columns(arm=pl.lit(arm), who=who, label=label, entry=who, entry_label=label)
        parts.append(rows)
    whole = pl.concat(parts).sort("agent_name", "task", "instance_name", "arm", "repeat", "attempt")
    passed = pl.col("passed").fill_null(False).cast(pl.Int64)
    before = passed.cum_sum().over(*JOB, "arm") - passed
    return whole.filter(pl.col("slot").is_null() | (before == 0))
