"""How far an experiment is, from the store alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from worksample.records import EvaluatorKind, Experiment
from worksample.store import Store


@dataclass(frozen=True)
class Status:
    """Counts of slots and of their live trials. `open` slots still want a trial.

    `finished` = `graded` + `waits_for_people` + `waits_for_judge` + `ungraded`, by the first protocol.
    """

    experiment: str
    name: str
    at: str
    planned: int
    not_attemptable: int
    finished: int
    open: int
    graded: int
    waits_for_people: int
    waits_for_judge: int
    ungraded: int
    """Submissions that nobody is waited for, and that have no verdict."""
    cost: float
    """US dollars of all tries, the calls that had a price."""
    unpriced: int
    """Tries that had calls without a price."""
    sandbox: str

    @property
    def complete(self) -> bool:
        """Every attemptable slot is finished, and its submission graded or waiting for people or a judge."""
        return self.open == 0 and self.ungraded == 0

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return {**asdict(self), "complete": self.complete}


def status_of(store: Store, experiment: Experiment) -> Status:
    """Count. A submission is graded where the rounds in force over the experiment decided it."""
    import polars as pl

    from worksample.store.frames import trials_df
    from worksample.verdicts.slots import slots_df

    from .waiting import waiting_for

    slots = slots_df(store, experiment.id)
    tries = trials_df(store, experiment.id)
    finished = slots.filter(pl.col("state") == "finished")
    graded = finished.filter(pl.col("standing") == "decided").height
    rest = finished.filter((pl.col("standing") != "decided") & pl.col("submission").is_not_null())
    waits = Counter(waiting_for(store, experiment, dict(rest.select("submission", "instance").iter_rows())).values())
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
        waits_for_people=waits[EvaluatorKind.PERSON],
        waits_for_judge=waits[EvaluatorKind.JUDGE],
        ungraded=finished.height - graded - waits.total(),
        cost=cost,
        unpriced=tries.filter((pl.col("tokens").fill_null(0) > 0) & ~pl.col("priced").fill_null(False)).height,
        sandbox=experiment.lock.sandbox,
    )
