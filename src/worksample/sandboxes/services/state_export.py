"""Export of the state of services as evidence. The state and the last output of each service are read while its box is
frozen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from worksample.errors import Cause
from worksample.files import Scan, Sink
from worksample.records import CaptureStatus, Entry, EntryKind, Manifest, SubmissionPart
from worksample.sandboxes.capture import CaptureLimits, snapshot_output
from worksample.stall_tolerant_loop import steady_time
from worksample.store import put_canonical

from .trial_services import TrialServices


@dataclass(frozen=True, slots=True)
class ExportedPart:
    """The exported part of a submission, and the reason why the part is incomplete."""

    part: SubmissionPart
    cause: Cause | None


async def export_state(
    services: TrialServices, sink: Sink, names: Sequence[str], limits: CaptureLimits
) -> ExportedPart:
    """Export the state folders of the named services, and the last output of each service as `NAME.log`. Neither the
    content nor the behaviour of a service raises an error. Raises StoreError if the blobs cannot be stored.
    """
    until = steady_time() + limits.seconds
    found: list[Scan] = await asyncio.gather(*(snapshot_output(box, sink, limits, until) for box, _ in services.boxes))
    logs = {
        f"{one.spec.name}.log": bytes(one.printed)
        for _, inside in services.boxes
        for one in inside
        if one.spec.name in names
    }
    return await asyncio.to_thread(_build_part, found, logs, sink, frozenset(names))


def _build_part(found: Sequence[Scan], logs: dict[str, bytes], sink: Sink, names: frozenset[str]) -> ExportedPart:
    entries = [entry for scan in found for entry in scan.manifest.entries if entry.path.split("/", 1)[0] in names]
    entries += [
        Entry(path=path, kind=EntryKind.FILE, size=len(data), blob=sink.put(data)) for path, data in logs.items()
    ]
    manifest = Manifest(entries=tuple(sorted(entries, key=lambda entry: entry.path)))
    broken = [scan for scan in found if scan.status is not CaptureStatus.COMPLETE]
    part = SubmissionPart(
        manifest=put_canonical(sink, manifest.plain()),
        status=CaptureStatus.PARTIAL if broken else CaptureStatus.COMPLETE,
        reason="; ".join(scan.reason for scan in broken),
        files=len(manifest.files),
        size=manifest.size,
    )
    return ExportedPart(part, next((scan.cause for scan in broken if scan.cause is not None), None))
