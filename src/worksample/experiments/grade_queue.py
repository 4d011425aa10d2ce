"""Evaluations that some rounds want of whom this process may ask, worked off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

from worksample.grading import Evaluators, GradingTask, RoundWork, evaluators_of, lease_of
from worksample.grading.grade_round import Item, by_item, items, key, starts_of
from worksample.models import close_models
from worksample.records import Evaluation, EvaluationOutcome, EvaluatorKind, Instance, Protocol, Round, Submission
from worksample.store import Store
from worksample.workplace.warm_pool import warm_pool

from .claim import holder
from .watch import RunTally, Watch


@dataclass(order=True, frozen=True)
class _Queued:
    """Programs come before judges: what they say is there at once, and costs nothing to speak of."""

    order: tuple[int, int]
    work: RoundWork = field(compare=False)
    task: GradingTask = field(compare=False)


class GradeQueue:
    """Rounds, worked off. Several processes may: each evaluation is leased, and one waits for another's.

    Rounds whose evaluators cannot be asked here (people's, and judges' where none is configured) want nothing here.
    """

    def __init__(self, store: Store, rounds: Sequence[Round], watch: Watch, *, tries: int, here: Evaluators) -> None:
        self.store, self.watch = store, watch
        works = (RoundWork(store, round, evaluators_of(round, here), tries) for round in rounds)
        self.works = [work for work in works if work.by]
        self.tally = RunTally()
        self.evaluated: Callable[[], None] = lambda: None
        """Called after each evaluation."""
        self.waiting: asyncio.PriorityQueue[_Queued] = asyncio.PriorityQueue()
        self._number = count()
        self._instances: dict[str, Instance] = {}
        self._counted: set[tuple[str, str, str | None]] = set()

    def put(self, submission: Submission) -> None:
        """Line up all that is wanted of a submission that nobody has evaluated yet. Pairs are drawn at the end."""
        for work in self.works:
            if submission.instance in work.round.gradings and work.round.protocol is not Protocol.PAIRWISE:
                for task in work.tasks_of(submission, made=()):
                    self._put(work, task)

    def _put(self, work: RoundWork, task: GradingTask) -> None:
        late = int(work.round.by is not EvaluatorKind.PROGRAM)
        self.waiting.put_nowait(_Queued((late, next(self._number)), work, task))

    async def refill(self) -> int:
        """Line up all that is still wanted, and count the subjects that have what they wanted; how many want more."""
        wanting = 0
        for work in self.works:
            for item, made, tasks in await asyncio.to_thread(self._found, work):
                wanting += bool(tasks)
                for task in tasks:
                    self._put(work, task)
                if not tasks:
                    self._count(work.round, item, made)
        return wanting

    @staticmethod
    def _found(work: RoundWork) -> list[tuple[Item, list[Evaluation], list[GradingTask]]]:
        made = by_item(work.store.find(Evaluation, round=work.round.id))
        known = [(item, made.get(key(*item), [])) for item in items(work.store, work.round)]
        return [(item, said, work.tasks_of(*item, said)) for item, said in known]

    async def work(self) -> None:
        """Have one evaluation made after the other, until cancelled. A failure of ours (a full disk) is raised."""
        me = asyncio.current_task()
        # What runs below may take a cancellation for its own; the task still knows that it was asked to end.
        while me is None or not me.cancelling():
            queued = await self.waiting.get()
            await self._evaluate(queued.work, queued.task)
            self.waiting.task_done()

    async def drain(self) -> None:
        """Return when nothing is wanted any more, of what other processes closed included."""
        await self.waiting.join()
        while await self.refill():
            await self.waiting.join()

    async def run(self, graders: int) -> None:
        """Work all rounds off with so many evaluations at once."""
        starts = await asyncio.to_thread(lambda: sum(starts_of(one) for one in self.works))
        try:
            async with warm_pool(starts, self.watch.note), asyncio.TaskGroup() as group:
                workers = [group.create_task(self.work()) for _ in range(graders)]
                await self.drain()
                for worker in workers:
                    worker.cancel()
        finally:
            await close_models()

    async def _evaluate(self, work: RoundWork, task: GradingTask) -> None:
        submission = task.submission
        instance = await asyncio.to_thread(self.instance, submission.instance)
        # A process that was killed while it graded left a lease that nobody needs to wait for.
        await asyncio.to_thread(holder, self.store, lease_of(work.round, submission, task.place, task.second))
        evaluation = await work.do(task, instance)
        item = (submission, task.second)
        made = await asyncio.to_thread(self._made, work.round, item)
        if not work.tasks_of(*item, made):
            self._count(work.round, item, made)
        if evaluation is not None:
            self.tally.paid(evaluation)
            self.watch.graded(evaluation, submission, instance)
        self.evaluated()

    def _made(self, round: Round, item: Item) -> list[Evaluation]:
        return by_item(self.store.find(Evaluation, round=round.id, subject=item[0].id)).get(key(*item), [])

    def instance(self, id: str) -> Instance:
        """The instance that a submission was made for."""
        if id not in self._instances:
            self._instances[id] = self.store.get(Instance, id)
        return self._instances[id]

    def _count(self, round: Round, item: Item, made: Sequence[Evaluation]) -> None:
        counted = (round.id, *key(*item))
        if counted not in self._counted:
            self._counted.add(counted)
            self.tally.judged(full=sum(e.outcome is EvaluationOutcome.GIVEN for e in made) >= round.overlap)
