"""Run what is open and grade what is ungraded, until nothing is left. Resuming is running again."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from worksample.agents.contained_tasks import guard_tasks
from worksample.errors import Cause, WorksampleError
from worksample.grading import asks_services
from worksample.models import JudgeConfig, Price, close_models
from worksample.models.service_config import Services
from worksample.records import Agent, EvaluatorKind, Experiment, Instance, Protocol, Slot, Submission, Trial
from worksample.results.assignments.open_work import has_places
from worksample.results.assignments.turns import waits_for_person
from worksample.runs import More, RunConfig, run_slots, write_scores
from worksample.sandboxes import require_kind
from worksample.sandboxes.toolbox import ensure_libraries
from worksample.steady_loop import Stall, run_steadily
from worksample.store import Store
from worksample.workplace.warm_pool import warm_pool

from .allowance import allowance
from .chaining import advance, may_run
from .claim import holder
from .grade_queue import GradeQueue
from .judging import evaluators_here
from .planning import in_order, strata_of
from .rounds import Fill, own_rounds, pair_round
from .status import Status, status_of
from .stop import Stop
from .topping_up import Filling
from .watch import Silent, Watch

INTERRUPTED = 130
"""Exit code of a process that was interrupted twice."""
NOTED_STALL = 5.0
"""Seconds for which the platform stood still that are worth a line."""
POLL = 0.5
"""Seconds between two looks at what another process works on."""


@dataclass(frozen=True)
class RunOptions:
    """What may differ between two runs of one experiment: nothing of it decides what the work is."""

    parallel: int = 8
    graders: int = 2
    tries: int = 3
    prices: Mapping[str, Price] = field(default_factory=dict)
    services: Services = field(default_factory=dict)
    judges: Mapping[str, JudgeConfig] = field(default_factory=dict)
    """Judge models by name; a round that asks judges waits where none is configured for its protocol."""
    stop: Stop | None = None
    """How another thread ends this run; a run in the main thread listens to Ctrl-C as well."""
    people: Fill | None = None
    """Opens and tops up people's rounds; None: people are waited for, and nothing is given to them by this run."""


@dataclass(frozen=True)
class RunResult:
    """Where the experiment stands afterwards."""

    status: Status
    interrupted: bool


def run_experiment(store: Store, experiment: Experiment, options: RunOptions, watch: Watch | None = None) -> RunResult:
    """Run the open slots of a planned experiment and grade every ungraded submission of it.

    When this returns everything is in the store, and the scores in Inspect's logs too. Ctrl-C stops it cleanly: trials
    in flight are closed as cancelled, and their slots are open again next time. StoreFull and other failures of ours
    are raised after the same clean stop.
    Several processes may run one experiment: slots and submissions are leased, and each waits for the others' end.
    """
    require_kind(experiment.lock.sandbox)
    store.sync()
    listener = watch or Silent()
    work = _Work(store, experiment, options, listener)
    listener.begin(work.tally)
    try:
        if work.tally.planned > work.tally.finished and want_libraries(
            experiment.lock.sandbox, work.instances.values()
        ):
            ensure_libraries(listener.note)
        interrupted = run_steadily(work.all(), lambda stall: _note(listener, stall))
    except BaseExceptionGroup as group:
        # Not `except*`, in which Python 3.11.2 puts what is raised into a group of its own.
        if group.split(WorksampleError)[1] is not None:
            raise
        raise _first(group) from None
    finally:
        listener.end()
    if not interrupted:
        for round in work.rounds:
            write_scores(store, experiment.id, round.id)
    return RunResult(status_of(store, experiment), interrupted)


def _note(watch: Watch, stall: Stall) -> None:
    """Tell of a long stall while a trial worked: somebody who watches wonders why nothing moved. Before the first trial
    the engine is loaded, which nobody's clock counts."""
    if stall.charged >= NOTED_STALL:
        watch.note(f"the platform itself stood still for {stall.charged:.0f} s; no trial is charged for it")


def want_libraries(sandbox: str, instances: Iterable[Instance]) -> bool:
    """Whether a box of these instances offers agents our libraries: one with an image has the image's own."""
    return sandbox == "bubblewrap" and any(one.work.environment.image is None for one in instances)


def with_scripts(prices: Mapping[str, Price], agents: Iterable[Agent]) -> dict[str, Price]:
    """`prices`, and 0 for what scripted agents replay: their answers cost nothing."""
    free = {a.model: Price(input=0, output=0) for a in agents if a.harness == "scripted" and a.model}
    return {**free, **prices}


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Work:
    """One run."""

    def __init__(self, store: Store, experiment: Experiment, options: RunOptions, watch: Watch) -> None:
        self.store, self.experiment, self.options, self.watch = store, experiment, options, watch
        self.instances = {id: store.get(Instance, id) for id in experiment.lock.instances}
        slots = store.find(Slot, experiment=experiment.id)
        self.here = evaluators_here(store, experiment, options)
        rounds = own_rounds(store, experiment, self.here)
        self.rounds = [round for round in rounds if round.by is EvaluatorKind.PROGRAM]
        self.grading = GradeQueue(store, rounds, watch, tries=options.tries, here=self.here)
        self.filling = Filling(store, experiment, options.people)
        self.tally = self.grading.tally
        self.tally.planned = sum(not s.not_attemptable for s in slots)
        for trial in store.find(Trial, experiment=experiment.id, live=True):
            self.tally.trial(trial)
        self.tried: set[str] = set()
        self.stopping = False

    async def all(self) -> bool:
        """Run and grade; True where the operator interrupted it."""
        guard_tasks()
        main = asyncio.create_task(self._run_and_grade())

        def stop(again: str = "") -> None:
            self.stopping = True
            self.watch.note(f"stopping: trials in flight are closed, what is done is kept{again}")
            main.cancel()

        def interrupted() -> None:
            if self.stopping:
                # Asked twice: at once. A kill at any moment loses nothing that was committed.
                self.watch.end()
                os._exit(INTERRUPTED)
            stop(" (again: at once)")

        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for signum in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(signum, interrupted)
        if self.options.stop is not None:

            def asked() -> None:
                loop.call_soon_threadsafe(stop)

            self.options.stop.listen(asked)
        try:
            await main
        except asyncio.CancelledError:
            if not self.stopping:
                raise
        finally:
            await close_models()
        return self.stopping

    async def _run_and_grade(self) -> None:
        async with warm_pool(await asyncio.to_thread(self._starts), self.watch.note):
            await self._all()

    def _starts(self) -> int:
        """How many workplaces are started for what is open by now: by trials, and by graders that ask services."""
        each = {
            id: 1 + sum(asks_services(one, round) for round in self.rounds)
            for id, one in self.instances.items()
            if one.work.environment.workplace is not None
        }
        return sum(each.get(slot.instance, 0) for slot in self._untried()) if each else 0

    async def _all(self) -> None:
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(self.grading.work()) for _ in range(self.options.graders)]
            workers.append(group.create_task(self.filling.work()))
            await self.grading.refill()
            while True:
                await self._run()
                await self.grading.drain()
                if not await self._go_on():
                    break
            for worker in workers:
                worker.cancel()
        await self._pairs()
        # Once more, whole: a run that was killed may have left a round half filled, and pairs are drawn at the end.
        await asyncio.to_thread(self.filling.fill)

    async def _pairs(self) -> None:
        """Have judges answer on pairs, which are drawn when nothing is open any more."""
        if Protocol.PAIRWISE not in self.experiment.lock.protocols:
            return
        round = await asyncio.to_thread(pair_round, self.store, self.experiment, self.here)
        if round is not None:
            queue = GradeQueue(self.store, [round], self.watch, tries=self.options.tries, here=self.here)
            await queue.run(self.options.graders)

    async def _go_on(self) -> bool:
        """Commit the attempts that follow from the verdicts that there are now; whether there were any."""
        moved = await asyncio.to_thread(advance, self.store, self.experiment)
        self.tally.planned += len(moved.committed)
        self.tried -= {slot.id for slot in moved.withdrawn}
        self.tally.finished += len(moved.carried)
        if moved.carried:
            self.filling.closed()
        if moved.committed:
            self.watch.note(f"{len(moved.committed)} re-attempts are planned, as the chains' rule has it")
        return bool(moved)

    async def _run(self) -> None:
        """Run the open slots; wait for those that another process works on, and take over what it leaves."""
        agents = await asyncio.to_thread(self._agents)
        config = RunConfig(
            parallel=self.options.parallel,
            sandbox=self.experiment.lock.sandbox,
            tries=self.options.tries,
            prices=with_scripts(self.options.prices, agents),
            services=self.options.services,
            roles=dict(self.experiment.lock.roles),
            hosts=allowance(self.experiment.settings.get("allow_hosts", ()), self.experiment.lock.hosts),
        )
        told = False
        while slots := await asyncio.to_thread(self._untried):
            free = await asyncio.to_thread(self._free, slots)
            if free:
                await self._run_free(free, config)
                # One whose earlier work was withdrawn just now got no trial; the next look at its chain says more.
                self.tried |= {slot.id for slot in free if slot.after is not None}
                if self.stopping:
                    # The engine may take the cancellation for its own and return as if nothing had been.
                    raise asyncio.CancelledError
                continue
            if not told:
                told = True
                self.watch.note(f"another process works on {len(slots)} slots; waiting for it")
            await asyncio.sleep(POLL)

    async def _run_free(self, free: list[Slot], config: RunConfig) -> None:
        """Run these, and what chains go on with in the meantime: none waits for the last straggler of others."""
        if self.experiment.lock.chain is None:
            await run_slots(self.store, self.experiment, free, config, self._closed)
            return
        more = More()
        self.grading.evaluated = more.changed.set
        following = asyncio.create_task(self._follow(more))
        try:
            await run_slots(self.store, self.experiment, free, config, self._closed, more)
        finally:
            more.end()
            await following

    async def _follow(self, more: More) -> None:
        """Whenever something was graded or closed while a place stands free, see which chains go on."""
        while not more.over:
            await more.changed.wait()
            more.changed.clear()
            if more.wanted and await self._go_on():
                await more.give(await asyncio.to_thread(self._untried))

    def _agents(self) -> list[Agent]:
        return [self.store.get(Agent, id) for id in self.experiment.agents]

    def _untried(self) -> tuple[Slot, ...]:
        ready = may_run(self.store, self.experiment)
        mine = [s for s in self.store.open_slots(self.experiment.id) if s.id not in self.tried]
        mine = [s for s in mine if ready is None or s.id in ready]
        if has_places(self.experiment):
            mine = [s for s in mine if not waits_for_person(self.store, self.experiment, s)]
        return in_order(mine, self.experiment.seed, strata_of(self.experiment, tuple(self.instances.values())))

    def _free(self, slots: tuple[Slot, ...]) -> list[Slot]:
        return [s for s in slots if holder(self.store, f"slot:{s.id}") is None]

    def _closed(self, trial: Trial, submission: Submission | None) -> None:
        if trial.outcome.cause is not Cause.SUPERSEDED:  # else another process has the slot, and is waited for
            self.tried.add(trial.slot)
        self.tally.trial(trial)
        self.watch.closed(trial, self.instances[trial.instance])
        if submission is not None and trial.outcome.finished:
            self.grading.put(submission)
            self.filling.closed()
