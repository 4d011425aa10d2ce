"""A task's own solution, run where an agent would work: what it leaves is the control that must score full."""

from __future__ import annotations

import asyncio
import tarfile
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

from worksample.box import open_box
from worksample.endpoints import serving
from worksample.errors import ImageError
from worksample.images import changed, image_of
from worksample.records import Instance, Origin, Protocol, Submission, now
from worksample.submissions import take

from .verifying import SOLUTION, Verifier, box_for

if TYPE_CHECKING:
    from worksample.store import Store

SECONDS = 3600.0
"""That a solution has where the work has no limit."""


def has_solution(instance: Instance, protocol: Protocol) -> bool:
    """Whether a task brings a program that solves it."""
    verifier = instance.grading[protocol].settings.get("verifier") or {}
    return bool(verifier.get("solution")) and instance.work.environment.image is not None


async def solve(
    store: Store, instance: Instance, protocol: Protocol, *, sandbox: str = "bubblewrap", author: str = "audit"
) -> Submission:
    """Run the solution in a box over the work's image, take in what it leaves, and commit that as a control.

    A solution that fails leaves what it leaves. Raises ImageError, SandboxError, and what `Store.folder` does.
    """
    grading, environment = instance.grading[protocol], instance.work.environment
    image = await asyncio.to_thread(image_of, environment, store.folder)
    if image is None:
        raise ImageError("there is no image to run the solution in", where=instance.key)
    settings = {**grading.settings["verifier"], "user": "", "workdir": ""}
    verifier = Verifier(
        settings, image.root, (), Path(), environment.paths.output, Path("/nowhere"), limits=environment.limits
    )
    with TemporaryDirectory(prefix="worksample-solution-") as work:
        layer = Path(work) / "solution.tar"
        with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as tar:
            tar.add(store.folder(grading.reference), SOLUTION.lstrip("/"))
        held = changed(image.root, [layer])
        root = await asyncio.to_thread(held.__enter__)
        try:
            config, network = box_for(verifier, root, said=environment.paths.output)
            config = replace(config, label="solution")
            async with open_box(config, kind=sandbox) as box, serving(box, network.targets() if network else {}):
                done = await box.run(settings["solution"], timeout=environment.limits.time or SECONDS)
                captured = await take(box, store.blobs, instance)
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
        parts=captured.parts,
        author=author,
        note=f"the solution's exit code: {'out of time' if done.timed_out else done.returncode}",
    )
    await asyncio.to_thread(store.commit, submission)
    return submission
