"""A trial in a real box: its possible ends, and its evidence in every case."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from typing import Any

import pytest

from forking.child import Child
from runs.material import Setting, setting
from worksample.errors import Cause, PlanError, WorksampleError
from worksample.models import Price
from worksample.records import Arm, CaptureStatus, Ending, Instance, Limits, Protocol, Slot, Submission, Trial
from worksample.runs import RunConfig, limits_of, run_slots

pytestmark = pytest.mark.box

HELLO = {"run": "echo hello > {output}/hello.txt"}
SMALL = {"memory": 512 << 20, "disk": 64 << 20}


def trajectory(at: Setting, trial: Trial) -> dict[str, Any]:
    part = at.store.get(Submission, trial.id).parts["trajectory"]
    entry = at.store.manifest(part.manifest).find("trajectory.json")
    assert entry is not None
    assert entry.blob is not None
    document = json.loads(at.store.blobs.read(entry.blob))
    assert isinstance(document, dict)
    return document


async def test_trial_is_done(tmp_path: Path) -> None:
    at = setting(
        tmp_path, [HELLO, {"python": "x = 20"}, {"python": "x + 1"}, {"submit": "it is there"}], names=("a", "b")
    )
    trials = await at.run()
    assert [t.outcome.ending for t in trials] == [Ending.DONE] * 2
    assert all(at.output(t) == {"hello.txt": b"hello\n"} for t in trials)
    assert all((t.steps, t.usage["agent"].tokens, t.try_number) == (4, 480, 1) for t in trials)
    assert not at.store.open_slots(at.experiment.id)
    assert sorted(t.id for t, _ in at.closed) == sorted(t.id for t in trials)
    assert all((at.store.logs / t.log).is_file() for t in trials)
    assert {"sandbox", "snapshot", "trajectory"} <= set(trials[0].phases)


async def test_trajectory_matches_the_work(tmp_path: Path) -> None:
    at = setting(
        tmp_path, [HELLO, {"say": "hm"}, {"run": "exit 3", "also": True}, {"fail": "malformed"}, {"submit": "ok"}]
    )
    (trial,) = await at.run()
    document = trajectory(at, trial)
    assert document["schema_version"] == "ATIF-v1.7"
    assert [s["step_id"] for s in document["steps"]] == list(range(1, len(document["steps"]) + 1))
    agent = [s for s in document["steps"] if s["source"] == "agent"]
    assert [[c["function_name"] for c in s.get("tool_calls", [])] for s in agent] == [
        ["bash"],
        ["bash"],
        ["bash"],
        ["submit"],
    ]
    assert agent[1]["message"] == "hm"
    assert "[exit status 3]" in agent[1]["observation"]["results"][0]["content"]
    assert agent[2]["observation"]["results"][0]["extra"] == {"error": "parsing"}
    assert document["final_metrics"]["total_prompt_tokens"] == 500
    assert {t["function"]["name"] for t in document["agent"]["tool_definitions"]} >= {"bash", "python", "submit"}
    assert document["extra"]["trial"] == trial.id


LIMITED = [
    ({"time": 1.0}, {"sleep": 30.0}, Cause.LIMIT_TIME),
    ({"time": 1.0}, {"run": "sleep 30"}, Cause.LIMIT_TIME),
    ({"time": 1.5}, {"python": "import time; time.sleep(30)"}, Cause.LIMIT_TIME),
    ({"turns": 2}, {"run": "true"}, Cause.LIMIT_TURNS),
    ({"tokens": 500}, {"say": "much", "usage": {"input": 1000, "output": 1}}, Cause.LIMIT_TOKENS),
    ({"cost": 0.5}, {"say": "dear", "usage": {"input": 1000, "output": 1}}, Cause.LIMIT_COST),
]


@pytest.mark.parametrize(("limits", "step", "cause"), LIMITED)
async def test_limit_leaves_the_work_as_evidence(
    tmp_path: Path, limits: dict[str, float], step: dict[str, Any], cause: Cause
) -> None:
    at = setting(tmp_path, [HELLO, step, {"run": "echo late > {output}/late.txt"}], limits=Limits(**SMALL, **limits))
    (trial,) = await at.run(prices={"script/replay": Price(input=1000, output=1000)})
    assert (trial.outcome.ending, trial.outcome.cause) == (Ending.LIMIT, cause)
    assert at.output(trial) == {"hello.txt": b"hello\n"}
    assert not at.store.open_slots(at.experiment.id)
    if cause is Cause.LIMIT_TURNS:
        assert trial.steps == 2
    if cause is Cause.LIMIT_COST:
        assert trial.usage["agent"].priced
        assert trial.usage["agent"].cost == pytest.approx(1.121)


@pytest.mark.parametrize(
    ("fail", "cause", "tries"),
    [
        ("service", Cause.MODEL_ERROR, 3),
        ("refused", Cause.MODEL_REFUSED, 1),
        ("crash", Cause.AGENT_CRASH, 1),
    ],
)
async def test_failure_is_typed_and_retried_if_transient(tmp_path: Path, fail: str, cause: Cause, tries: int) -> None:
    at = setting(tmp_path, [HELLO, {"fail": fail}])
    trials = await at.run(tries=3)
    assert [t.outcome.cause for t in trials] == [cause] * tries
    assert sorted(t.try_number for t in trials) == list(range(1, tries + 1))
    assert all(at.output(t) == {"hello.txt": b"hello\n"} for t in trials)
    assert bool(at.store.open_slots(at.experiment.id)) == (cause is not Cause.AGENT_CRASH)


async def test_unintelligible_replies_end_the_work(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO, *[{"fail": "malformed"}] * 5, {"submit": True}])
    (trial,) = await at.run()
    assert trial.outcome.cause is Cause.AGENT_MALFORMED
    assert "not JSON" in trial.outcome.reason
    assert trial.outcome.finished


async def test_silence_ends_the_work(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO, {"say": "I am done, I think"}])
    (trial,) = await at.run()
    assert trial.outcome.ending is Ending.DONE


async def test_arm_overrides_the_instance(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO] * 5, arm=Arm(name="short", limits=Limits(turns=1)))
    (trial,) = await at.run()
    assert trial.outcome.cause is Cause.LIMIT_TURNS
    assert (trial.limits.turns, trial.limits.time) == (1, 60)


def test_limits_combine_field_by_field(tmp_path: Path) -> None:
    from worksample.agents import define

    at = setting(tmp_path, limits=Limits(time=100, turns=5))
    instance = at.store.get(Instance, at.slots[0].instance)
    agent = define(preset="rli", model="openai/x")
    limits = limits_of(instance, Arm(limits=Limits(cost=1, memory=1)), agent)
    assert (limits.time, limits.turns, limits.cost, limits.memory) == (3600, 5, 1, 2 << 30)


async def test_budget_without_a_price_is_refused_before_a_run(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], limits=Limits(cost=1))
    with pytest.raises(PlanError, match="has no price"):
        await at.run()
    assert not at.trials()


async def test_script_without_the_task_is_refused(tmp_path: Path) -> None:
    at = setting(tmp_path, [])
    with pytest.raises(PlanError, match="no script for greeting/one"):
        await at.run()


async def test_agent_reads_its_input_and_cannot_write_it(tmp_path: Path) -> None:
    steps = [{"run": "cp {input}/a.txt {output}/; echo x > {input}/b.txt; ls {input} > {output}/names"}]
    at = setting(tmp_path, steps, inputs={"a.txt": b"given"})
    (trial,) = await at.run()
    assert at.output(trial) == {"a.txt": b"given", "names": b"a.txt\n"}
    folder = at.store.folder(at.store.get(Submission, trial.id).parts["output"].manifest)
    assert (folder / "a.txt").read_bytes() == b"given"


async def test_reference_never_appears_in_the_log(tmp_path: Path) -> None:
    import zipfile

    at = setting(tmp_path, [HELLO])
    (trial,) = await at.run()
    with zipfile.ZipFile(at.store.logs / trial.log) as log:
        text = b"".join(log.read(name) for name in log.namelist() if name.endswith(".json"))
    assert trial.id.encode() in text
    instance = at.store.get(Instance, trial.instance)
    assert instance.grading[Protocol.PROGRAM].reference.encode() not in text
    assert b"answer.txt" not in text


async def test_dying_box_is_reported_and_retried(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO, {"run": "kill -9 -1; kill -9 1"}, {"run": "echo more > {output}/more.txt"}])
    trials = await at.run(tries=1)
    assert len(trials) == 1
    submission = at.store.get(Submission, trials[0].id)
    assert submission.parts["output"].status in (CaptureStatus.COMPLETE, CaptureStatus.PARTIAL)
    assert b"hello\n" in at.output(trials[0]).values()


async def test_sandbox_that_cannot_start_is_reported(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], limits=Limits(time=10, memory=1 << 20, processes=1, disk=1 << 12))
    trials = await at.run(tries=2)
    assert {t.outcome.cause for t in trials} <= {Cause.SANDBOX_START, Cause.SANDBOX_LOST, None}
    assert trials


async def test_failure_after_a_trial_stops_the_run(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], names=("a", "b", "c"))

    def fail(*_: object) -> None:
        raise KeyError("the caller's own")

    slots = at.store.open_slots(at.experiment.id)
    with pytest.raises(
        WorksampleError, match=r"the trial was stored, but the platform failed afterwards.*the caller's own"
    ):
        await run_slots(at.store, at.experiment, slots, RunConfig(parallel=1), fail)
    assert [t.outcome.ending for t in at.trials()] == [Ending.DONE]
    assert len(at.store.open_slots(at.experiment.id)) == 2


async def test_slots_held_by_another_run_are_left_to_it(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], names=("a", "b"))
    held = at.store.find(Slot, experiment=at.experiment.id)[0]
    assert at.store.lease(f"slot:{held.id}", "another run", 60)
    trials = await at.run(lease=0.5)
    assert [t.slot for t in trials] == [s.id for s in at.slots if s.id != held.id]
    at.store.release(f"slot:{held.id}", "another run")
    assert len(await at.run()) == 2
    assert not at.store.open_slots(at.experiment.id)


async def test_slots_of_a_dead_run_are_done_once_its_lease_is_over(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], names=("a", "b"))
    for held in at.slots:
        assert at.store.lease(f"slot:{held.id}", "a run that was killed", 1)
    # Not a lease of its own later: that would be past the end of all tests.
    async with asyncio.timeout(300):
        assert len(await at.run(lease=1_000_000)) == 2


async def test_two_concurrent_runs_do_every_slot_once(tmp_path: Path) -> None:
    at = setting(tmp_path, [{"sleep": 0.2}, HELLO], names=("a", "b", "c"), repeats=3)
    processes = [Child("runs.again", [tmp_path / "store"]) for _ in range(2)]
    assert [await asyncio.to_thread(p.wait) for p in processes] == [0, 0]
    trials = at.trials()
    assert sorted(t.slot for t in trials) == sorted(s.id for s in at.slots)
    assert all(t.outcome.ending is Ending.DONE for t in trials)


@pytest.mark.parametrize("already", [False, True])
async def test_existing_objects_are_frozen_during_trials(tmp_path: Path, already: bool) -> None:
    at, during = setting(tmp_path, [HELLO]), list[int]()
    before = gc.get_freeze_count()
    (gc.freeze if already else gc.unfreeze)()
    slots = at.store.open_slots(at.experiment.id)
    await run_slots(
        at.store, at.experiment, slots, RunConfig(), lambda trial, submission: during.append(gc.get_freeze_count())
    )
    left = gc.get_freeze_count()
    (gc.freeze if before else gc.unfreeze)()  # as the tests had it
    assert len(during) == 1
    assert during[0] > 10_000
    assert bool(left) == already
