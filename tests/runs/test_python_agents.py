"""A Python agent that harms its own task ends only its own trial, and is graded."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from runs.material import cause, setting
from worksample.agents import define
from worksample.errors import Cause
from worksample.records import Agent, Ending, Limits, Trial
from worksample.stall_tolerant_loop import run_steadily

LIMITS = Limits(time=20, memory=512 << 20, disk=64 << 20)
OWN_FAULT = (
    "cancels_itself",
    "cancels_all_others",
    "cancels_all_others_one_by_one",
    "cancels_all_from_a_task",
    "ends_a_generator",
    "exits_in_a_group",
    "raises_a_cancellation",
    "interrupts",
    "interrupts_in_a_task",
)
ALLOWED = ("waits", "cancels_a_scope_of_its_own", "cancels_itself_and_returns")


def _agent(name: str) -> Agent:
    return define(name.replace("_", "-"), harness="object", settings={"object": f"runs.agents_that_cancel:{name}"})


def test_agent_that_harms_its_task_is_to_blame_and_harms_no_other_trial(tmp_path: Path) -> None:
    first, *more = [_agent(name) for name in (*OWN_FAULT, *ALLOWED)]
    at = setting(tmp_path, agent=first, more=more, limits=LIMITS)

    async def run() -> list[Trial]:
        # As the command line does: the signal has a handler of its own, so an interrupt is an agent's.
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
        return await at.run(tries=1, parallel=4)

    trials = run_steadily(run())
    names = {agent.id: agent.name.replace("-", "_") for agent in (first, *more)}
    crashed = {names[trial.agent] for trial in trials if cause(trial) is Cause.AGENT_CRASH}
    done = {names[trial.agent] for trial in trials if trial.outcome.ending is Ending.DONE}
    assert (crashed, done) == (set(OWN_FAULT), set(ALLOWED)), [trial.outcome.reason for trial in trials]


def test_time_limit_and_operator_still_end_a_python_agent(tmp_path: Path) -> None:
    at = setting(tmp_path / "limit", agent=_agent("waits_for_ever"), limits=LIMITS.replaced(time=1))
    (trial,) = run_steadily(at.run(tries=1))
    assert cause(trial) is Cause.LIMIT_TIME

    at = setting(tmp_path / "operator", agent=_agent("waits_for_ever"), limits=LIMITS)

    async def stopped() -> None:
        running = asyncio.create_task(at.run(tries=1))
        await asyncio.sleep(3)
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled()

    run_steadily(stopped())
    (trial,) = at.trials()
    assert trial.outcome.ending is Ending.CANCELLED
