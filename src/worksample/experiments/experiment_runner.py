"""Runner of an experiment. It runs open slots and grades submissions until none are left. A resumed run works in the
same way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from worksample.asyncio_task_containment import guard_tasks
from worksample.errors import Cause, WorksampleError
from worksample.grading import asks_services
from worksample.models import JudgeConfig, Price, close_models
from worksample.models.service_config import Services
from worksample.records import Agent, EvaluatorKind, Experiment, Instance, Protocol, Slot, Submission, Trial
from worksample.results.assignments.human_slots import has_human_work
from worksample.results.assignments.shared_slot_turns import waits_for_person
from worksample.runs import FollowUpSlots, RunConfig, run_slots, write_scores
from worksample.sandboxes import require_kind
from worksample.sandboxes.python_toolbox import ensure_libraries
from worksample.stall_tolerant_loop import Stall, run_steadily
from worksample.store import Store
from worksample.store.faults import RUN_SECONDS
from worksample.workplace.warm_pool import warm_pool

from .available_evaluators import evaluators_here
from .exclusive_lease import living_holder
from .grade_queue import GradeQueue
from .planning.experiment_plan import allowed_hosts
from .planning.plan_forecast import prices_with_scripts
from .planning.slot_order import order_slots, strata_of
from .reattempt_slots import advance, may_run
from .rounds import FillRounds, PeopleRounds, own_rounds, pair_round
from .run_interruption import Interruption, Stop
from .run_listener import RunListener, SilentListener
from .status import Status, status_of

NOTED_STALL = 5.0
"""Shortest stall of the platform that is reported to the operator, in seconds."""
POLL = 0.5
"""Seconds between two checks of whether other processes have released their slots."""


@dataclass(frozen=True)
class RunOptions:
    """Options of one run. Two runs of an experiment may have different options, because they do not change the agents'
    work.
    """

    parallel: int = 8
    graders: int = 2
    tries: int = 3
    prices: Mapping[str, Price] = field(default_factory=dict)
    services: Services = field(default_factory=dict)
    judges: Mapping[str, JudgeConfig] = field(default_factory=dict)
    """Judge models by name. If no judge is configured for a protocol, rounds of that protocol that need a judge
    wait.
    """
    stop: Stop | None = None
    """Object with which another thread can end this run. A run in the main thread also ends on Ctrl-C."""
    people: FillRounds | None = None
    """Callback that opens and fills people's rounds. If None, this run gives people no work, and their rounds wait."""


@dataclass(frozen=True)
class RunResult:
    """Result of a run: the status of the experiment after the run."""

    status: Status
    interrupted: bool


def run_experiment(
    store: Store, experiment: Experiment, options: RunOptions, watch: RunListener | None = None
) -> RunResult:
    """Run the open slots of a planned experiment and grade all its ungraded submissions.

    When the function returns, all results are in the store, and the scores are in Inspect's logs. Ctrl-C ends the run
    cleanly: running trials are closed as cancelled, and their slots stay open for the next run. StoreFull and other
    platform failures end the run in the same way and are then raised. If a service of the store (such as its database)
    does not answer, the run waits up to 15 minutes for it. Several processes may run one experiment at the same time:
    each leases its slots and submissions, and waits until the other processes have finished theirs.
    """
    with store.patience.at_least(RUN_SECONDS):
        return _run_experiment(store, experiment, options, watch or SilentListener())


def _run_experiment(store: Store, experiment: Experiment, options: RunOptions, listener: RunListener) -> RunResult:
    require_kind(experiment.lock.sandbox)
    store.sync()
    runner = ExperimentRunner(store, experiment, options, listener)
    listener.begin(runner.tally)
    try:
        if runner.tally.planned > runner.tally.finished and wants_libraries(
            experiment.lock.sandbox, runner.instances.values()
        ):
            ensure_libraries(listener.note)
        interrupted = run_steadily(runner.run(), lambda stall: _note(listener, stall))
    except BaseExceptionGroup as group:
        # Not `except*`: Python 3.11.2 wraps what is raised inside it in another group.
        if group.split(WorksampleError)[1] is not None:
            raise
        raise _first(group) from None
    finally:
        listener.end()
    if not interrupted:
        for round in runner.rounds:
            write_scores(store, experiment.id, round.id)
    return RunResult(status_of(store, experiment), interrupted)


def _note(watch: RunListener, stall: Stall) -> None:
    """Report a long stall of the platform during a trial, because an operator would ask why nothing happens.

    A stall before the first trial is not counted and not reported, because Inspect is loaded then.
    """
    if stall.charged >= NOTED_STALL:
        watch.note(f"the platform itself stalled for {stall.charged:.0f} s; no trial is charged for it")


def wants_libraries(sandbox: str, instances: Iterable[Instance]) -> bool:
    """Return whether a box of one of these instances needs the platform's Python libraries. A box with an image uses
    the libraries of its image instead.
    """
    return sandbox == "bubblewrap" and any(one.work.environment.image is None for one in instances)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class ExperimentRunner:
    """Run of an experiment in one process. It claims open slots, executes them, grades, advances the chains, and
    repeats.
    """

    def __init__(self, store: Store, experiment: Experiment, options: RunOptions, watch: RunListener) -> None:
        self.store, self.experiment, self.options, self.watch = store, experiment, options, watch
        self.instances = {id: store.get(Instance, id) for id in experiment.lock.instances}
        slots = store.find(Slot, experiment=experiment.id)
        self._evaluators = evaluators_here(store, experiment, options)
        rounds = own_rounds(store, experiment, self._evaluators)
        self.rounds = [round for round in rounds if round.by is EvaluatorKind.PROGRAM]
        self._grading = GradeQueue(store, rounds, watch, tries=options.tries, here=self._evaluators)
        self._people = PeopleRounds(store, experiment, options.people)
        self.tally = self._grading.tally
        self.tally.planned = sum(not s.not_attemptable for s in slots)
        for trial in store.find(Trial, experiment=experiment.id, live=True):
            self.tally.add_trial(trial)
        self._tried: set[str] = set()
        """Ids of the slots that this run does not execute again, because it has closed a trial for them."""
        self._waiting = False
        """True if the operator was informed that other processes work on all open slots."""
        self._interruption = Interruption(options.stop, watch)

    async def run(self) -> bool:
        """Run slots and grade submissions until none are left. Return True if the operator interrupted the run."""
        guard_tasks()
        try:
            return await self._interruption.run(self._run_with_warm_pool())
        finally:
            await close_models()

    async def _run_with_warm_pool(self) -> None:
        async with warm_pool(await asyncio.to_thread(self._workplaces_needed), self.watch.note):
            await self._run_all()

    async def _run_all(self) -> None:
        async with asyncio.TaskGroup() as group:
            workers = [group.create_task(self._grading.work()) for _ in range(self.options.graders)]
            workers.append(group.create_task(self._people.work()))
            await self._grading.refill()
            advanced = True
            while advanced:
                while slots := await self._claim():
                    await self._execute(slots)
                await self._grading.drain()
                advanced = await self._advance()
            for worker in workers:
                worker.cancel()
        await self._grade_pairs()
        # Fill once more: a run that was killed may have left a round half filled, and pairs are drawn at the end.
        await asyncio.to_thread(self._people.fill)

    async def _claim(self) -> list[Slot]:
        """Return the open slots on which no other process works. Return an empty list if all slots are done.

        If other processes work on all open slots, wait, and return the slots that these processes release. This
        function takes no lease: the lease of a slot is taken when its trial begins.
        """
        while slots := await asyncio.to_thread(self._runnable_slots):
            if free := await asyncio.to_thread(self._free_slots, slots):
                return free
            if not self._waiting:
                self._waiting = True
                self.watch.note(f"another process works on {len(slots)} slots; waiting for it")
            await asyncio.sleep(POLL)
        self._waiting = False
        return []

    async def _execute(self, slots: list[Slot]) -> None:
        """Run trials for these slots, and for the later attempts that the chains add while the trials run."""
        config = await asyncio.to_thread(self._run_config)
        if self.experiment.lock.chain is None:
            await run_slots(self.store, self.experiment, slots, config, self._on_closed)
        else:
            await self._execute_chains(slots, config)
        # A slot whose earlier work was withdrawn got no trial; the next look at its chain decides.
        self._tried |= {slot.id for slot in slots if slot.after is not None}
        if self._interruption.requested:
            # Inspect may swallow the cancellation and return as if nothing had happened.
            raise asyncio.CancelledError

    async def _execute_chains(self, slots: list[Slot], config: RunConfig) -> None:
        """Run slots, and run the next attempt of each chain immediately, so that no chain waits for the trials of other
        chains.
        """
        follow_ups = FollowUpSlots()
        self._grading.on_evaluated = follow_ups.changed.set
        following = asyncio.create_task(self._follow(follow_ups))
        try:
            await run_slots(self.store, self.experiment, slots, config, self._on_closed, follow_ups)
        finally:
            follow_ups.end()
            await following

    async def _follow(self, follow_ups: FollowUpSlots) -> None:
        """Advance the chains whenever a submission is graded, and whenever a trial closes and leaves room for another
        trial.
        """
        while not follow_ups.over:
            await follow_ups.changed.wait()
            follow_ups.changed.clear()
            if follow_ups.has_room and await self._advance():
                await follow_ups.add(await asyncio.to_thread(self._runnable_slots))

    async def _advance(self) -> bool:
        """Commit the attempts that the chains' rule requires after the present verdicts. Return whether any were
        committed.
        """
        moved = await asyncio.to_thread(advance, self.store, self.experiment)
        self.tally.planned += len(moved.committed)
        self._tried -= {slot.id for slot in moved.withdrawn}
        self.tally.finished += len(moved.carried)
        if moved.carried:
            self._people.wake()
        if moved.committed:
            self.watch.note(f"{len(moved.committed)} re-attempts are planned by the rule of the chains")
        return bool(moved)

    async def _grade_pairs(self) -> None:
        """Let judges compare pairs of submissions. The pairs are drawn when no slot is open any more."""
        if Protocol.PAIRWISE not in self.experiment.lock.protocols:
            return
        round = await asyncio.to_thread(pair_round, self.store, self.experiment, self._evaluators)
        if round is not None:
            queue = GradeQueue(self.store, [round], self.watch, tries=self.options.tries, here=self._evaluators)
            await queue.run(self.options.graders)

    def _on_closed(self, trial: Trial, submission: Submission | None) -> None:
        """Count a closed trial and queue its submission for grading."""
        if (
            trial.outcome.cause is not Cause.SUPERSEDED
        ):  # otherwise another process works on the slot, and this run waits for it
            self._tried.add(trial.slot)
        self.tally.add_trial(trial)
        self.watch.on_close(trial, self.instances[trial.instance])
        if submission is not None and trial.outcome.finished:
            self._grading.add(submission)
            self._people.wake()

    def _run_config(self) -> RunConfig:
        experiment, options = self.experiment, self.options
        return RunConfig(
            parallel=options.parallel,
            sandbox=experiment.lock.sandbox,
            tries=options.tries,
            prices=prices_with_scripts(options.prices, [self.store.get(Agent, id) for id in experiment.agents]),
            services=options.services,
            roles=dict(experiment.lock.roles),
            hosts=allowed_hosts(experiment.settings.get("allow_hosts", ()), experiment.lock.hosts),
        )

    def _workplaces_needed(self) -> int:
        """Count the workplaces that the open slots will start: one for each trial, and one for each grader that uses
        services.
        """
        each = {
            id: 1 + sum(asks_services(one, round) for round in self.rounds)
            for id, one in self.instances.items()
            if one.work.environment.workplace is not None
        }
        return sum(each.get(slot.instance, 0) for slot in self._runnable_slots()) if each else 0

    def _runnable_slots(self) -> tuple[Slot, ...]:
        """Return the open slots that may run now and that wait for no person, in the order of the plan."""
        ready = may_run(self.store, self.experiment)
        mine = [s for s in self.store.open_slots(self.experiment.id) if s.id not in self._tried]
        mine = [s for s in mine if ready is None or s.id in ready]
        if has_human_work(self.experiment):
            mine = [s for s in mine if not waits_for_person(self.store, self.experiment, s)]
        return order_slots(mine, self.experiment.seed, strata_of(self.experiment, tuple(self.instances.values())))

    def _free_slots(self, slots: tuple[Slot, ...]) -> list[Slot]:
        return [s for s in slots if living_holder(self.store, f"slot:{s.id}") is None]
