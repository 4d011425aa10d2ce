"""Verification of what an agent left running: the task's verifier runs when the work ends, while the agent's box still
runs, and its result is a part of the submission.

The verifier has a box of its own over the agent's captured root, as any verifier. It finds the ports on which the
agent's programs listen at its own loopback, and nothing else of the agent's box. The result cannot be made again, so
its grade is marked as not regradable; another verifier needs new work.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.box import Box
from worksample.errors import Cause, GraderError, SandboxError
from worksample.records import (
    CaptureStatus,
    Entry,
    Grading,
    Instance,
    Manifest,
    Submission,
    SubmissionPart,
    canonical,
    digest_of,
    now,
)
from worksample.store import put_canonical

from .capture import ROOT_LAYER
from .images import task_image
from .live_ports import find_live_ports
from .task_verifier import OUTPUT, Verifier, run_verifier

if TYPE_CHECKING:
    from worksample.store import Store

VERIFIED, ABOUT = "verified", "verified.json"
"""Name of the submission's part, and of the file in it that says how the verifier ended."""
SECONDS = 600.0
"""Time limit of a verifier that names none, in seconds."""
_RUN_AGAIN = "worksample run, for a submission that the verifier sees while its programs run"


def is_live(settings: Mapping[str, Any]) -> bool:
    """Return whether a grading's settings say that its verifier looks at what the agent left running."""
    return bool((settings.get("verifier") or {}).get("live"))


def live_grading(instance: Instance) -> Grading | None:
    """Return the grading of an instance whose verifier looks at what the agent left running; None if there is none."""
    return next((one for one in instance.grading.values() if is_live(one.settings)), None)


@dataclass(frozen=True, slots=True)
class KeptVerification:
    """The result of a verifier that ran while the agent's box still ran."""

    about: Mapping[str, Any]
    stdout: bytes = b""
    stderr: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)


async def verify_live(
    box: Box, store: Store, instance: Instance, parts: Mapping[str, SubmissionPart], *, sandbox: str
) -> SubmissionPart | None:
    """Run the verifier of an instance beside the agent's box, and return its result as a part of the submission. Return
    None if no verifier of the instance looks at running programs.

    A failure is recorded in the part and raises no error, except StoreError. parts: the captured parts.
    """
    grading = live_grading(instance)
    root = parts.get("root")
    if grading is None or root is None or root.status is CaptureStatus.ABSENT:
        return None
    image = await asyncio.to_thread(task_image, instance.work.environment, store.folder)
    if image is None:
        return None

    def prepare() -> Verifier:
        return Verifier(
            settings=grading.settings["verifier"],
            root=image.root,
            layers=(store.folder(root.manifest) / ROOT_LAYER,),
            grader=store.folder(grading.grader),
            output=instance.work.environment.paths.output,
            delivered=store.folder(parts["output"].manifest),
            limits=instance.work.environment.limits,
        )

    about: dict[str, Any] = {"verifier": _identity(grading), "regradable": False, "at": now().isoformat()}
    files: dict[str, bytes] = {}
    try:
        live = await find_live_ports(box)
        about["ports"] = list(live.ports)
        verifier = await asyncio.to_thread(prepare)
        held = verifier.place()
        place = await asyncio.to_thread(held.__enter__)
        try:
            seconds = float(verifier.settings.get("timeout") or grading.settings.get("timeout") or SECONDS)
            ran = await run_verifier(verifier, place, sandbox, seconds, live)
        finally:
            await asyncio.to_thread(held.__exit__, None, None, None)
        about |= {"exit": None if ran.done.timed_out else ran.done.returncode, "seconds": round(ran.done.seconds, 3)}
        about |= {"connections": ran.contacts} if ran.contacts else {}
        files = {**ran.files, "stdout": ran.done.stdout[-OUTPUT // 8 :], "stderr": ran.done.stderr[-OUTPUT // 8 :]}
    except SandboxError as error:
        about["failed"] = error.what[:2000]
    return await asyncio.to_thread(_part, store, {ABOUT: canonical(about), **files})


def _identity(grading: Grading) -> str:
    """Return the digest of everything by which another verifier would give another result."""
    return digest_of({"settings": grading.settings, "grader": grading.grader})


def _part(store: Store, files: Mapping[str, bytes]) -> SubmissionPart:
    entries = [Entry(path=name, size=len(data), blob=store.blobs.put(data)) for name, data in sorted(files.items())]
    manifest = Manifest(entries=tuple(entries))
    return SubmissionPart(
        manifest=put_canonical(store.blobs, manifest.plain()), status=CaptureStatus.COMPLETE, files=len(entries),
        size=manifest.size,
    )  # fmt: skip


def kept_verification(submission: Submission, grading: Grading, folder: Callable[[str], Path]) -> KeptVerification:
    """Return the result that a verifier had while the agent's box still ran.

    Raises GraderError if the submission has none, if the verifier has changed since, or if it could not be run.
    """
    part = submission.parts.get(VERIFIED)
    if part is None:
        what = "the verifier looks at programs that the agent left running, and of this submission none run"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=_RUN_AGAIN)
    root = folder(part.manifest)
    about = json.loads((root / ABOUT).read_bytes())
    if about["verifier"] != _identity(grading):
        what = "the verifier has changed since it looked at the programs that the agent left running"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=_RUN_AGAIN)
    if "failed" in about:
        what = f"the verifier could not be run while the agent's programs ran: {about['failed']}"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=_RUN_AGAIN)
    files = {path.name: path.read_bytes() for path in root.iterdir() if path.name != ABOUT}
    return KeptVerification(about, files.pop("stdout", b""), files.pop("stderr", b""), files)
