"""All open slots of an agent as the samples of one Inspect eval."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from worksample.agents.build import check_agent, model_of
from worksample.errors import StoreError
from worksample.models import require_price, resolve
from worksample.models.usage import AGENT
from worksample.records import Agent, Experiment, Instance, Slot
from worksample.store import Store

from .attempt import Job, OnClosed
from .close import close
from .config import RunConfig
from .limits import limits_of
from .outcome import cancelled
from .source import Trials
from .work import trial_solver

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model
    from inspect_ai.solver import TaskState


async def run_slots(
    store: Store,
    experiment: Experiment,
    agent: Agent,
    slots: Sequence[Slot],
    config: RunConfig,
    on_closed: OnClosed,
) -> None:
    """Run trials for these slots, in this order, and return when each has one that is not tried again.

    Every trial is in the store, with its submission, before `on_closed(trial, submission)` is called; the submission is
    None where the sandbox never started. Slots that another living run works on are left to it. Cancelling this closes
    the trials in work as cancelled, with what they had made, and raises CancelledError.

    PlanError, before anything runs, for a budget without a price, a model that cannot be had or a script that is
    missing. StoreFull or StoreError where a trial could not be kept: then the run stops, and its slot stays open.
    """
    if not slots:
        return
    _check(store, experiment, agent, slots, config)
    job = Job(store, experiment, agent, model_of(agent, config.service), config, on_closed)
    trials = Trials(job, slots)
    trials.runner = asyncio.current_task()
    keeper = asyncio.create_task(trials.keep())
    try:
        await _run(trials)
        while await trials.wait_for_others():
            await _run(trials)
    finally:
        keeper.cancel()
        for slot in tuple(trials.held):
            trials.release(slot)


async def _run(trials: Trials) -> None:
    """One eval over the slots that can be had now."""
    first = await asyncio.to_thread(trials.samples, trials.job.config.parallel)
    if not first:
        return
    logs = await _eval(trials, first)
    if trials.fatal is not None:
        raise trials.fatal
    task = asyncio.current_task()
    # Inspect absorbs a cancellation and returns what logs it has, possibly none.
    if not logs or any(log.status == "cancelled" for log in logs) or (task is not None and task.cancelling()):
        raise asyncio.CancelledError
    _raise_broken(logs)


def _check(store: Store, experiment: Experiment, agent: Agent, slots: Sequence[Slot], config: RunConfig) -> None:
    arms = {arm.name: arm for arm in experiment.arms}
    instances = {id: store.get(Instance, id) for id in {slot.instance for slot in slots}}
    for instance in instances.values():
        check_agent(agent, instance)
    for slot in slots:
        if limits_of(instances[slot.instance], arms[slot.arm], agent).cost is not None:
            require_price(agent.model, config.prices)
            break


async def _eval(trials: Trials, first: list[Sample]) -> list[EvalLog]:
    from inspect_ai import eval_async

    job = trials.job
    roles: dict[str, Model] = {role: resolve(name, job.config.service) for role, name in job.config.roles.items()}
    if job.model is not None:
        roles[AGENT] = job.model
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())
        return list(
            await eval_async(
                _task(trials, first),
                model=job.model,
                model_roles=dict(roles),
                log_dir=str(job.store.logs / _folder(job.experiment.id)),
                log_format="eval",
                log_realtime=job.config.live_log,
                log_header_only=True,
                log_level="error",
                fail_on_error=False,
                retry_on_error=0,
                max_tasks=1,
                max_samples=job.config.parallel,
                score=False,
                ctl_server=False,
                acp_server=False,
            )
        )


def _task(trials: Trials, first: list[Sample]) -> Task:
    from inspect_ai import SampleSource, Task
    from inspect_ai.scorer import mean, stderr

    async def cleanup(state: TaskState) -> None:
        attempt = trials.attempts.get(str(state.sample_id))
        if attempt is not None and attempt.began is not None:
            with anyio.CancelScope(shield=True):
                await close(attempt, state, cancelled("cut short while it was closed"))

    return Task(
        dataset=SampleSource.from_samples(first, sample_complete=trials.complete),
        solver=trial_solver(trials.attempt),
        cleanup=cleanup,
        metrics=[mean(), stderr()],  # for the grades that `write_scores` brings
        name=_folder(trials.job.agent.name),
        metadata={"experiment": trials.job.experiment.id, "agent": trials.job.agent.id},
    )


def _raise_broken(logs: Sequence[EvalLog]) -> None:
    """A run that Inspect itself could not go through with."""
    for log in logs:
        if log.status == "error":
            said = log.error.message if log.error is not None else "no reason given"
            raise StoreError(f"the run stopped: {said}", where=log.location, next="worksample resume")


def _folder(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name)


@contextlib.contextmanager
def _quiet():  # type: ignore[no-untyped-def]
    """Nothing of Inspect's own display: progress is the caller's."""
    from inspect_ai.util._display import init_display_type

    init_display_type("none")
    yield
