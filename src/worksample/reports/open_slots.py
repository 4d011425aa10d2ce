"""Reasons why slots are open: each cause once per agent, with the message of the latest try."""

from __future__ import annotations

from collections.abc import Sequence

from worksample.errors import POLICY, Cause, printable
from worksample.records import Experiment
from worksample.store import Store

LONGEST = 300
"""Maximum number of characters of a reason."""


def open_slot_reasons(store: Store, experiments: Sequence[Experiment], *, words: bool = True) -> tuple[str, ...]:
    """Return a sentence for each agent and cause, with the number of open slots. With `words`, the message of the
    latest try is added.
    """
    import polars as pl

    from worksample.store.dataframes import trials_df

    parts = [trials_df(store, experiment.id) for experiment in experiments]
    tries = pl.concat(parts).filter(~pl.col("struck"))
    served = tries.filter("live")["slot"].unique()
    last = tries.filter(~pl.col("slot").is_in(served.to_list()) & pl.col("cause").is_not_null())
    last = last.sort("ended", "trial").unique("slot", keep="last", maintain_order=True)
    said = []
    for group in last.partition_by("agent_name", "cause", maintain_order=True):
        row, count = group.row(-1, named=True), group.height
        slots = "1 slot is open" if count == 1 else f"{count} slots are open"
        cause = POLICY[Cause(row["cause"])].description
        text = f"{row['agent_name']}: {slots}, {cause}"
        reason = printable(" ".join(row["reason"].split()))[:LONGEST]
        said.append(f"{text}: {reason}" if words and reason and reason != cause else f"{text}.")
    return tuple(said)
