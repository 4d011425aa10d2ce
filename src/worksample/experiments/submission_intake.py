"""Intake of work that was done elsewhere, by a person or by an agent that this platform did not run."""

from __future__ import annotations

import unicodedata
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from worksample.errors import CaptureError, UsageError
from worksample.files import ScanLimits, Sink, scan, unzip
from worksample.files.scratch_folder import scratch_folder
from worksample.files.stray_files import is_stray_file, stray_files_note
from worksample.records import (
    CaptureStatus,
    EntryKind,
    Instance,
    Manifest,
    Origin,
    Reported,
    Submission,
    SubmissionPart,
    now,
)
from worksample.records.closed_trial import submission_record
from worksample.sandboxes.capture.box_capture import part_of_scan
from worksample.store import put_canonical

if TYPE_CHECKING:
    from worksample.store import Store

UNKNOWN = Reported()
USUAL = ScanLimits()
_NAMED = 5
"""Maximum number of deliverables that a message names."""
_PACKED = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar")
_DOCUMENTS = frozenset((
    ".docx", ".docm", ".xlsx", ".xlsm", ".pptx", ".pptm", ".odt", ".ods", ".odp", ".odg", ".epub", ".3mf", ".jar",
    ".whl", ".apk",
))  # fmt: skip
"""Suffixes of document files that are technically ZIP archives but count as one deliverable."""


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
    """Commit a folder or ZIP archive as a submission for `instance`, and return the submission.

    If all files are in one folder, and no deliverable's path names this folder, the content of the folder counts. Files
    that desktops, editors and archivers leave (`__MACOSX`, `.DS_Store`, `Thumbs.db`) are left out. The submission's
    note mentions both changes.

    `at` is the time at which the work was done, with a time zone; the default is the present time. Cost and minutes are
    unknown unless `reported` has them. `experiment` is the id of the experiment whose rounds judge the work; None means
    that the work belongs to no experiment.

    Raises UsageError if an argument is wrong, or if the work has no file and the task asks for files. Raises
    CaptureError if an archive is damaged or missing, if a file cannot be read, or if the work is too large.
    """
    if not entrant.strip():
        raise UsageError("a submission needs an entrant", next="worksample submit --entrant NAME")
    if origin not in (Origin.PERSON, Origin.EXTERNAL):
        raise UsageError(
            f"work can be handed in by a person or an external agent, not by a {origin.value}",
            next="pass Origin.PERSON or Origin.EXTERNAL",
        )
    refuse_future_date(at)
    part, note = inspect_work(instance, path, store.blobs)
    submission = submission_record(
        instance,
        id or uuid4().hex,
        origin,
        entrant,
        {"output": part},
        at or now(),
        experiment=experiment,
        reported=reported,
        author=author or entrant,
        note=note,
    )
    store.commit(submission)
    return submission


def refuse_future_date(at: datetime | None) -> None:
    """Raise UsageError if a date is in the future in every time zone."""
    if at is not None and at > now() + timedelta(days=1):
        raise UsageError(
            f"the date of the work, {at:%Y-%m-%d}, is in the future", next="worksample submit --date YYYY-MM-DD"
        )


def inspect_work(instance: Instance, path: Path, sink: Sink, limits: ScanLimits = USUAL) -> tuple[SubmissionPart, str]:
    """Return the part and the note that `hand_in` would store for a folder or archive. With a `HashSink`, nothing is
    stored.
    """
    if path.is_dir():
        found = scan(path.resolve(), sink, limits)
    elif path.is_file():
        _check_archive(path)
        with scratch_folder("archive") as place:
            folder = place / "unpacked"
            unzip(path, folder, limits)
            found = scan(folder, sink, limits)
    else:
        raise UsageError("there is no such folder or archive", where=str(path), next="worksample submit PATH ...")
    if found.status is not CaptureStatus.COMPLETE:
        raise CaptureError(found.reason, where=str(path), cause=found.cause, next="hand in less, or fix the named file")
    manifest, notes = tidy(found.manifest, instance)
    inner = _wrapping_folder(manifest, instance)
    if inner:
        start = len(inner) + 1
        kept = tuple(e.replaced(path=e.path[start:]) for e in manifest.entries if e.path != inner)
        manifest, notes = Manifest(entries=kept), [f"taken from the only folder, {inner}", *notes]
    if not manifest.files and instance.work.deliverables:
        left = f" ({'; '.join(notes)})" if notes else ""
        raise UsageError(f"no file was handed in{left}", where=str(path), next=_what_is_asked(instance))
    if not notes:
        return part_of_scan(found), ""
    part = SubmissionPart(manifest=put_canonical(sink, manifest.plain()), files=len(manifest.files), size=manifest.size)
    return part, "; ".join(notes)


def _what_is_asked(instance: Instance) -> str:
    names = [d.name for d in instance.work.deliverables]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"hand in a folder or a ZIP archive with {', '.join(names[:_NAMED])}{more}"


def _check_archive(path: Path) -> None:
    """Raise CaptureError if a file is not a ZIP archive, or if it is a document that is technically a ZIP archive."""
    with path.open("rb") as file:
        begins = file.read(4)
    into = "put the file into a folder, and hand in the folder"
    if not (begins.startswith(b"PK") or zipfile.is_zipfile(path)):
        packed = path.name.lower().endswith(_PACKED)
        raise CaptureError(
            "the file is not a ZIP archive; work is handed in as a folder or a ZIP archive", where=str(path),
            next="unpack it, and hand in the folder" if packed else into,
        )  # fmt: skip
    if path.suffix.lower() in _DOCUMENTS:
        raise CaptureError(
            "the file is a document, not an archive; work is handed in as a folder or a ZIP archive",
            where=str(path),
            next=into,
        )


def tidy(manifest: Manifest, instance: Instance) -> tuple[Manifest, list[str]]:
    """Leave out files that desktops, editors and archivers added to the work. Return the remaining manifest, and
    descriptions of what was left out.

    Paths that a deliverable names are never left out. macOS writes `é` in file names as a letter and an accent. Such
    names are normalised to one character, as briefs and graders write them, unless another file already has the
    normalised name.
    """
    named = {d.name for d in instance.work.deliverables}
    left = {e.path for e in manifest.entries if is_stray_file(e.path) and e.path not in named}
    kept = [e for e in manifest.entries if e.path not in left]
    files = [e.path for e in manifest.entries if e.path in left and e.kind is not EntryKind.FOLDER]
    there, notes = {e.path for e in kept}, [note] if (note := stray_files_note(files)) else []
    changed = 0
    for n, entry in enumerate(kept):
        plain = unicodedata.normalize("NFC", entry.path)
        if plain != entry.path and plain not in there:
            kept[n], changed = entry.replaced(path=plain), changed + 1
            there.add(plain)
    if changed:
        notes.append(f"{changed} names with separate accents, as macOS writes them, were composed")
    if not left and not changed:
        return manifest, []
    return Manifest(entries=tuple(sorted(kept, key=lambda e: e.path))), notes


def _wrapping_folder(manifest: Manifest, instance: Instance) -> str:
    """Return the name of the folder that contains all of the work. Return "" if no single folder does, or if a
    deliverable's path names the folder.
    """
    top = [e for e in manifest.entries if "/" not in e.path]
    if len(top) != 1 or top[0].kind is not EntryKind.FOLDER or not instance.work.deliverables:
        return ""
    named = {d.name.split("/")[0] for d in instance.work.deliverables}
    return "" if top[0].path in named or any("*" in n for n in named) else top[0].path
