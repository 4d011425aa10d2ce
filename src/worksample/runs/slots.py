"""Open slots as the samples of one Inspect eval, with a task for each agent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from worksample.agents.agent_builder import check_agent, model_of
from worksample.agents.contained_tasks import guard_tasks
from worksample.errors import ImageError, StoreError
from worksample.models import require_price, resolve
from worksample.models.usage import AGENT
from worksample.records import Agent, Experiment, Instance, Slot
from worksample.sandboxes.images import prepare_images
from worksample.store import Store

from .close import close
from .config import RunConfig
from .engine_folder import need_engine_folder
from .follow_up_slots import More
from .gc_freeze import settled
from .limits import limits_of
from .outcome import cancelled
from .slot_leasing import SlotQueue
from .tries import AgentRun, OnClosed
from .work import trial_solver

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model
    from inspect_ai.solver import TaskState


async def run_slots(
    store: Store, experiment: Experiment, slots: Sequence[Slot], config: RunConfig, on_closed: OnClosed,
    more: More | None = None,
) -> None:  # fmt: skip
    """Run trials for these slots, in this order, and return when each has one that is not tried again.

    `config.parallel` of them run at once, of whichever agents they are. Every trial is in the store, with its
    submission, before `on_closed(trial, submission)` is called; the submission is None where the sandbox never started.
    Slots that another living run works on are left to it. `more` may give further ones while it goes on.
    Cancelling this closes the trials in work as cancelled, with what they had made, and raises CancelledError.

    PlanError, before anything runs, for a budget without a price, a model that cannot be had or a script that is
    missing; ImageError where no image can be had. Where some cannot, their slots get a trial that says so
    (`sandbox.image`), and the others run. StoreFull or StoreError where a trial could not be kept: then the run stops,
    and its slot stays open.
    """
    if slots:
        guard_tasks()
        # A task of its own, which no agent's code can cancel.
        await asyncio.create_task(_run_slots(store, experiment, slots, config, on_closed, more))


async def _run_slots(
    store: Store, experiment: Experiment, slots: Sequence[Slot], config: RunConfig, on_closed: OnClosed,
    more: More | None,
) -> None:  # fmt: skip
    agents = await asyncio.to_thread(_checked, store, experiment, slots, config)
    broken = await asyncio.to_thread(_broken_images, store, slots)
    jobs = {
        agent.id: AgentRun(store, experiment, agent, model_of(agent, config.service(agent.model)), config, on_closed)
        for agent in agents
    }
    trials = SlotQueue(jobs, slots, store, config, broken, more)
    trials.runner = asyncio.current_task()
    keeper = asyncio.create_task(trials.keep())
    if more is not None:
        more.trials = trials
    try:
        with settled():
            await _run(trials)
            while await trials.wait_for_others():
                await _run(trials)
    finally:
        keeper.cancel()
        for slot in tuple(trials.held):
            await asyncio.to_thread(trials.release, slot)


async def _run(trials: SlotQueue) -> None:
    """One eval over the slots that can be had now: a task for each agent, so that each has a log of its own."""
    agents = await trials.begin()
    if not agents:
        return
    trials.eval = asyncio.create_task(_eval(trials, agents))
    logs: list[EvalLog] = []
    try:
        logs = await trials.eval
    except asyncio.CancelledError:
        if trials.fatal is None:
            raise
    if trials.fatal is not None:
        raise trials.fatal
    task = asyncio.current_task()
    # Inspect absorbs a cancellation and returns what logs it has, possibly none.
    if not logs or any(log.status == "cancelled" for log in logs) or (task is not None and task.cancelling()):
        raise asyncio.CancelledError
    _raise_broken(logs)


def _broken_images(store: Store, slots: Sequence[Slot]) -> dict[str, ImageError]:
    """Have every image before anything runs; the instances whose images cannot be had. ImageError where none can."""
    broken: dict[str, ImageError] = {}
    instances = tuple(dict.fromkeys(slot.instance for slot in slots))
    for id in instances:
        try:
            prepare_images(store.get(Instance, id).work.environment, store.folder)
        except ImageError as error:
            broken[id] = error
    if broken and len(broken) == len(instances):
        raise next(iter(broken.values()))
    return broken


def _checked(store: Store, experiment: Experiment, slots: Sequence[Slot], config: RunConfig) -> list[Agent]:
    """The agents of these slots. PlanError where one of them cannot work there."""
    agents = [store.get(Agent, id) for id in dict.fromkeys(slot.agent for slot in slots)]
    for agent in agents:
        _check(store, experiment, agent, [slot for slot in slots if slot.agent == agent.id], config)
    return agents


def _check(store: Store, experiment: Experiment, agent: Agent, slots: Sequence[Slot], config: RunConfig) -> None:
    arms = {arm.name: arm for arm in experiment.arms}
    instances = {id: store.get(Instance, id) for id in {slot.instance for slot in slots}}
    for instance in instances.values():
        check_agent(agent, instance)
    for slot in slots:
        if limits_of(instances[slot.instance], arms[slot.arm], agent).cost is not None:
            require_price(agent.model, config.prices)
            break


async def _eval(trials: SlotQueue, agents: Sequence[str]) -> list[EvalLog]:
    from inspect_ai import eval_async
    from inspect_ai.util._display import init_display_type

    config = trials.config
    need_engine_folder()
    init_display_type("none")  # progress is the caller's
    return list(
        await eval_async(
            [_task(trials, trials.jobs[id]) for id in agents],
            model=None,
            log_dir=str(trials.store.logs / _folder(trials.jobs[agents[0]].experiment.id)),
            log_format="eval",
            log_realtime=config.live_log,
            log_header_only=True,
            log_level="error",
            fail_on_error=False,
            retry_on_error=0,
            max_tasks=len(agents),
            max_samples=config.parallel,
            score=False,
            ctl_server=False,
            acp_server=False,
        )
    )


def _task(trials: SlotQueue, job: AgentRun) -> Task:
    from inspect_ai import SampleSource, Task
    from inspect_ai.scorer import mean, stderr

    async def cleanup(state: TaskState) -> None:
        try_ = trials.tries.get(str(state.sample_id))
        if try_ is not None and try_.began is not None:
            with anyio.CancelScope(shield=True):
                await close(try_, state, cancelled("cut short while it was closed"))

    roles: dict[str, str | Model] = {
        name: resolve(model, job.config.service(model)) for name, model in job.config.roles.items()
    }
    if job.model is not None:
        roles[AGENT] = job.model
    feed = trials.feeds[job.agent.id]
    return Task(
        dataset=SampleSource.from_samples([], next_samples=feed.next, sample_complete=trials.complete),
        solver=trial_solver(trials.try_of),
        cleanup=cleanup,
        model=job.model,
        model_roles=roles,
        metrics=[mean(), stderr()],  # for the grades that `write_scores` brings
        name=_folder(job.agent.name),
        metadata={"experiment": job.experiment.id, "agent": job.agent.id},
    )


def _raise_broken(logs: Sequence[EvalLog]) -> None:
    """A run that Inspect itself could not go through with."""
    for log in logs:
        if log.status == "error":
            said = log.error.message if log.error is not None else "no reason given"
            raise StoreError(f"the run stopped: {said}", where=log.location, next="worksample resume")


def _folder(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name)
