"""Queue of evaluations that this process can make: by programs, and by the configured judges."""

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

from .exclusive_lease import living_holder
from .run_listener import RunListener, RunTally


@dataclass(order=True, frozen=True)
class _Queued:
    """Queued evaluation. Evaluations by programs come before those by judges, because programs are fast and nearly
    free.
    """

    order: tuple[int, int]
    work: RoundWork = field(compare=False)
    task: GradingTask = field(compare=False)


class GradeQueue:
    """Queue of the missing evaluations of all rounds. Several processes may grade at the same time: a process leases
    each evaluation, and the other processes wait for its result.

    Rounds whose evaluators this process cannot call (people, and judges that are not configured) are ignored.
    """

    def __init__(
        self, store: Store, rounds: Sequence[Round], watch: RunListener, *, tries: int, here: Evaluators
    ) -> None:
        self.store, self.watch = store, watch
        works = (RoundWork(store, round, evaluators_of(round, here), tries) for round in rounds)
        self.works = [work for work in works if work.by]
        self.tally = RunTally()
        self.on_evaluated: Callable[[], None] = lambda: None
        """Callback that is called after each evaluation."""
        self.waiting: asyncio.PriorityQueue[_Queued] = asyncio.PriorityQueue()
        self._number = count()
        self._instances: dict[str, Instance] = {}
        self._counted: set[tuple[str, str, str | None]] = set()

    def add(self, submission: Submission) -> None:
        """Queue all evaluations of a new submission. Evaluations of pairs are not queued here, because pairs are drawn
        at the end of a run.
        """
        for work in self.works:
            if submission.instance in work.round.gradings and work.round.protocol is not Protocol.PAIRWISE:
                for task in work.tasks_of(submission, made=()):
                    self._enqueue(work, task)

    def _enqueue(self, work: RoundWork, task: GradingTask) -> None:
        late = int(work.round.by is not EvaluatorKind.PROGRAM)
        self.waiting.put_nowait(_Queued((late, next(self._number)), work, task))

    async def refill(self) -> int:
        """Queue all missing evaluations and count the complete submissions. Return the number of incomplete
        submissions.
        """
        wanting = 0
        for work in self.works:
            for item, made, tasks in await asyncio.to_thread(self._missing_tasks, work):
                wanting += bool(tasks)
                for task in tasks:
                    self._enqueue(work, task)
                if not tasks:
                    self._count(work.round, item, made)
        return wanting

    @staticmethod
    def _missing_tasks(work: RoundWork) -> list[tuple[Item, list[Evaluation], list[GradingTask]]]:
        made = by_item(work.store.find(Evaluation, round=work.round.id))
        known = [(item, made.get(key(*item), [])) for item in items(work.store, work.round)]
        return [(item, said, work.tasks_of(*item, said)) for item, said in known]

    async def work(self) -> None:
        """Make one evaluation after another, until the task is cancelled. Platform failures (such as a full disk) are
        raised.
        """
        me = asyncio.current_task()
        # Libraries below may swallow a cancellation; the task still knows that it was cancelled.
        while me is None or not me.cancelling():
            queued = await self.waiting.get()
            await self._evaluate(queued.work, queued.task)
            self.waiting.task_done()

    async def drain(self) -> None:
        """Wait until no evaluation is missing. Submissions that other processes closed count, too."""
        await self.waiting.join()
        while await self.refill():
            await self.waiting.join()

    async def run(self, graders: int) -> None:
        """Complete all rounds. `graders` is the maximum number of evaluations at the same time."""
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
        # End the lease of a process that was killed while it graded, so that nobody waits for it.
        await asyncio.to_thread(living_holder, self.store, lease_of(work.round, submission, task.place, task.second))
        evaluation = await work.do(task, instance)
        item = (submission, task.second)
        made = await asyncio.to_thread(self._evaluations, work.round, item)
        if not work.tasks_of(*item, made):
            self._count(work.round, item, made)
        if evaluation is not None:
            self.tally.add_judge_usage(evaluation)
            self.watch.on_grade(evaluation, submission, instance)
        self.on_evaluated()

    def _evaluations(self, round: Round, item: Item) -> list[Evaluation]:
        return by_item(self.store.find(Evaluation, round=round.id, subject=item[0].id)).get(key(*item), [])

    def instance(self, id: str) -> Instance:
        """Return an instance by its id."""
        if id not in self._instances:
            self._instances[id] = self.store.get(Instance, id)
        return self._instances[id]

    def _count(self, round: Round, item: Item, made: Sequence[Evaluation]) -> None:
        counted = (round.id, *key(*item))
        if counted not in self._counted:
            self._counted.add(counted)
            self.tally.add_graded(full=sum(e.outcome is EvaluationOutcome.GIVEN for e in made) >= round.overlap)
