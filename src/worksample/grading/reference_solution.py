"""The solution program of a task, run in the agent's environment. Its result is the control submission that must get
the full score.
"""

from __future__ import annotations

import asyncio
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from worksample.box import Box, Completed, FairTimeout
from worksample.errors import ImageError
from worksample.files.scratch_folder import scratch_folder
from worksample.records import Instance, Origin, Protocol, Submission, SubmissionPart, now
from worksample.sandboxes import open_box
from worksample.sandboxes.capture import STEPS, StepCapture, capture_box
from worksample.sandboxes.endpoints import serve_endpoints
from worksample.sandboxes.images import root_with_layers, task_image
from worksample.sandboxes.live_verification import VERIFIED, verify_live
from worksample.sandboxes.task_program import run_start
from worksample.sandboxes.task_verifier import SOLUTION, Verifier, box_for
from worksample.sandboxes.work_step_setup import copy_into_box, prepare_step

if TYPE_CHECKING:
    from worksample.store import Store

SECONDS = 3600.0
"""Default time limit of a solution, in seconds."""


def has_solution(instance: Instance, protocol: Protocol) -> bool:
    """Return whether a task contains a solution program and an image in which it can run."""
    verifier = instance.grading[protocol].settings.get("verifier") or {}
    solved = verifier.get("solution") or any(one.get("solution") for one in verifier.get("step", ()))
    return bool(solved) and instance.work.environment.image is not None


async def run_solution(
    store: Store, instance: Instance, protocol: Protocol, *, sandbox: str = "bubblewrap", author: str = "audit"
) -> Submission:
    """Run the solution program in a box with the task's image, capture the result, and commit it as a control
    submission.

    The result is captured even if the solution fails. Raises ImageError if the task has no usable image; SandboxError
    if no box can be started; and the errors of `Store.folder`.
    """
    grading, environment = instance.grading[protocol], instance.work.environment
    image = await asyncio.to_thread(task_image, environment, store.folder)
    if image is None:
        raise ImageError(
            "the reference solution needs an image to run in, but the task names none",
            where=instance.key,
            next="set image of [environment] in task.toml",
        )
    settings = {**grading.settings["verifier"], "user": "", "workdir": ""}
    verifier = Verifier(
        settings, image.root, (), Path(), environment.paths.output, Path("/nowhere"), limits=environment.limits
    )
    reference = store.folder(grading.reference)
    with scratch_folder("solution") as work:
        layer = work / "solution.tar"
        with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as tar:
            if not environment.steps:
                tar.add(reference, SOLUTION.lstrip("/"))
        held = root_with_layers(image.root, [layer])
        root = await asyncio.to_thread(held.__enter__)
        try:
            config, network = box_for(verifier, root, said=environment.paths.output)
            config = replace(config, label="solution", root=replace(config.root or root, entrypoint=root.entrypoint))
            async with (
                open_box(config, kind=sandbox) as box,
                serve_endpoints(box, network.targets() if network else {}),
            ):
                if environment.start is not None and environment.start.files is not None:
                    code = await asyncio.to_thread(store.folder, environment.start.files)
                    await run_start(box, environment.start, code, sandbox=sandbox)
                if environment.steps:
                    note, parts = await _run_steps(store, box, instance, settings["step"], reference)
                else:
                    done = await box.run(settings["solution"], timeout=FairTimeout(environment.limits.time or SECONDS))
                    note, parts = f"the solution's exit code: {_format_exit_code(done)}", {}
                captured = await capture_box(box, store.blobs, instance)
                verified = await verify_live(box, store, instance, captured.parts, sandbox=sandbox)
                parts |= {} if verified is None else {VERIFIED: verified}
        finally:
            await asyncio.to_thread(held.__exit__, None, None, None)
    submission = Submission(
        id=uuid4().hex,
        instance=instance.id,
        work=instance.work_digest,
        capture=instance.capture_digest,
        origin=Origin.CONTROL,
        entrant="control",
        at=now(),
        control="reference",
        parts={**captured.parts, **parts},
        author=author,
        note=note,
    )
    await asyncio.to_thread(store.commit, submission)
    return submission


def _format_exit_code(done: Completed) -> str:
    if done.starved:
        return "the machine was too busy"
    return "out of time" if done.timed_out else str(done.returncode)


async def _run_steps(
    store: Store, box: Box, instance: Instance, verifiers: Sequence[Mapping[str, Any]], reference: Path
) -> tuple[str, dict[str, SubmissionPart]]:
    """Run the solution of each step, one after another in the same box. Return a text with their exit codes, and the
    part `steps`.
    """
    steps, notes = StepCapture(box, store.blobs, instance), []
    commands = {one["name"]: one["solution"] for one in verifiers}
    for step in instance.work.environment.steps:
        digest = step.files.files if step.files is not None else None
        files = await asyncio.to_thread(store.folder, digest) if digest is not None else None
        if why := await prepare_step(box, step, files):
            steps.note_aborted(step.name, why)
            notes.append(f"{step.name}: {why}")
            break
        steps.begun = step.name
        if command := commands.get(step.name):
            await copy_into_box(box, reference / step.name, SOLUTION)
            done = await box.run(command, timeout=FairTimeout(step.time or SECONDS))
            notes.append(f"{step.name}: {_format_exit_code(done)}")
            await box.run(["rm", "-rf", SOLUTION])
        await steps.capture_step()
    return f"the solutions' exit codes: {', '.join(notes)}", {STEPS: await steps.part()}
