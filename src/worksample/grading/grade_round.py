"""Grading of a whole round in parallel. If the process is stopped, the next run makes only the missing evaluations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from worksample.records import Evaluation, EvaluatorKind, Instance, Round, Submission, Trial, now
from worksample.results.pair_sampling import PAIRS, drawn_pairs
from worksample.workplace.warm_pool import warm_pool

from .evaluators import Evaluators, RoundEvaluator
from .grade_submission import evaluate
from .pending_evaluations import TRIES, EvaluationPlace, pending_places
from .program_evaluator import evaluators_of

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class GradingTask:
    """An evaluation that a round still needs, with its place (see `EvaluationPlace`)."""

    submission: Submission
    place: EvaluationPlace
    second: Submission | None = None
    """The second submission, if a pair is compared; otherwise None."""


Item = tuple[Submission, Submission | None]
"""The subject of an evaluation: a submission and None, or a pair of submissions."""


def items(store: Store, round: Round) -> list[Item]:
    """Return the subjects of a round: the submissions that have a grading in the round, or the drawn pairs."""
    if PAIRS not in round.versions:
        return [(s, None) for s in subjects(store, round) if s.instance in round.gradings]
    here = {s.id: s for s in subjects(store, round)}
    return [(here[one], here[two]) for one, two in drawn_pairs(store, round) if one in here and two in here]


def subjects(store: Store, round: Round) -> list[Submission]:
    """Return the submissions of a round: those that the round lists, or the valid submissions of its experiment
    (`live_submissions`).
    """
    if round.experiment is None:
        return [store.get(Submission, id) for id in round.subjects]
    return live_submissions(store, round.experiment)


def live_submissions(store: Store, experiment: str) -> list[Submission]:
    """Return an experiment's submissions from valid finished trials and from outside."""
    live = {t.id for t in store.find(Trial, experiment=experiment, live=True)}
    found = store.find(Submission, experiment=experiment)
    return [s for s in found if s.trial is None or s.trial in live]


@dataclass(frozen=True)
class RoundWork:
    """The evaluations that a round still needs and that the evaluators `by` can make in this process."""

    store: Store
    round: Round
    by: tuple[RoundEvaluator, ...]
    tries: int = TRIES
    began: datetime = field(default_factory=now)
    """Start of this run. If a judge fails during the run, it is asked again only in the next run."""

    def tasks(self) -> list[GradingTask]:
        """Return all evaluations that are needed now, ordered by subject."""
        made = by_item(self.store.find(Evaluation, round=self.round.id))
        return [
            task for item in items(self.store, self.round) for task in self.tasks_of(*item, made.get(key(*item), []))
        ]

    def tasks_of(
        self, submission: Submission, second: Submission | None = None, made: Sequence[Evaluation] | None = None
    ) -> list[GradingTask]:
        """Return the evaluations that a submission or pair still needs.

        made: the existing evaluations of this submission or pair in the round. If None, they are read from the store.
        """
        if made is None:
            found = self.store.find(Evaluation, round=self.round.id, subject=submission.id)
            made = by_item(found).get(key(submission, second), [])
        return [GradingTask(submission, place, second) for place in self._pending(made)]

    async def do(self, task: GradingTask, instance: Instance) -> Evaluation | None:
        """Make one evaluation with `evaluate`. Returns None if the evaluation is no longer needed."""
        return await evaluate(
            self.store, self.round, task.submission, instance, task.place,
            lambda made: task.place.key in {place.key for place in self._pending(made)}, task.second,
        )  # fmt: skip

    def _pending(self, made: Sequence[Evaluation]) -> list[EvaluationPlace]:
        return pending_places(self.round, self.by, made, self.tries, self.began)


def asks_services(instance: Instance, round: Round) -> bool:
    """Return whether the grader of an instance needs the workplace's services, with the state stored in the
    submission.
    """
    grading = instance.grading.get(round.protocol)
    return round.by is EvaluatorKind.PROGRAM and grading is not None and bool(grading.settings.get("workplace"))


def starts_of(work: RoundWork) -> int:
    """Return how often a workplace must be started for the evaluations that are needed now."""
    wanted = [task.submission.instance for task in work.tasks()] if work.round.by is EvaluatorKind.PROGRAM else []
    asking = {id: asks_services(work.store.get(Instance, id), work.round) for id in set(wanted)}
    return sum(asking[id] for id in wanted)


def key(submission: Submission, second: Submission | None) -> tuple[str, str | None]:
    """Return the key of a subject: the ids of the submission and of the second submission, which may be None."""
    return submission.id, second.id if second else None


def by_item(evaluations: Iterable[Evaluation]) -> dict[tuple[str, str | None], list[Evaluation]]:
    """Group evaluations by the key of their submission or pair."""
    made: dict[tuple[str, str | None], list[Evaluation]] = {}
    for evaluation in evaluations:
        made.setdefault((evaluation.subject, evaluation.second), []).append(evaluation)
    return made


async def grade_all(
    store: Store, round: Round, *, parallel: int = 2, here: Evaluators | None = None,
    on_done: Callable[[Evaluation], None] = lambda evaluation: None,
) -> None:  # fmt: skip
    """Make all evaluations that a round needs and that can be made on this machine. `parallel` evaluations run at the
    same time.

    A transient failure is tried again as often as its policy and `TRIES` allow. A failed judge is asked again only in
    the next run, because it has already repeated its calls. on_done: a function that is called with each committed
    evaluation. If the call is cancelled, only the evaluations in progress are lost. Raises the errors of `evaluate`.
    """
    work = RoundWork(store, round, evaluators_of(round, here or Evaluators()))
    instances: dict[str, Instance] = {}

    async def worker(queue: Iterator[GradingTask]) -> None:
        for task in queue:
            id = task.submission.instance
            if id not in instances:
                instances[id] = await asyncio.to_thread(store.get, Instance, id)
            done = await work.do(task, instances[id])
            if done is not None:
                on_done(done)

    while tasks := await asyncio.to_thread(work.tasks):
        queue = iter(tasks)
        async with warm_pool(await asyncio.to_thread(starts_of, work)), asyncio.TaskGroup() as group:
            for _ in range(max(1, min(parallel, len(tasks)))):
                group.create_task(worker(queue))
