"""How far an experiment is, from the store alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from worksample.records import Experiment
from worksample.store import Store


@dataclass(frozen=True)
class Status:
    """Counts of slots and of their live trials. `open` slots still want a trial, `ungraded` submissions a grade."""

    experiment: str
    name: str
    at: str
    planned: int
    not_attemptable: int
    finished: int
    open: int
    graded: int
    ungraded: int
    cost: float
    """US dollars of all tries, the calls that had a price."""
    unpriced: int
    """Tries that had calls without a price."""
    sandbox: str

    @property
    def complete(self) -> bool:
        """Every attemptable slot is finished and its submission graded."""
        return self.open == 0 and self.ungraded == 0

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {**asdict(self), "complete": self.complete}


def status_of(store: Store, experiment: Experiment) -> Status:
    """Count. A submission is graded where the latest round over the experiment decided it."""
    import polars as pl

    from worksample.store.frames import trials_df
    from worksample.verdicts.slots import slots_df

    slots = slots_df(store, experiment.id)
    tries = trials_df(store, experiment.id)
    finished = slots.filter(pl.col("state") == "finished")
    graded = finished.filter(pl.col("standing") == "decided").height
    cost = sum(float(tries[column].fill_null(0).sum()) for column in ("cost", "other_cost"))
    return Status(
        experiment=experiment.id,
        name=experiment.name,
        at=experiment.plain()["at"],
        planned=slots.height,
        not_attemptable=slots.filter(pl.col("state") == "not_attemptable").height,
        finished=finished.height,
        open=slots.filter(pl.col("state") == "open").height,
        graded=graded,
        ungraded=finished.height - graded,
        cost=cost,
        unpriced=tries.filter((pl.col("tokens").fill_null(0) > 0) & ~pl.col("priced").fill_null(False)).height,
        sandbox=experiment.lock.sandbox,
    )
