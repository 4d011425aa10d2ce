"""Capture of a box: freeze the box, scan its output, thaw it, run the probes.

All files that an agent leaves behind, and all its actions that hinder the capture, count as the agent's own result. As
much as possible is captured, and the reason for each gap is recorded. Only a lost box and a failing machine are not
blamed on the agent.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from pathlib import Path

from worksample.box import Box
from worksample.errors import Cause, SandboxError
from worksample.files import Scan, ScanLimits, Sink, scan
from worksample.records import CaptureStatus, Instance, Manifest, SubmissionPart
from worksample.stall_tolerant_loop import steady_time
from worksample.store import put_canonical

from .collect_hooks import COLLECTED, hooks_part, run_hooks
from .probes import BlobStore, ProbeLimits, run_probes
from .root_changes import absent_part, root_changes


@dataclass(frozen=True, slots=True)
class CaptureLimits:
    """Limits of a capture."""

    scan: ScanLimits = field(default_factory=ScanLimits)
    probe: ProbeLimits = field(default_factory=ProbeLimits)
    seconds: float = 600.0
    """Maximum processor seconds to scan the output, and again to scan the changes of the root. Files that were captured
    before this limit count.
    """
    backstop: float = 12_000.0
    """Maximum wall-clock seconds of a whole capture. If a busy machine needs more time, the capture fails, and the
    agent is not blamed.
    """
    hold: float = 30.0
    """Maximum seconds to freeze, thaw or clear a box."""


USUAL = CaptureLimits()


@dataclass(frozen=True, slots=True)
class Captured:
    """The result of the capture of a box."""

    parts: dict[str, SubmissionPart]
    """Name -> part of the submission. `output` is always present. `probes` is present if the instance has probes,
    `root` if the instance asks for changes of the root, and `collected` if collect hooks ran before the capture
    (steps run their own hooks).
    """
    cause: Cause | None = None
    """Reason why the output is incomplete. None if the output is complete, even if a probe failed."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall-clock seconds of each phase: `snapshot`, `root` and `probes`."""


async def capture_parts(
    box: Box, blobs: BlobStore, instance: Instance, *, limits: CaptureLimits = USUAL
) -> dict[str, SubmissionPart]:
    """Capture a box as `capture_box` does, and return only the parts of the submission."""
    return (await capture_box(box, blobs, instance, limits=limits)).parts


async def capture_box(box: Box, blobs: BlobStore, instance: Instance, *, limits: CaptureLimits = USUAL) -> Captured:
    """Freeze a box, capture its output folder, thaw the box and capture the results of the probes.

    Neither the content nor the behaviour of the box raises an error, and neither does a lost box. If something cannot
    be captured, its part has a status and a reason. A dead box is still scanned as far as possible. If processes
    prevent files from being read, those processes are killed first. Raises StoreError if the blobs cannot be stored.
    """
    hooks = instance.capture.collect if not instance.work.environment.steps else ()
    ran = await run_hooks(box, hooks)
    start = steady_time()
    found = await snapshot_output(box, blobs, limits, start + limits.backstop)
    seconds = {"snapshot": steady_time() - start}
    parts, cause = {"output": part_of_scan(found)}, found.cause
    if ran:
        parts[COLLECTED] = await hooks_part(ran, blobs)
    if instance.capture.root:
        begun = steady_time()
        parts["root"], lacking = await capture_root(box, blobs, limits, start + limits.backstop)
        cause = cause or lacking
        seconds["root"] = steady_time() - begun
    if instance.capture.probe_names:
        begun = steady_time()
        parts["probes"] = await run_probes(box, blobs, instance, limits.probe, start + limits.backstop)
        seconds["probes"] = steady_time() - begun
    return Captured(parts, cause, seconds)


async def capture_root(
    box: Box, blobs: Sink, limits: CaptureLimits, until: float
) -> tuple[SubmissionPart, Cause | None]:
    """Freeze the box and capture the changes to its image's root. Return the part, and the reason why the changes are
    incomplete or None.
    """
    try:
        async with asyncio.timeout(limits.hold):
            await box.freeze()
        try:
            return await asyncio.to_thread(
                root_changes, box.changes_path, blobs, replace(limits.scan, seconds=limits.seconds), until
            )
        finally:
            await _attempt(box.thaw(), limits.hold, "thawed")
    except (SandboxError, TimeoutError, OSError) as error:
        reason = f"the root's changes cannot be reached: {error or type(error).__name__}"
        return await asyncio.to_thread(absent_part, blobs, reason), Cause.SANDBOX_LOST


def part_of_scan(found: Scan) -> SubmissionPart:
    """Return the result of a scan as a part of a submission."""
    return SubmissionPart(
        manifest=found.manifest_digest,
        status=found.status,
        reason=found.reason,
        files=len(found.manifest.files),
        size=found.manifest.size,
    )


async def snapshot_output(box: Box, blobs: Sink, limits: CaptureLimits, until: float) -> Scan:
    """Scan the output of the frozen box. If the box's processes prevent the scan, kill the processes and scan again."""
    found = None
    trouble = await _attempt(box.freeze(), limits.hold, "frozen")
    if not trouble:
        try:
            found = await _scan_output(box, blobs, limits, until)
        finally:
            # If the box died while frozen, the scan stays valid, and the probes report that they could not run.
            await _attempt(box.thaw(), limits.hold, "thawed")
        if found.cause is not Cause.CAPTURE_UNREADABLE:
            return found
    uncleared = await _attempt(box.clear(), limits.hold, "cleared")
    for pause in PAUSES:
        await asyncio.sleep(pause)
        again = await _scan_output(box, blobs, limits, until)
        # A second scan that ran out of time is worth less than the first.
        found = found if found is not None and again.cause is Cause.CAPTURE_TIME else again
        if uncleared or found.cause is not Cause.CAPTURE_UNREADABLE:
            break
    assert found is not None
    if trouble and uncleared:
        return _partial(found, "; ".join(filter(None, (trouble, found.reason))))
    return found


PAUSES = (0.0, 0.05, 0.5)
"""Seconds to wait before each further scan of a box whose processes were killed. The kernel needs a moment to release
the files of killed processes.
"""


async def _attempt(act: Awaitable[None], seconds: float, done: str) -> str:
    """Wait for an operation on a box, at most `seconds`. Return why the operation failed, or "" if it succeeded."""
    try:
        async with asyncio.timeout(seconds):
            await act
    except SandboxError as e:
        return f"the box could not be {done}: {e.what}"
    except TimeoutError:
        return f"the box could not be {done} within {seconds:g} seconds"
    except OSError as e:
        return f"the box could not be {done}: {e.strerror or e}"
    return ""


async def _scan_output(box: Box, blobs: Sink, limits: CaptureLimits, until: float) -> Scan:
    given = limits.scan.seconds
    seconds = limits.seconds if given is None else min(given, limits.seconds)
    within = replace(limits.scan, seconds=seconds, backstop=max(0.0, until - steady_time()))
    try:
        found = await asyncio.to_thread(_scan_folder, box.output_path, blobs, within)
    except SandboxError as e:
        manifest = Manifest()
        reason = f"the output cannot be reached: {e.what}"
        digest = await asyncio.to_thread(put_canonical, blobs, manifest.plain())
        return Scan(manifest, digest, CaptureStatus.ABSENT, reason, e.cause)
    if found.status is CaptureStatus.ABSENT and found.cause is not Cause.CAPTURE_FAILED:
        # Only the agent can have removed the folder: it submitted nothing.
        return _partial(found, found.reason)
    return found


def _partial(found: Scan, reason: str) -> Scan:
    status = CaptureStatus.PARTIAL if found.cause is not Cause.SANDBOX_LOST else found.status
    return replace(found, status=status, reason=reason)


_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC


def _scan_folder(path: Path, blobs: Sink, limits: ScanLimits) -> Scan:
    """Scan a folder even if the agent has removed all permissions of the folder (mode 0) and this process does not run
    as root.
    """
    # A /proc path of a descriptor is a link to the folder itself: it is followed only here.
    follow = 0 if path.parts[:2] == ("/", "proc") else os.O_NOFOLLOW
    try:
        anchor = os.open(path, os.O_PATH | _FOLDER | follow)
    except OSError as e:
        if not follow:
            raise SandboxError(f"the box's folder cannot be read: {e.strerror or e}", next="worksample resume") from e
        return scan(path, blobs, limits)
    try:
        way = Path(f"/proc/self/fd/{anchor}")
        mode = os.fstat(anchor).st_mode
        if not os.access(way, os.R_OK | os.X_OK):
            way.chmod(stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IXUSR)
        fd = os.open(way, os.O_RDONLY | _FOLDER)
    except OSError:
        return scan(path, blobs, limits)
    finally:
        os.close(anchor)
    try:
        return scan(fd, blobs, limits)
    finally:
        os.close(fd)
