"""The recorders of simulated colleagues, steps, the agent's box, and services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from worksample.agents import logs_of
from worksample.errors import Cause
from worksample.records import CaptureStatus, Manifest, SubmissionPart, Usage, canonical
from worksample.sandboxes.capture import STEPS, Captured, StepCapture, capture_box
from worksample.sandboxes.live_verification import VERIFIED, live_grading, verify_live
from worksample.sandboxes.services import TrialServices, export_state
from worksample.sandboxes.services.state_export import ExportedPart
from worksample.workplace.colleagues.colleague_runner import ROLE, ColleagueRunner
from worksample.workplace.live_check import add_live_result, run_live_check
from worksample.workplace.workplace import LiveWorkplace

from .agent_log import agent_log
from .recorder_base import Parts, Recorder, Shortfall
from .trial_box import box_of
from .trial_outcome import crash_outcome

if TYPE_CHECKING:
    from worksample.box import Box
    from worksample.files import Sink

    from .trial_context import TrialContext


class ColleagueRecorder(Recorder):
    """Recorder of the simulated colleagues: their transcript, and the usage of their models."""

    rank = 10

    def __init__(self, runner: ColleagueRunner) -> None:
        self._runner = runner

    async def stop(self) -> None:
        """Stop the simulated colleagues."""
        await self._runner.stop()

    @property
    def shortfall(self) -> Shortfall | None:
        """A crash of the platform that stopped a colleague; None if there was none."""
        if (error := self._runner.failure.error) is None:
            return None
        outcome = crash_outcome(error)
        return Shortfall(outcome.cause, outcome.reason) if outcome.cause is not None else None

    def parts(self, sink: Sink) -> Parts:
        """Return the transcript of the colleagues as a part of the submission."""
        return {"colleagues": self._runner.part(sink)}

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Usage of the models that play colleagues."""
        return {} if self._runner.usage is None else {ROLE: self._runner.usage}


class StepRecorder(Recorder):
    """Recorder of the box's state after each step of the work."""

    rank = 20

    def __init__(self, steps: StepCapture) -> None:
        self._steps = steps
        self._part: SubmissionPart | None = None

    async def stop(self) -> None:
        """Capture the state after a step that was cut off. Called before the box is frozen."""
        self._part = await self._steps.part()

    @property
    def shortfall(self) -> Shortfall | None:
        """The reason why the state after a step could not be captured completely. None if it was captured
        completely.
        """
        return None if self._steps.cause is None else Shortfall(self._steps.cause, self._steps.reason)

    def parts(self, sink: Sink) -> Parts:
        """Return the states after all steps as one part of the submission."""
        return {} if self._part is None else {STEPS: self._part}


class BoxRecorder(Recorder):
    """Recorder of the agent's box: the deliverables, the results of probes, and the agent's own log files."""

    rank = 30

    def __init__(self, context: TrialContext) -> None:
        self._context = context
        self._captured: Captured | None = None
        self._log: SubmissionPart | None = None

    async def capture(self) -> None:
        """Capture the content of the box. If the trial has no box, the output is absent, with the reason."""
        context, box = self._context, box_of()
        blobs = context.spec.job.store.blobs
        if box is None:
            self._captured = await anyio.to_thread.run_sync(_no_output, blobs, "there was no sandbox")
            return
        self._captured = await capture_box(box, blobs, context.spec.instance, limits=context.spec.job.config.capture)
        context.phases.update({name: round(seconds, 6) for name, seconds in self._captured.seconds.items()})
        if live_grading(context.spec.instance) is not None:
            await self._verify(box, self._captured.parts)
        if logs := logs_of(context.spec.job.agent):
            self._log = await agent_log(box, blobs, logs)

    async def _verify(self, box: Box, parts: dict[str, SubmissionPart]) -> None:
        """Run a verifier that looks at what the agent left running, and add its result to the parts."""
        job = self._context.spec.job
        with self._context.measure("verifier"):
            instance = self._context.spec.instance
            found = await verify_live(box, job.store, instance, parts, sandbox=job.config.sandbox)
        if found is not None:
            parts[VERIFIED] = found

    @property
    def shortfall(self) -> Shortfall | None:
        """The reason why the output, or the changes to the root file system, are incomplete. None if both are
        complete.
        """
        found = self._captured
        if found is None or found.cause is None:
            return None
        root = found.parts["root"].reason if "root" in found.parts else ""
        return Shortfall(found.cause, found.parts["output"].reason or root)

    def parts(self, sink: Sink) -> Parts:
        """Return the captured parts and the agent's log files."""
        found = dict(self._captured.parts) if self._captured is not None else {}
        return found if self._log is None else {**found, "agent_log": self._log}


class ServiceRecorder(Recorder):
    """Recorder of the state of the task's services."""

    rank = 40

    def __init__(self, context: TrialContext, services: TrialServices) -> None:
        self._context, self._services = context, services
        self.workplace: LiveWorkplace | None = None
        """The task's simulated company, after it was set up; None before."""
        self._exported: ExportedPart | None = None

    async def capture(self) -> None:
        """Run the task's `live.py`, then export the state of the services that the instance names."""
        context, store = self._context, self._context.spec.job.store
        names = context.spec.instance.capture.exports
        if not names:
            return
        with context.measure("exports"):
            found = None
            if self.workplace is not None:
                environment = context.spec.instance.work.environment
                found = await run_live_check(self._services, self.workplace, store.folder, environment)
            exported = await export_state(self._services, store.blobs, names, context.spec.job.config.capture)
            if found is not None:
                manifest = await anyio.to_thread.run_sync(store.manifest, exported.part.manifest)
                exported = replace(exported, part=add_live_result(exported.part, manifest, found, store.blobs))
            self._exported = exported

    @property
    def shortfall(self) -> Shortfall | None:
        """The reason why the state of a service could not be exported completely. None if it was exported
        completely.
        """
        found = self._exported
        return None if found is None or found.cause is None else Shortfall(found.cause, found.part.reason)

    def parts(self, sink: Sink) -> Parts:
        """Return the exported state as a part of the submission."""
        return {} if self._exported is None else {"exports": self._exported.part}


def _no_output(sink: Sink, reason: str) -> Captured:
    empty = sink.put(canonical(Manifest().plain()))
    part = SubmissionPart(manifest=empty, status=CaptureStatus.ABSENT, reason=reason)
    return Captured({"output": part}, Cause.SANDBOX_LOST)
