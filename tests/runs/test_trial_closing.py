"""Closing a trial without a box: absent parts and facts of the try."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runs.material import Setting, setting
from worksample.errors import Cause, PlanError
from worksample.records import Arm, CaptureStatus, Instance, Limits, Slot
from worksample.runs import RunConfig
from worksample.runs.recorder_base import Recorder, Shortfall, stop_and_capture
from worksample.runs.trial_close import announce, build_trial
from worksample.runs.trial_context import AgentRun, TrialContext, TrialSpec
from worksample.runs.trial_outcome import DONE
from worksample.runs.trial_recorders import BoxRecorder


def begun(at: Setting, **changes: object) -> TrialContext:
    """A try of the first slot whose sample was made."""
    [slot, *_], told = at.slots, lambda trial, submission: at.closed.append((trial, submission))
    job = AgentRun(at.store, at.experiment, at.agent, None, RunConfig(), told)
    folder = at.store.logs
    given = {"try_number": 3, **changes}
    instance = at.store.get(Instance, slot.instance)
    return TrialContext(TrialSpec(job, slot, instance, Limits(time=7), folder, folder, None, **given))  # type: ignore[arg-type]


async def test_output_without_a_box_is_absent_with_its_reason(tmp_path: Path) -> None:
    at = setting(tmp_path)
    recorder = BoxRecorder(begun(at))
    await recorder.capture()
    part = recorder.parts(at.store.blobs)["output"]
    assert recorder.shortfall == Shortfall(Cause.SANDBOX_LOST, "there was no sandbox")
    assert (part.status, part.reason) == (CaptureStatus.ABSENT, "there was no sandbox")
    assert at.store.manifest(part.manifest).entries == ()
    assert begun(at).recorders == []


def test_trial_has_the_facts_of_its_try(tmp_path: Path) -> None:
    at = setting(tmp_path)
    one, other = begun(at), begun(at)
    assert one.id != other.id
    assert one.id.startswith(f"{at.slots[0].id}.3.")
    one.phases["twice"] = 1.0
    with one.measure("once"), one.measure("twice"):
        sum(range(100_000))
    assert 0 < one.phases["once"] < 1000
    assert 1 < one.phases["twice"] < 1000
    trial = build_trial(one, DONE, steps=4, log="a.eval")
    assert (trial.id, trial.slot, trial.try_number, trial.limits.time) == (one.id, at.slots[0].id, 3, 7)
    assert (trial.outcome, trial.steps, trial.log, trial.working_seconds) == (DONE, 4, "a.eval", 0.0)
    assert (trial.phases, trial.sandbox, trial.fed) == (one.phases, "bubblewrap", None)
    assert trial.started == one.started <= trial.ended
    announce(one, trial, None)
    assert at.closed == [(trial, None)]
    assert one.announced


def test_failed_trial_record_is_no_closed_trial(tmp_path: Path) -> None:
    at = setting(tmp_path)

    def fails(*_: object) -> None:
        raise KeyError("the caller's own")

    tried = begun(at)
    job = AgentRun(at.store, at.experiment, at.agent, None, RunConfig(), fails)
    failing = TrialContext(replace(tried.spec, job=job, try_number=1))
    with pytest.raises(KeyError):
        announce(failing, build_trial(failing, DONE), None)
    assert not failing.announced


def test_slot_of_an_unknown_arm_is_refused(tmp_path: Path) -> None:
    at = setting(tmp_path, arm=Arm(name="plain"))
    job = begun(at).spec.job
    assert job.arm(at.slots[0]).name == "plain"
    strange: Slot = at.slots[0].replaced(arm="other")
    with pytest.raises(PlanError, match="belongs to the arm 'other', which its experiment lacks"):
        job.arm(strange)


async def test_recorders_are_closed_in_their_order_not_of_registration(tmp_path: Path) -> None:
    said: list[str] = []

    class Named(Recorder):
        def __init__(self, name: str, rank: int) -> None:
            self.name, self.rank = name, rank  # type: ignore[misc]

        async def stop(self) -> None:
            said.append(f"stop {self.name}")

        async def capture(self) -> None:
            said.append(f"capture {self.name}")

    context = begun(setting(tmp_path))
    for name, rank in (("last", 3), ("first", 1), ("second", 2)):
        context.record(Named(name, rank))
    await stop_and_capture(context.recorders)
    assert said == [f"{what} {name}" for what in ("stop", "capture") for name in ("first", "second", "last")]
    assert (context.recorders[0].parts(context.spec.job.store.blobs), context.recorders[0].usage) == ({}, {})
    assert context.recorders[0].shortfall is None
