"""Several agents in one run share its places, and none waits for another's straggler."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from runs.material import player, setting
from worksample.records import Ending, Submission, Trial
from worksample.runs import RunConfig, run_slots

pytestmark = pytest.mark.box

HELLO = {"run": "echo hello > {output}/hello.txt"}


async def test_straggler_delays_no_other_agent(tmp_path: Path) -> None:
    """The first agent's work ends only when the last agent's has begun: one after the other, it would never end."""
    flag = tmp_path / "flag"
    waits = {"run": f"for i in $(seq 6000); do [ -e {flag} ] && exit 0; sleep 0.1; done; exit 1", "timeout": 610}
    agents = [player(f"quick-{n}", HELLO) for n in range(3)]
    at = setting(
        tmp_path, agent=player("slow", waits, HELLO), more=[*agents, player("last", {"run": f"touch {flag}"}, HELLO)]
    )
    # In this order: the store gives open slots in one of its own.
    await run_slots(at.store, at.experiment, at.slots, RunConfig(sandbox="none", parallel=2), lambda *_: None)
    trials = at.trials()
    assert Counter(t.outcome.ending for t in trials) == {Ending.DONE: 5}
    by_agent = {t.agent.partition("@")[0]: t for t in trials}
    assert by_agent["last"].started < by_agent["slow"].ended
    assert len({t.log for t in trials}) == 5


async def test_places_are_shared_and_every_agent_has_its_log(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    agents = [player(f"agent-{n}", {"sleep": 0.1}, HELLO) for n in range(4)]
    at = setting(tmp_path, agent=agents[0], more=agents[1:], names=("a", "b"), repeats=2)
    trials = await at.run(parallel=3)
    assert sorted(t.slot for t in trials) == sorted(s.id for s in at.slots)
    assert all(t.outcome.ending is Ending.DONE and at.output(t) == {"hello.txt": b"hello\n"} for t in trials)
    moments = sorted([(t.started, 1) for t in trials] + [(t.ended, -1) for t in trials])
    busy = [sum(step for _, step in moments[: i + 1]) for i in range(len(moments))]
    assert max(busy) <= 3
    for agent in agents:
        own = [t for t in trials if t.agent == agent.id]
        (log,) = {t.log for t in own}
        header = read_eval_log(str(at.store.logs / log))
        assert header.eval.metadata == {"experiment": at.experiment.id, "agent": agent.id}
        assert sorted(str(s.id) for s in header.samples or []) == sorted(t.id for t in own)
        assert header.eval.model == agent.model


async def test_retry_goes_to_the_same_agent(tmp_path: Path) -> None:
    agents = [player("down", HELLO, {"fail": "service"}), player("up", HELLO)]
    at = setting(tmp_path, agent=agents[0], more=agents[1:], names=("a", "b"))
    trials = await at.run(parallel=2, tries=3)
    assert Counter(t.agent.partition("@")[0] for t in trials) == {"down": 6, "up": 2}
    assert Counter(t.slot for t in trials if t.agent == agents[0].id) == {
        s.id: 3 for s in at.slots if s.agent == agents[0].id
    }


async def test_failure_that_stops_one_agents_task_stops_the_run(tmp_path: Path) -> None:
    agents = [player("quick", HELLO), player("asleep", HELLO, {"sleep": 3000})]
    at = setting(tmp_path, agent=agents[0], more=agents[1:], names=("a", "b"))

    def fail(trial: Trial, submission: Submission | None) -> None:
        if trial.outcome.ending is Ending.DONE:
            raise KeyError("the caller's own")

    slots = sorted(at.slots, key=lambda s: (s.instance, s.agent == agents[1].id))
    async with asyncio.timeout(300):
        with pytest.raises(Exception, match="the caller's own"):
            await run_slots(at.store, at.experiment, slots, RunConfig(parallel=2), fail)
    endings = Counter(t.outcome.ending for t in at.trials())
    assert endings[Ending.DONE] == 1
    assert endings[Ending.CANCELLED] <= 1
    assert len(at.store.open_slots(at.experiment.id)) == 3
    assert all(at.store.holder(f"slot:{s.id}") is None for s in at.slots)
