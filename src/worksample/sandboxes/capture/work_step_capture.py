"""Captures after each step of a task with several steps: the changes of the root and the output, stored below the
step's name.

All captures of a trial form one part of the submission, `steps`. Its file `steps.json` says how each step ended, so
that graders know which steps were worked on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause
from worksample.files import read_manifest
from worksample.records import CaptureStatus, Entry, Instance, Manifest, SubmissionPart, canonical
from worksample.stall_tolerant_loop import steady_time
from worksample.store import put_canonical

from .box_capture import USUAL, CaptureLimits, capture_root, snapshot_output
from .collect_hooks import first_failure, run_hooks
from .root_changes import ROOT_LAYER

if TYPE_CHECKING:
    from worksample.box import Box

    from .probes import BlobStore

STEPS, STEPS_SUMMARY, STEP_OUTPUT = "steps", "steps.json", "output"
DONE, ABORTED = "done", "aborted"
"""How a step ended. DONE: the agent worked on the step. ABORTED: the step could not begin, and the whole work ended
with it.
"""


@dataclass
class StepCapture:
    """The captures of the steps of one trial. `part` also captures a step that has begun and has not been captured
    yet.
    """

    box: Box
    blobs: BlobStore
    instance: Instance
    limits: CaptureLimits = USUAL
    begun: str = ""
    """Name of the step that is in progress."""
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    cause: Cause | None = None
    """Why the capture is incomplete: the cause of the first step with an incomplete capture. None if all captures are
    complete.
    """
    reason: str = ""
    entries: list[Entry] = field(default_factory=list)

    async def capture_step(self) -> None:
        """Capture the state after the step in progress. The content of the box raises no error. Raises StoreError if
        the capture cannot be stored.
        """
        name, self.begun = self.begun, ""
        hooks = await run_hooks(self.box, [one for one in self.instance.capture.collect if one.step in ("", name)])
        until = steady_time() + self.limits.backstop
        root, lacking = await capture_root(self.box, self.blobs, self.limits, until)
        found = await snapshot_output(self.box, self.blobs, self.limits, until)
        if self.cause is None and (cause := lacking or found.cause) is not None:
            self.cause, self.reason = cause, f"step {name}: {root.reason or found.reason}"
        whole = root.status is not CaptureStatus.ABSENT
        if whole:
            held = read_manifest(await asyncio.to_thread(self.blobs.read, root.manifest))
            self.entries += [one.replaced(path=f"{name}/{ROOT_LAYER}") for one in held.entries]
        self.entries += [one.replaced(path=f"{name}/{STEP_OUTPUT}/{one.path}") for one in found.manifest.entries]
        lacks = first_failure(hooks) or ("" if whole else root.reason)
        self.outcomes.append({"name": name, "ended": DONE, "lacks": lacks, "hooks": hooks})

    def note_aborted(self, name: str, why: str) -> None:
        """Record that the step `name` could not begin, so that the later steps were not worked on either."""
        self.outcomes.append({"name": name, "ended": ABORTED, "lacks": why})

    async def part(self) -> SubmissionPart:
        """Return the captures of all steps as one part of a submission. Raises StoreError if the part cannot be
        stored.
        """
        if self.begun:
            await self.capture_step()
        return await asyncio.to_thread(self._part)

    def _part(self) -> SubmissionPart:
        data = canonical({"steps": self.outcomes})
        told = Entry(path=STEPS_SUMMARY, size=len(data), blob=self.blobs.put(data))
        manifest = Manifest(entries=tuple(sorted([*self.entries, told], key=lambda entry: entry.path)))
        return SubmissionPart(
            manifest=put_canonical(self.blobs, manifest.plain()),
            status=CaptureStatus.COMPLETE if self.cause is None else CaptureStatus.PARTIAL,
            reason=self.reason,
            files=len(manifest.files),
            size=manifest.size,
        )


def step_view(instance: Instance, name: str) -> Instance:
    """Return the instance as an agent sees it during one step: with the step's instruction, named after the step."""
    environment = instance.work.environment
    [step] = [one for one in environment.steps if one.name == name]
    work = instance.work.replaced(brief=step.brief, environment=environment.replaced(steps=()))
    return instance.replaced(name=f"{instance.name}.{name}"[:100], work=work)


def step_views(instance: Instance) -> Sequence[Instance]:
    """Return the instances that an agent is shown one after the other: one instance per step, or only the instance
    itself if it has no steps.
    """
    return [step_view(instance, one.name) for one in instance.work.environment.steps] or [instance]
