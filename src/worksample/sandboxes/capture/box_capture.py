"""Capture of a box: freeze it, scan its output, thaw it, run the probes.

What an agent leaves behind, and anything it does to prevent the capture, counts as the agent's own outcome: as much as
possible is captured, and the rest is explained. Only a lost box and a failing machine are not the agent's doing.
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
    """Processor seconds for the output, and again for the root's changes; what was captured until then counts."""
    backstop: float = 12_000.0
    """Seconds on the clock for everything: if a busy machine needs more, the capture fails, not the agent."""
    hold: float = 30.0
    """Seconds that freezing, thawing or clearing a box may take."""


USUAL = CaptureLimits()


@dataclass(frozen=True, slots=True)
class Captured:
    """The result of a capture."""

    parts: dict[str, SubmissionPart]
    """`output`; `probes` if the instance has any, `root` if it asks for changes of the root, and `collected` if hooks
    ran before (steps run their own).
    """
    cause: Cause | None = None
    """Why the output is incomplete; None if it is complete, or if only a probe failed."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall-clock seconds of `snapshot`, `root` and `probes`."""


async def capture_parts(
    box: Box, blobs: BlobStore, instance: Instance, *, limits: CaptureLimits = USUAL
) -> dict[str, SubmissionPart]:
    """Capture a box and return only the parts; see `capture_box`."""
    return (await capture_box(box, blobs, instance, limits=limits)).parts


async def capture_box(box: Box, blobs: BlobStore, instance: Instance, *, limits: CaptureLimits = USUAL) -> Captured:
    """Capture the output folder of a box, frozen meanwhile, and then what the probes find in it.

    Never raises for what the box holds or does, nor if it is lost: what cannot be captured is a part with status and
    reason. A dead box is still scanned as far as possible. If processes keep files from being read, they are killed
    first. Raises StoreError if the blobs cannot be stored.
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
    """Freeze the box and capture the changes to its image's root; also return why they are incomplete."""
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
    """Return a scan as a part of a submission."""
    return SubmissionPart(
        manifest=found.manifest_digest,
        status=found.status,
        reason=found.reason,
        files=len(found.manifest.files),
        size=found.manifest.size,
    )


async def snapshot_output(box: Box, blobs: Sink, limits: CaptureLimits, until: float) -> Scan:
    """Scan the output of the frozen box; if the box's processes prevent that, kill them and scan again."""
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
"""Seconds before each further scan: the kernel releases what killed processes held a moment after their end."""


async def _attempt(act: Awaitable[None], seconds: float, done: str) -> str:
    """Do something to a box; return why it failed, or ""."""
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
    """Scan the folder itself, even if the agent has removed its permissions (mode 0) and we are not root."""
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
