"""Status of an experiment, from the store alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from worksample.errors import Cause
from worksample.records import AWAITED, EvaluatorKind, Experiment, JudgedBy, Origin, Standing, Submission
from worksample.results.assignments.human_slots import open_work_of
from worksample.results.reattempts.chain_state import chains_of, count_due
from worksample.store import Store
from worksample.store.model_costs import Spending, of_agents, of_colleagues, of_judges

_WHOM = {cause.value: kind for kind, cause in AWAITED.items()}


@dataclass(frozen=True)
class Status:
    """Counts of slots and their live trials. `open` slots still need a trial.

    `finished` + `handed_in` = `graded` + `waits_for_people` + `waits_for_judge` + `ungraded`, by the first protocol.
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
    """Submissions without a verdict that wait for no evaluator."""
    cost: float
    """US dollars of all tries by agents and colleagues, for calls with a price. Judges are not included."""
    unpriced: int
    """Tries whose agent made calls without a price."""
    sandbox: str
    reattempts: int = 0
    """Planned slots that the chains' rule committed."""
    due: int = 0
    """Re-attempts that the next run adds."""
    to_label: int = 0
    """Submissions that people still have to label, to calibrate judges."""
    places: int = 0
    """Open slots that wait for a person who works."""
    handed_in: int = 0
    """Submissions by people and outside agents, in addition to the plan."""
    spending: tuple[Spending, ...] = ()
    """Usage of agents, colleagues and judges."""

    @property
    def complete(self) -> bool:
        """Return whether every attemptable slot is finished or waits for a person, and handed-in work is graded or
        waits for people or a judge.
        """
        return self.open == self.places and self.ungraded == 0 and self.due == 0

    def plain(self) -> dict[str, Any]:
        """Return the counts as JSON types."""
        return {**asdict(self), "complete": self.complete}


def status_of(store: Store, experiment: Experiment, judged_by: JudgedBy | None = None) -> Status:
    """Count an experiment's slots and submissions. A submission is graded if the rounds in force decided it.

    judged_by: whose answers count; None: as the experiment says.
    """
    return status_and_waits(store, experiment, judged_by)[0]


def status_and_waits(
    store: Store, experiment: Experiment, judged_by: JudgedBy | None = None
) -> tuple[Status, dict[str, EvaluatorKind]]:
    """Return the counts, and for each waiting submission the kind of evaluator that it waits for."""
    import polars as pl

    from worksample.results.calibration.label_rounds import count_all_missing_labels
    from worksample.results.slot_results import slots_df
    from worksample.store.dataframes import trials_df

    slots = slots_df(store, experiment.id, judged_by=judged_by)
    tries = trials_df(store, experiment.id)
    finished = slots.filter(pl.col("state") == "finished")
    graded = finished.filter(pl.col("standing") == "decided").height
    rest = finished.filter((pl.col("standing") != "decided") & pl.col("submission").is_not_null())
    handed, open_ = handed_in(store, experiment, judged_by)
    graded += handed - len(open_)
    causes = dict(rest.select("submission", "verdict_cause").iter_rows()) | open_
    whom = {submission: _WHOM[cause] for submission, cause in causes.items() if cause in _WHOM}
    waits = Counter(whom.values())
    # Once a person has handed in, that trial includes the agent's turns, which then do not count separately.
    done = tries.filter("live")["slot"].to_list()
    tries = tries.filter(
        (pl.col("cause") != Cause.PERSON_CONTINUES.value).fill_null(True) | ~pl.col("slot").is_in(done)
    )
    by = (of_agents(tries), of_colleagues(tries), of_judges(store, [experiment.id]))
    status = Status(
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
        ungraded=finished.height + handed - graded - waits.total(),
        reattempts=slots.filter(pl.col("attempt") > 1).height,
        due=count_due(chains_of(store, experiment)),
        to_label=count_all_missing_labels(store, experiment),
        handed_in=handed,
        places=sum(place.waits for place in open_work_of(store, experiment)),
        cost=sum(one.cost or 0.0 for one in by[:2]),
        unpriced=by[0].unpriced,
        spending=by,
        sandbox=experiment.lock.sandbox,
    )
    return status, whom


def handed_in(
    store: Store, experiment: Experiment, judged_by: JudgedBy | None = None
) -> tuple[int, dict[str, str | None]]:
    """Count the work that was handed in. Also return the submissions without a verdict, with the cause."""
    if not store.find(Submission, experiment=experiment.id, origin=[Origin.EXTERNAL, Origin.PERSON]):
        return 0, {}
    from worksample.results.result_set import ResultSet, WorkRules

    work = ResultSet(store, [experiment], WorkRules(judged_by=judged_by))
    mine = [s.id for s in work.handed_in if s.experiment == experiment.id]
    told = work.judgments.verdicts(experiment.lock.protocol)
    decided = set(told.filter(told["standing"] == Standing.DECIDED.value)["subject"].to_list())
    causes = dict(told.select("subject", "verdict_cause").iter_rows())
    return len(mine), {id: causes.get(id) for id in mine if id not in decided}
