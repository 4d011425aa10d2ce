"""Take in work that was done elsewhere: by a person, or by an agent that this platform did not run."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from worksample.errors import CaptureError, UsageError
from worksample.files import ScanLimits, Sink, scan, unzip
from worksample.files.scratch import scratch
from worksample.records import (
    CaptureStatus,
    EntryKind,
    Instance,
    Manifest,
    Origin,
    Part,
    Reported,
    Submission,
    canonical,
    now,
)

from .capture import part_of

if TYPE_CHECKING:
    from worksample.store import Store

UNKNOWN = Reported()
USUAL = ScanLimits()


def hand_in(
    store: Store,
    instance: Instance,
    path: Path,
    *,
    entrant: str,
    origin: Origin = Origin.EXTERNAL,
    at: datetime | None = None,
    reported: Reported = UNKNOWN,
    author: str = "",
    id: str | None = None,
    experiment: str | None = None,
) -> Submission:
    """Commit a folder or ZIP archive as a submission for `instance` and return it.

    Where everything lies in one folder that no deliverable names, that folder's contents count, and the note says so.
    `at` is when the work was done (now where it is not given, with its zone); cost and minutes stay unknown unless
    reported. `experiment`: whose rounds judge it; by default it has one of its own. Raises UsageError, and CaptureError
    where the archive is unsound, something cannot be read, or more was handed in than is taken.
    """
    if not entrant.strip():
        raise UsageError("a submission needs an entrant", next="worksample submit --entrant NAME")
    if origin not in (Origin.PERSON, Origin.EXTERNAL):
        raise UsageError(
            f"what is handed in comes from a person or an external agent, not from a {origin.value}",
            next="pass Origin.PERSON or Origin.EXTERNAL",
        )
    refuse_ahead(at)
    part, note = look_at(instance, path, store.blobs)
    submission = Submission(
        id=id or uuid4().hex,
        instance=instance.id,
        work=instance.work_digest,
        capture=instance.capture_digest,
        experiment=experiment,
        origin=origin,
        entrant=entrant,
        at=at or now(),
        parts={"output": part},
        reported=reported,
        author=author or entrant,
        note=note,
    )
    store.commit(submission)
    return submission


def refuse_ahead(at: datetime | None) -> None:
    """UsageError for work of a day that has not come in any zone: it is no work yet, or a slip of the pen."""
    if at is not None and at > now() + timedelta(days=1):
        raise UsageError(f"done on {at:%Y-%m-%d}, which is in the future", next="worksample submit --date YYYY-MM-DD")


def look_at(instance: Instance, path: Path, sink: Sink, limits: ScanLimits = USUAL) -> tuple[Part, str]:
    """What of a folder or archive would be handed in, and a note; into a `HashSink` nothing is kept. As `hand_in`."""
    if path.is_dir():
        found = scan(path.resolve(), sink, limits)
    elif path.is_file():
        with scratch("archive") as place:
            folder = place / "unpacked"
            unzip(path, folder, limits)
            found = scan(folder, sink, limits)
    else:
        raise UsageError("there is no such folder or archive", where=str(path), next="worksample submit PATH ...")
    if found.status is not CaptureStatus.COMPLETE:
        raise CaptureError(found.reason, where=str(path), cause=found.cause, next="hand in less, or fix what is named")
    inner = _wrapping(found.manifest, instance)
    if not inner:
        return part_of(found), ""
    start = len(inner) + 1
    kept = tuple(e.replaced(path=e.path[start:]) for e in found.manifest.entries if e.path != inner)
    manifest = Manifest(entries=kept)
    part = Part(manifest=sink.put(canonical(manifest.plain())), files=len(manifest.files), size=manifest.size)
    return part, f"taken from the only folder, {inner}"


def _wrapping(manifest: Manifest, instance: Instance) -> str:
    """The one folder that holds everything, or "" where there is none or a deliverable asks for it."""
    top = [e for e in manifest.entries if "/" not in e.path]
    if len(top) != 1 or top[0].kind is not EntryKind.FOLDER or not instance.work.deliverables:
        return ""
    named = {d.name.split("/")[0] for d in instance.work.deliverables}
    return "" if top[0].path in named or any("*" in n for n in named) else top[0].path
