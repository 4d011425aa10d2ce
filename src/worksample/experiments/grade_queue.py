"""Submissions that wait for a grade in a round."""

from __future__ import annotations

import asyncio

from worksample.grading import grade, subjects, wants
from worksample.records import Evaluation, Given, Instance, Round, Submission
from worksample.store import Store

from .claim import holder
from .watch import Tally, Watch


class GradeQueue:
    """A round, worked off. Two processes may: `grade` lets one wait for the other's evaluation."""

    def __init__(self, store: Store, round: Round, watch: Watch, *, tries: int, sandbox: str) -> None:
        self.store, self.round, self.watch, self.tries, self.sandbox = store, round, watch, tries, sandbox
        self.tally = Tally()
        self.waiting: asyncio.Queue[Submission] = asyncio.Queue()
        self._instances: dict[str, Instance] = {}
        self._counted: set[str] = set()

    def put(self, submission: Submission) -> None:
        """Line one up."""
        self.waiting.put_nowait(submission)

    async def refill(self) -> int:
        """Line up every subject that still wants a grade, and count those that have theirs; how many want one."""
        made, found = await asyncio.to_thread(self._found)
        wanting = 0
        for submission in found:
            evaluations = made.get(submission.id, [])
            if wants(evaluations, self.tries):
                wanting += 1
                self.put(submission)
            else:
                self._count(max(evaluations, key=lambda e: (e.outcome is Given.GIVEN, e.at, e.id)))
        return wanting

    def _found(self) -> tuple[dict[str, list[Evaluation]], list[Submission]]:
        """Evaluations by subject, and the subjects."""
        made: dict[str, list[Evaluation]] = {}
        for evaluation in self.store.find(Evaluation, round=self.round.id):
            made.setdefault(evaluation.subject, []).append(evaluation)
        return made, list(subjects(self.store, self.round))

    async def work(self) -> None:
        """Grade one after the other, until cancelled. A failure of ours (a full disk) is raised."""
        me = asyncio.current_task()
        # What runs below may take a cancellation for its own; the task still knows that it was asked to end.
        while me is None or not me.cancelling():
            submission = await self.waiting.get()
            await self._grade(submission)
            self.waiting.task_done()

    async def drain(self) -> None:
        """Return when no subject wants a grade any more, those that other processes closed included."""
        await self.waiting.join()
        while await self.refill():
            await self.waiting.join()

    async def run(self, graders: int) -> None:
        """Work the whole round off with so many gradings at once."""
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(self.work()) for _ in range(graders)]
            await self.drain()
            for worker in workers:
                worker.cancel()

    async def _grade(self, submission: Submission) -> None:
        instance = await asyncio.to_thread(self.instance, submission.instance)
        # A process that was killed while it graded left a lease that nobody needs to wait for.
        await asyncio.to_thread(holder, self.store, f"grade/{self.round.id}/{submission.id}")
        evaluation = await grade(self.store, self.round, submission, instance, sandbox=self.sandbox)
        if not wants(await asyncio.to_thread(self._made, submission.id), self.tries):
            self._count(evaluation)
        self.watch.graded(evaluation, submission, instance)

    def _made(self, submission: str) -> list[Evaluation]:
        return self.store.find(Evaluation, round=self.round.id, subject=submission)

    def instance(self, id: str) -> Instance:
        """The instance that a submission was made for."""
        if id not in self._instances:
            self._instances[id] = self.store.get(Instance, id)
        return self._instances[id]

    def _count(self, evaluation: Evaluation) -> None:
        if evaluation.subject not in self._counted:
            self._counted.add(evaluation.subject)
            self.tally.evaluation(evaluation)
