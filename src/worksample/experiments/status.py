"""Status of an experiment, computed from the store alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from worksample.errors import Cause
from worksample.records import AWAITED, EvaluatorKind, Experiment, JudgedBy, Origin, Standing
from worksample.results.assignments.human_slots import open_work_of
from worksample.results.reattempts.chain_state import chains_of, count_due
from worksample.store import Store, schema
from worksample.store.model_costs import Spending, of_agents, of_colleagues, of_judges_by_experiment

if TYPE_CHECKING:
    import polars as pl

AT_ONCE = 50_000
"""Number of slots that `statuses_of` reads at once."""
_WHOM = {cause.value: kind for kind, cause in AWAITED.items()}


@dataclass(frozen=True)
class Status:
    """Numbers of slots and of their live trials. `open` slots still need a trial.

    The sum of `finished` and `handed_in` equals the sum of `graded`, `waits_for_people`, `waits_for_judge` and
    `ungraded`. All of these refer to the first protocol.
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
    """Number of submissions that have no verdict and wait for no evaluator."""
    cost: float
    """Cost in US dollars of all tries, for agents' and colleagues' calls with a price. Judges are not included."""
    unpriced: int
    """Number of tries whose agent made calls without a price."""
    sandbox: str
    reattempts: int = 0
    """Number of re-attempts that the chains' rule has committed as slots."""
    due: int = 0
    """Number of re-attempts that the next run adds."""
    to_label: int = 0
    """Number of submissions that people still have to label to calibrate judges."""
    places: int = 0
    """Number of open slots in which a person works."""
    handed_in: int = 0
    """Number of submissions that people and outside agents handed in, in addition to the plan."""
    spending: tuple[Spending, ...] = ()
    """Usage of models and people by role: agents, colleagues and judges."""

    @property
    def complete(self) -> bool:
        """Return whether the experiment needs no further run. Every attemptable slot is finished or waits for a person,
        and work that was handed in is graded or waits for people or a judge.
        """
        return self.open == self.places and self.ungraded == 0 and self.due == 0

    def plain(self) -> dict[str, Any]:
        """Return the counts as JSON types."""
        return {**asdict(self), "complete": self.complete}


def status_of(store: Store, experiment: Experiment, judged_by: JudgedBy | None = None) -> Status:
    """Count an experiment's slots and submissions. A submission is graded if the rounds in force decide its verdict.

    `judged_by` names the evaluators whose answers count; None means those that the experiment names.
    """
    return status_and_waits(store, experiment, judged_by)[0]


def status_and_waits(
    store: Store, experiment: Experiment, judged_by: JudgedBy | None = None
) -> tuple[Status, dict[str, EvaluatorKind]]:
    """Return the status, and for each submission without a verdict that waits the kind of evaluator that it waits
    for.
    """
    [found] = _statuses(store, [experiment], judged_by)
    return found


def statuses_of(store: Store, experiments: Sequence[Experiment], judged_by: JudgedBy | None = None) -> list[Status]:
    """Return the status of each experiment, in the given order.

    Data that several experiments share is read only once. At most `AT_ONCE` slots are read at a time, except for an
    experiment that alone has more slots.
    """
    parts = batches(experiments, _count_slots(store), AT_ONCE)
    return [status for part in parts for status, _ in _statuses(store, part, judged_by)]


def batches(experiments: Sequence[Experiment], sizes: Mapping[str, int], limit: int) -> list[list[Experiment]]:
    """Split experiments, in order, into parts of at most `limit` slots in total. An experiment with more slots is a
    part of its own.
    """
    parts: list[list[Experiment]] = []
    room = 0
    for experiment in experiments:
        size = sizes.get(experiment.id, 0)
        if not parts or size > room:
            parts.append([])
            room = limit
        parts[-1].append(experiment)
        room -= size
    return parts


def _count_slots(store: Store) -> dict[str, int]:
    slots = schema.slots.c
    with store.database.reading() as connection:
        query = select(slots.experiment, func.count()).group_by(slots.experiment)
        return {experiment: count for experiment, count in connection.execute(query)}  # noqa: C416


def _statuses(
    store: Store, experiments: Sequence[Experiment], judged_by: JudgedBy | None
) -> Iterator[tuple[Status, dict[str, EvaluatorKind]]]:
    from worksample.results.slot_results import slots_df
    from worksample.store.dataframes import trials_df

    ids = [experiment.id for experiment in experiments]
    slots, tries = slots_df(store, ids, judged_by=judged_by), trials_df(store, ids)
    by_slots = slots.partition_by("experiment", as_dict=True)
    by_tries = tries.partition_by("experiment", as_dict=True)
    judges = of_judges_by_experiment(store, ids)
    outside = _experiments_with_handed_in_work(store)
    for experiment in experiments:
        key = (experiment.id,)
        handed = handed_in(store, experiment, judged_by) if experiment.id in outside else (0, {})
        yield _status(
            store,
            experiment,
            by_slots.get(key, slots.clear()),
            by_tries.get(key, tries.clear()),
            judges[experiment.id],
            handed,
        )


def _status(
    store: Store,
    experiment: Experiment,
    slots: pl.DataFrame,
    tries: pl.DataFrame,
    judges: Spending,
    handed_in_work: tuple[int, dict[str, str | None]],
) -> tuple[Status, dict[str, EvaluatorKind]]:
    """Count the slots and tries of one experiment."""
    import polars as pl

    from worksample.results.calibration.label_rounds import count_all_missing_labels

    states = Counter(slots["state"].to_list())
    finished = slots.filter(slots["state"] == "finished")
    decided = finished["standing"].fill_null("") == Standing.DECIDED.value
    rest = finished.filter(~decided & finished["submission"].is_not_null())
    handed, open_ = handed_in_work
    graded = int(decided.sum()) + handed - len(open_)
    causes = dict(rest.select("submission", "verdict_cause").iter_rows()) | open_
    whom = {submission: _WHOM[cause] for submission, cause in causes.items() if cause in _WHOM}
    waits = Counter(whom.values())
    # Once a person has handed in, that trial includes the agent's turns, which then do not count separately.
    done = tries.filter("live")["slot"].to_list()
    tries = tries.filter(
        (pl.col("cause") != Cause.PERSON_CONTINUES.value).fill_null(True) | ~pl.col("slot").is_in(done)
    )
    by = (of_agents(tries), of_colleagues(tries), judges)
    status = Status(
        experiment=experiment.id,
        name=experiment.name,
        at=experiment.plain()["at"],
        planned=slots.height,
        not_attemptable=states["not_attemptable"],
        finished=finished.height,
        open=states["open"],
        graded=graded,
        waits_for_people=waits[EvaluatorKind.PERSON],
        waits_for_judge=waits[EvaluatorKind.JUDGE],
        ungraded=finished.height + handed - graded - waits.total(),
        reattempts=int((slots["attempt"] > 1).sum()),
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


def _experiments_with_handed_in_work(store: Store) -> set[str]:
    submissions = schema.submissions.c
    made = submissions.origin.in_([Origin.EXTERNAL.value, Origin.PERSON.value])
    with store.database.reading() as connection:
        found = connection.execute(select(submissions.experiment).where(made).distinct()).scalars()
        return {experiment for experiment in found if experiment is not None}


def handed_in(
    store: Store, experiment: Experiment, judged_by: JudgedBy | None = None
) -> tuple[int, dict[str, str | None]]:
    """Return the number of submissions that were handed in, and the cause for each of them that has no verdict."""
    from worksample.results.result_set import ResultSet, WorkRules

    work = ResultSet(store, [experiment], WorkRules(judged_by=judged_by))
    mine = [s.id for s in work.handed_in if s.experiment == experiment.id]
    told = work.judgments.verdicts(experiment.lock.protocol)
    decided = set(told.filter(told["standing"] == Standing.DECIDED.value)["subject"].to_list())
    causes = dict(told.select("subject", "verdict_cause").iter_rows())
    return len(mine), {id: causes.get(id) for id in mine if id not in decided}
