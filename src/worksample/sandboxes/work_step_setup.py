"""Preparation of a box for a step of a task: copy the step's files into the working folder, run `setup.sh`, and wait
for a health check.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .health_check import health_failure

if TYPE_CHECKING:
    from worksample.box import Box
    from worksample.records import StepSpec

SETUP = "setup.sh"
SETUP_SECONDS = 600.0
_SAID = 500


async def prepare_step(box: Box, step: StepSpec, files: Path | None) -> str:
    """Prepare the box for a step. Return "" if the step can begin, otherwise the reason why it cannot. `files` is a
    folder that is copied into the working folder of the image.

    Raises SandboxError if the box was lost.
    """
    workdir = (box.config.root.workdir if box.config.root else "") or "/"
    if files is not None:
        try:
            await copy_into_box(box, files, workdir)
        except OSError as error:
            return f"its files cannot be copied to {workdir}: {error.strerror or error}"
        if (files / SETUP).is_file():
            done = await box.run(["bash", f"{workdir.rstrip('/')}/{SETUP}"], cwd=workdir, timeout=SETUP_SECONDS)
            if done.timed_out or done.returncode:
                how = "did not end" if done.timed_out else f"ended with exit code {done.returncode}"
                return f"{SETUP} {how}: {done.stderr.decode('utf-8', 'replace').strip()[-_SAID:]}"
    if step.health is None:
        return ""
    command, timeout = step.health.command, step.health.timeout

    async def look() -> str | None:
        done = await box.run(["sh", "-c", command], cwd=workdir, timeout=timeout)
        if done.timed_out:
            return f"no answer within {timeout:g} s"
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        return (said or f"exit status {done.returncode}") if done.returncode else None

    return await health_failure(step.health, look)


async def copy_into_box(box: Box, folder: Path, target: str) -> None:
    """Copy the files of a folder on the host to the folder `target` in the box, and replace existing files. Raises
    OSError if a file cannot be written; SandboxError if the box is lost.
    """
    for path, mode in await asyncio.to_thread(lambda: list(_files(folder))):
        data = await asyncio.to_thread((folder / path).read_bytes)
        await box.write(f"{target.rstrip('/')}/{path}", data, mode)


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix(), 0o755 if path.stat().st_mode & 0o100 else 0o644
