"""All subjects of a round evaluated, in parallel; after a kill it goes on where it stood."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from worksample.records import Evaluation, EvaluatorKind, Instance, Round, Submission, Trial, now
from worksample.results.pair_sampling import PAIRS, drawn_pairs
from worksample.workplace.warm_pool import warm_pool

from .evaluators import Evaluators, RoundEvaluator, evaluators_of
from .grade_submission import evaluate
from .pending_evaluations import TRIES, EvaluationPlace, pending_places

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class GradingTask:
    """One evaluation that a round wants."""

    submission: Submission
    place: EvaluationPlace
    second: Submission | None = None
    """Of a pair: the other one."""


Item = tuple[Submission, Submission | None]
"""What one answer is about; of a pair both."""


def items(store: Store, round: Round) -> list[Item]:
    """What a round asks about: the submissions of which it has a grading, or the pairs that were drawn for it."""
    if PAIRS not in round.versions:
        return [(s, None) for s in subjects(store, round) if s.instance in round.gradings]
    here = {s.id: s for s in subjects(store, round)}
    return [(here[one], here[two]) for one, two in drawn_pairs(store, round) if one in here and two in here]


def subjects(store: Store, round: Round) -> list[Submission]:
    """The submissions of a round: those it lists, or all of its experiment's that come from no trial or a live one."""
    if round.experiment is None:
        return [store.get(Submission, id) for id in round.subjects]
    return live_submissions(store, round.experiment)


def live_submissions(store: Store, experiment: str) -> list[Submission]:
    """An experiment's submissions that come from no trial or a live one."""
    live = {t.id for t in store.find(Trial, experiment=experiment, live=True)}
    found = store.find(Submission, experiment=experiment)
    return [s for s in found if s.trial is None or s.trial in live]


@dataclass(frozen=True)
class RoundWork:
    """What a round wants of the evaluators that a process may ask."""

    store: Store
    round: Round
    by: tuple[RoundEvaluator, ...]
    tries: int = TRIES
    began: datetime = field(default_factory=now)
    """When this run began: a judge that failed since is not asked again before the next run."""

    def tasks(self) -> list[GradingTask]:
        """Everything that is wanted now, subject by subject."""
        made = by_item(self.store.find(Evaluation, round=self.round.id))
        return [
            task for item in items(self.store, self.round) for task in self.tasks_of(*item, made.get(key(*item), []))
        ]

    def tasks_of(
        self, submission: Submission, second: Submission | None = None, made: Sequence[Evaluation] | None = None
    ) -> list[GradingTask]:
        """What is wanted of one subject or pair. `made`: its evaluations in the round, if they are known."""
        if made is None:
            found = self.store.find(Evaluation, round=self.round.id, subject=submission.id)
            made = by_item(found).get(key(submission, second), [])
        return [GradingTask(submission, place, second) for place in self._pending(made)]

    async def do(self, task: GradingTask, instance: Instance) -> Evaluation | None:
        """Have it made, unless it is wanted no more; see `evaluate`."""
        return await evaluate(
            self.store, self.round, task.submission, instance, task.place,
            lambda made: task.place.key in {place.key for place in self._pending(made)}, task.second,
        )  # fmt: skip

    def _pending(self, made: Sequence[Evaluation]) -> list[EvaluationPlace]:
        return pending_places(self.round, self.by, made, self.tries, self.began)


def asks_services(instance: Instance, round: Round) -> bool:
    """Whether a round's grader of an instance has its workplace started over what was left."""
    grading = instance.grading.get(round.protocol)
    return round.by is EvaluatorKind.PROGRAM and grading is not None and bool(grading.settings.get("workplace"))


def starts_of(work: RoundWork) -> int:
    """How many workplaces are started for what is wanted now."""
    wanted = [task.submission.instance for task in work.tasks()] if work.round.by is EvaluatorKind.PROGRAM else []
    asking = {id: asks_services(work.store.get(Instance, id), work.round) for id in set(wanted)}
    return sum(asking[id] for id in wanted)


def key(submission: Submission, second: Submission | None) -> tuple[str, str | None]:
    """Of a subject or a pair."""
    return submission.id, second.id if second else None


def by_item(evaluations: Iterable[Evaluation]) -> dict[tuple[str, str | None], list[Evaluation]]:
    """Evaluations by what they are of."""
    made: dict[tuple[str, str | None], list[Evaluation]] = {}
    for evaluation in evaluations:
        made.setdefault((evaluation.subject, evaluation.second), []).append(evaluation)
    return made


async def grade_all(
    store: Store, round: Round, *, parallel: int = 2, here: Evaluators | None = None,
    on_done: Callable[[Evaluation], None] = lambda evaluation: None,
) -> None:  # fmt: skip
    """Have everything evaluated that a round wants and can be asked for here, `parallel` at once.

    What fails in passing is asked again, as often as its policy and `TRIES` say; a judge that failed only in the next
    run, since it has tries of its own. on_done: told of each evaluation as it
    is committed. Cancelling it loses only what was under way. Raises as `evaluate`.
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
