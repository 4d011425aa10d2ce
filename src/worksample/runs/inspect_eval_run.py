"""The run of open slots as samples of one Inspect eval, with an Inspect task for each agent."""

from __future__ import annotations

import asyncio
import gc
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from worksample.agents.agent_builder import check_agent, model_of
from worksample.asyncio_task_containment import guard_tasks
from worksample.errors import ImageError, StoreError
from worksample.models import require_price, resolve
from worksample.models.usage import AGENT
from worksample.records import Agent, Experiment, Instance, Slot
from worksample.sandboxes.host_state import runtime_folder
from worksample.sandboxes.images import prepare_images
from worksample.store import Store

from .follow_up_slots import FollowUpSlots
from .run_config import RunConfig
from .slot_queue import SlotQueue
from .trial_close import close
from .trial_context import AgentRun, OnClosed
from .trial_limits import limits_of
from .trial_outcome import cancelled_outcome
from .trial_solver import trial_solver

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model
    from inspect_ai.solver import TaskState


async def run_slots(
    store: Store, experiment: Experiment, slots: Sequence[Slot], config: RunConfig, on_closed: OnClosed,
    follow_ups: FollowUpSlots | None = None,
) -> None:  # fmt: skip
    """Run trials for these slots in the given order. Return when no slot will be tried again.

    At most `config.parallel` trials run at the same time, over all agents. `on_closed(trial, submission)` is called
    after the trial and its submission are in the store. The submission is None if the sandbox never started. Slots on
    which another run is working are left to that run. `follow_ups` may add slots during the run. If the run is
    cancelled, the trials in progress are stored as cancelled, with their output so far, and CancelledError is raised.

    Some errors are raised before any trial: PlanError if a budget has no price, a model cannot be called or a script is
    missing; ImageError if no image is available. If only some images are missing, their slots get a failed trial
    (`sandbox.image`), and the other slots run. Raises StoreFull or StoreError if a trial cannot be stored: the run then
    stops, and the slot stays open.
    """
    if slots:
        guard_tasks()
        # Run in a separate task, which no agent's code can cancel.
        await asyncio.create_task(_run_slots(store, experiment, slots, config, on_closed, follow_ups))


async def _run_slots(
    store: Store, experiment: Experiment, slots: Sequence[Slot], config: RunConfig, on_closed: OnClosed,
    follow_ups: FollowUpSlots | None,
) -> None:  # fmt: skip
    agents = await asyncio.to_thread(_checked_agents, store, experiment, slots, config)
    broken = await asyncio.to_thread(_broken_images, store, slots)
    jobs = {
        agent.id: AgentRun(store, experiment, agent, model_of(agent, config.service(agent.model)), config, on_closed)
        for agent in agents
    }
    queue = SlotQueue(jobs, slots, store, config, broken, follow_ups)
    queue.runner = asyncio.current_task()
    keeper = asyncio.create_task(queue.renew_leases_until_cancelled())
    if follow_ups is not None:
        follow_ups.queue = queue
    try:
        with frozen_objects():
            await _run(queue)
            while await queue.wait_for_others():
                await _run(queue)
    finally:
        keeper.cancel()
        for slot in tuple(queue.leased):
            await asyncio.to_thread(queue.release, slot)


async def _run(queue: SlotQueue) -> None:
    """Run one eval over the slots that can be leased now. Each agent has its own Inspect task and thus its own log."""
    agents = await queue.fill()
    if not agents:
        return
    queue.eval = asyncio.create_task(_eval(queue, agents))
    logs: list[EvalLog] = []
    try:
        logs = await queue.eval
    except asyncio.CancelledError:
        if queue.fatal is None:
            raise
    if queue.fatal is not None:
        raise queue.fatal
    task = asyncio.current_task()
    # Inspect swallows a cancellation and returns its logs so far, possibly none.
    if not logs or any(log.status == "cancelled" for log in logs) or (task is not None and task.cancelling()):
        raise asyncio.CancelledError
    _raise_broken(logs)


def _broken_images(store: Store, slots: Sequence[Slot]) -> dict[str, ImageError]:
    """Prepare all images before any trial. Return the error by instance id for images that are not available. Raises
    ImageError if no image is available.
    """
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


def _checked_agents(store: Store, experiment: Experiment, slots: Sequence[Slot], config: RunConfig) -> list[Agent]:
    """Return the agents of these slots. Raises PlanError if an agent cannot work on one of its instances."""
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


async def _eval(queue: SlotQueue, agents: Sequence[str]) -> list[EvalLog]:
    from inspect_ai import eval_async
    from inspect_ai.util._display import init_display_type

    config = queue.config
    ensure_engine_folder()
    init_display_type("none")  # the caller shows the progress
    return list(
        await eval_async(
            [_task(queue, queue.jobs[id]) for id in agents],
            model=None,
            log_dir=str(queue.store.logs / _log_name(queue.jobs[agents[0]].experiment.id)),
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


def _task(queue: SlotQueue, job: AgentRun) -> Task:
    from inspect_ai import SampleSource, Task
    from inspect_ai.scorer import mean, stderr

    async def cleanup(state: TaskState) -> None:
        context = queue.contexts.get(str(state.sample_id))
        if context is not None and context.began is not None:
            with anyio.CancelScope(shield=True):
                await close(context, state, cancelled_outcome("cut short while it was closed"))

    roles: dict[str, str | Model] = {
        name: resolve(model, job.config.service(model)) for name, model in job.config.roles.items()
    }
    if job.model is not None:
        roles[AGENT] = job.model
    feed = queue.feeds[job.agent.id]
    return Task(
        dataset=SampleSource.from_samples([], next_samples=feed.next, sample_complete=queue.complete),
        solver=trial_solver(queue.context_of),
        cleanup=cleanup,
        model=job.model,
        model_roles=roles,
        metrics=[mean(), stderr()],  # for the grades that `write_scores` adds
        name=_log_name(job.agent.name),
        metadata={"experiment": job.experiment.id, "agent": job.agent.id},
    )


def _raise_broken(logs: Sequence[EvalLog]) -> None:
    """Raise StoreError if a log says that Inspect could not finish the run."""
    for log in logs:
        if log.status == "error":
            said = log.error.message if log.error is not None else "no reason given"
            raise StoreError(f"the run stopped: {said}", where=log.location, next="worksample resume")


def _log_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name)


@contextmanager
def frozen_objects() -> Iterator[None]:
    """Freeze all existing objects, so that the garbage collector skips them inside the `with` block.

    The platform has about 400,000 objects of modules and schemas. A full collection over all of them would pause all
    trials. If objects are already frozen, as in a server that forks, nothing changes.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def ensure_engine_folder() -> None:
    """Set another data folder for Inspect if Inspect cannot write to its own, for example if the home folder is
    read-only.

    The environment variable XDG_DATA_HOME is the only setting that covers all data of Inspect. Inspect reads the
    variable at each use.
    """
    if not _writable():
        os.environ["XDG_DATA_HOME"] = str(runtime_folder() / "data")


def _writable() -> bool:
    from inspect_ai._util.appdirs import inspect_data_dir

    try:
        return all(os.access(inspect_data_dir(name), os.W_OK) for name in ("traces", "samplebuffer"))
    except OSError:
        return False
