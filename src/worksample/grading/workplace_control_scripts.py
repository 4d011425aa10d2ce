"""Control submissions of tasks in a simulated company. Scripts of the task act in the company's services.

The services start only once. Before each script, they are reset and set up as for a trial. The colleagues are active,
and the script's commands run in a box like an agent's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from worksample.agents import ScriptStep
from worksample.background_services import supervise
from worksample.box import Box, BoxConfig, BoxLimits, FairTimeout, Mount
from worksample.errors import SandboxError
from worksample.models import ModelService
from worksample.records import Instance, Origin, Submission, SubmissionPart, now
from worksample.sandboxes import open_box
from worksample.sandboxes.capture import CaptureLimits, capture_box
from worksample.sandboxes.copied_inputs import copy_inputs
from worksample.sandboxes.endpoints import serve_endpoints
from worksample.sandboxes.services import TrialServices, export_state, open_services
from worksample.tasks.workplace_settings import WORKPLACE
from worksample.workplace.live_check import add_live_result, run_live_check
from worksample.workplace.workplace import LiveWorkplace, reset_services, run_setup, services_box, task_workplace

from .grading_boxes import workplace_endpoints

if TYPE_CHECKING:
    from worksample.store import Store

SCRATCH = "/task/scratch"
SECONDS = 1800.0
"""Default time limit of each step of a script, in seconds."""


@dataclass(frozen=True, slots=True)
class PerformedScript:
    """The control submission of a script. `failed` says which command failed and how; it is empty if none failed."""

    submission: Submission
    failed: str


async def perform_scripts(
    store: Store, instance: Instance, scripts: Mapping[str, Sequence[ScriptStep]], *, sandbox: str = "bubblewrap",
    on_step: Callable[[str], None] = lambda name: None,
) -> dict[str, PerformedScript]:  # fmt: skip
    """Run scripts and return the control submission of each script, by name.

    Raises SandboxError if the task has an image, for which scripts are not supported, or if the workplace cannot be
    started.
    """
    environment = instance.work.environment
    workplace = await asyncio.to_thread(task_workplace, environment, store.folder, f"perform-{uuid4().hex[:12]}")
    if workplace is None or not scripts:
        return {}
    if environment.image is not None:
        raise SandboxError(
            "control scripts are not supported in image-based tasks (task.toml: environment.image)",
            where="cases",
            next="remove image or the scripts",
        )
    found: dict[str, PerformedScript] = {}
    async with open_services((workplace.box,), sandbox) as services:
        for name, steps in scripts.items():
            on_step(name)
            if found:
                await reset_services(services_box(services))
            await run_setup(services, workplace)
            found[name] = await _perform_script(
                _ScriptStage(store, instance, workplace, services, sandbox), name, steps
            )
    return found


@dataclass(frozen=True, slots=True)
class _ScriptStage:
    store: Store
    instance: Instance
    workplace: LiveWorkplace
    services: TrialServices
    sandbox: str


async def _perform_script(stage: _ScriptStage, name: str, steps: Sequence[ScriptStep]) -> PerformedScript:
    store, instance = stage.store, stage.instance
    # A model's replies cannot be predicted, so every colleague answers by the rules of its file.
    by_rules = tuple(one.replaced(backing="rules") for one in stage.workplace.colleagues)
    workplace = replace(stage.workplace, colleagues=by_rules)
    attending = workplace.colleague_runner(services_box(stage.services), None, ModelService())
    targets = {
        one: stage.services.target(f"service:{WORKPLACE}:{one.port}")
        for one in workplace_endpoints(instance.work.environment)
    }
    async with open_box(_box_config(stage), kind=stage.sandbox) as box, serve_endpoints(box, targets):
        await copy_inputs(box, instance.work.environment)
        if by_rules:
            async with attending.run():
                failed = await supervise(
                    _perform_steps(box, steps, instance), attending.failure, stage.services.failure
                )
        else:
            failed = await supervise(_perform_steps(box, steps, instance), stage.services.failure)
        captured = await capture_box(box, store.blobs, instance)
    parts = {**captured.parts, "exports": await _export_state(stage), "colleagues": attending.part(store.blobs)}
    submission = Submission(
        id=uuid4().hex, instance=instance.id, work=instance.work_digest, capture=instance.capture_digest,
        origin=Origin.CONTROL, entrant="control", at=now(), control=name, parts=parts, author="audit",
        note=failed[:1000],
    )  # fmt: skip
    await asyncio.to_thread(store.commit, submission)
    return PerformedScript(submission, failed)


async def _export_state(stage: _ScriptStage) -> SubmissionPart:
    """Export the state of the services in the same way as at the end of a trial."""
    store, given = stage.store, stage.instance.work.environment
    seen = await run_live_check(stage.services, stage.workplace, store.folder, given)
    exported = await export_state(stage.services, store.blobs, stage.instance.capture.exports, CaptureLimits())
    if seen is None:
        return exported.part
    manifest = await asyncio.to_thread(store.manifest, exported.part.manifest)
    return add_live_result(exported.part, manifest, seen, store.blobs)


async def _perform_steps(box: Box, steps: Sequence[ScriptStep], instance: Instance) -> str:
    """Run the steps of a script in order until one fails. Return a description of the failure, or "" if all steps
    succeeded.
    """
    seconds = instance.work.environment.limits.time or SECONDS
    paths = instance.work.environment.paths
    words = {"input": paths.input, "software": paths.software, "output": paths.output, "scratch": SCRATCH}
    for number, step in enumerate(steps):
        argv = _argv(step, words)
        if step.write is not None and step.text is not None:
            await box.write(step.write, step.text.encode())
        elif argv:
            done = await box.run(argv, cwd=SCRATCH, timeout=FairTimeout(step.timeout or seconds))
            if done.returncode or done.timed_out:
                how = (
                    "got too little processor time"
                    if done.starved
                    else "did not end in time"
                    if done.timed_out
                    else f"ended with exit status {done.returncode}"
                )
                said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-700:]
                return f"step[{number}] {how}: {said}"
    return ""


def _argv(step: ScriptStep, words: Mapping[str, str]) -> list[str]:
    """Return the command of a step that runs a program. Return an empty list for other steps."""
    text = step.run if step.run is not None else step.python
    if text is None:
        return []
    for word, value in () if step.raw else words.items():
        text = text.replace("{" + word + "}", value)
    return ["bash", "-c", text] if step.run is not None else ["python3", "-c", text]


def _box_config(stage: _ScriptStage) -> BoxConfig:
    """Return the configuration of a box like an agent's, in which no agent runs."""
    work, store = stage.instance.work, stage.store
    environment = work.environment
    limits = environment.limits
    return BoxConfig(
        network="endpoints",
        endpoints=workplace_endpoints(environment),
        mounts=(
            Mount(str(store.folder(work.inputs)), environment.paths.input),
            Mount(str(store.folder(work.software)), environment.paths.software),
        ),
        python="toolbox",
        output=environment.paths.output,
        scratch=SCRATCH,
        limits=BoxLimits(memory=limits.memory, processes=limits.processes, disk=limits.disk),
        label=f"perform-{uuid4().hex[:12]}",
    )
