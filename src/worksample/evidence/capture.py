"""Take in what an agent left: freeze, scan the output, thaw, probe."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from worksample.box import Box
from worksample.errors import Cause, SandboxError
from worksample.files import Scan, ScanLimits, Sink, scan
from worksample.records import CaptureStatus, Instance, Manifest, Part, canonical

from .probe import ProbeLimits, Shelf, run_probes


@dataclass(frozen=True, slots=True)
class CaptureLimits:
    scan: ScanLimits = field(default_factory=ScanLimits)
    probe: ProbeLimits = field(default_factory=ProbeLimits)


USUAL = CaptureLimits()


@dataclass(frozen=True, slots=True)
class Captured:
    parts: dict[str, Part]
    """`output`, and `probes` where the instance has any."""
    cause: Cause | None = None
    """Why the output is not complete; None where it is, or where only a probe failed."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall-clock seconds of `snapshot` and `probes`."""


async def capture(box: Box, blobs: Shelf, instance: Instance, *, limits: CaptureLimits = USUAL) -> dict[str, Part]:
    """The parts of `take`."""
    return (await take(box, blobs, instance, limits=limits)).parts


async def take(box: Box, blobs: Shelf, instance: Instance, *, limits: CaptureLimits = USUAL) -> Captured:
    """Take in the output folder of a box, frozen meanwhile, and then what the probes find in it.

    Never raises for what the box holds or does, nor where it is lost: what cannot be had is a part with status and
    reason. A box that is dead is still scanned as far as it can be. Raises StoreError where the blobs cannot be kept.
    """
    start = time.monotonic()
    found = await _snapshot(box, blobs, limits.scan)
    seconds = {"snapshot": time.monotonic() - start}
    parts = {"output": part_of(found)}
    if instance.capture.probe_names:
        start = time.monotonic()
        parts["probes"] = await run_probes(box, blobs, instance, limits.probe)
        seconds["probes"] = time.monotonic() - start
    return Captured(parts, found.cause, seconds)


def part_of(found: Scan) -> Part:
    """A scan as a part of a submission."""
    return Part(
        manifest=found.manifest_digest,
        status=found.status,
        reason=found.reason,
        files=len(found.manifest.files),
        size=found.manifest.size,
    )


async def _snapshot(box: Box, blobs: Sink, limits: ScanLimits) -> Scan:
    frozen, trouble = False, ""
    try:
        await box.freeze()
        frozen = True
    except SandboxError as e:
        trouble = f"the box could not be frozen: {e.what}"
    try:
        path = box.output_path
        found = await asyncio.to_thread(_scan, path, blobs, limits)
    except SandboxError as e:
        return _nothing(blobs, e)
    finally:
        if frozen:
            await _thaw(box)
    if not trouble:
        return found
    status = CaptureStatus.PARTIAL if found.status is CaptureStatus.COMPLETE else found.status
    reason = "; ".join(filter(None, (trouble, found.reason)))
    return Scan(found.manifest, found.manifest_digest, status, reason, found.cause)


async def _thaw(box: Box) -> None:
    try:
        await box.thaw()
    except SandboxError:
        # The box died while it was frozen. What was scanned stays; the probes will say that they could not run.
        return


def _nothing(blobs: Sink, e: SandboxError) -> Scan:
    manifest = Manifest()
    reason = f"the output cannot be reached: {e.what}"
    return Scan(manifest, blobs.put(canonical(manifest.plain())), CaptureStatus.ABSENT, reason, e.cause)


def _scan(path: Path, blobs: Sink, limits: ScanLimits) -> Scan:
    if path.parts[:2] != ("/", "proc"):
        return scan(path, blobs, limits)
    # A descriptor's way is a link to the very folder: followed once, here, and nowhere else.
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as e:
        return _nothing(blobs, SandboxError(e.strerror or str(e)))
    try:
        return scan(fd, blobs, limits)
    finally:
        os.close(fd)
