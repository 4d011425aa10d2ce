"""Control submissions: some must score full, others must not pass. They test a grader, not an agent."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from uuid import uuid4

from worksample.errors import UsageError
from worksample.files import scan
from worksample.records import (
    Entry,
    EntryKind,
    Instance,
    Manifest,
    Origin,
    Protocol,
    Submission,
    SubmissionPart,
    now,
    quote_path,
)
from worksample.sandboxes.capture.box_capture import part_of_scan
from worksample.store import put_canonical

if TYPE_CHECKING:
    from worksample.store import Store

KINDS = ("reference", "nothing", "inputs", "empty")
ENTRANT = "control"


def control(
    store: Store, instance: Instance, kind: str, *, protocol: Protocol = Protocol.PROGRAM, author: str = "audit"
) -> Submission:
    """Commit a control submission for `instance` and return it.

    kind: `reference` (the reference as the deliverables), `nothing` (the output folder as an agent finds it, mostly
    empty), `inputs` (the inputs under their own names, and under each deliverable's name the largest input of that file
    type), `empty` (empty files with the deliverables' names). Raises UsageError for another kind, or for a protocol
    that the instance lacks.
    """
    if kind == "reference":
        manifest = store.manifest(_reference(instance, protocol))
    elif kind == "nothing":
        begins = instance.work.environment.copied_inputs
        manifest = store.manifest(instance.work.inputs) if begins else Manifest()
    elif kind == "inputs":
        manifest = _inputs(store.manifest(instance.work.inputs), _names(instance))
    elif kind == "empty":
        blob = store.blobs.put(b"")
        manifest = _tree([Entry(path=name, blob=blob) for name in _names(instance)])
    else:
        raise UsageError(f"unknown kind of control: {kind!r}", next=f"one of {', '.join(KINDS)}")
    return _commit(store, instance, kind, {"output": _part(store, manifest)}, author)


def control_case(
    store: Store,
    instance: Instance,
    name: str,
    folder: Path,
    *,
    base: Protocol | None = None,
    author: str = "audit",
) -> Submission:
    """Commit a case that the task's author wrote: `folder` with `output/` and, if the grader reads probes, `probes/`.

    base: start from the reference under this protocol; the files in `output/` replace its files.
    """
    taken = scan(folder / "output", store.blobs)
    part = part_of_scan(taken)
    if base is not None:
        below = {e.path: e for e in store.manifest(_reference(instance, base)).entries}
        part = _part(store, _tree([*(below | {e.path: e for e in taken.manifest.entries}).values()]))
    parts = {"output": part}
    if (folder / "probes").is_dir():
        parts["probes"] = part_of_scan(scan(folder / "probes", store.blobs))
    return _commit(store, instance, name, parts, author)


def _reference(instance: Instance, protocol: Protocol) -> str:
    if protocol not in instance.grading:
        has = ", ".join(instance.grading) or "none"
        raise UsageError(f"{instance.key} is not graded under {protocol.value}", next=f"one of: {has}")
    return instance.grading[protocol].reference


def _names(instance: Instance) -> list[str]:
    """Return the deliverables that are one file each, as quoted paths."""
    names = (d.name for d in instance.work.deliverables)
    return sorted({quote_path(n.encode()) for n in names if not n.endswith("/") and "*" not in n})


def _inputs(given: Manifest, names: list[str]) -> Manifest:
    entries = {e.path: e for e in given.entries}
    for name in names:
        alike = [e for e in given.files if PurePosixPath(e.path).suffix == PurePosixPath(name).suffix and e.blob]
        if alike and name not in entries:
            largest = max(alike, key=lambda e: (e.size, e.path))
            entries[name] = largest.replaced(path=name)
    return _tree(list(entries.values()))


def _tree(entries: list[Entry]) -> Manifest:
    """Build a manifest, sorted, with the folders of its entries."""
    by_path = {e.path: e for e in entries}
    for entry in entries:
        for parent in PurePosixPath(entry.path).parents:
            if str(parent) != ".":
                by_path.setdefault(str(parent), Entry(path=str(parent), kind=EntryKind.FOLDER))
    return Manifest(entries=tuple(by_path[p] for p in sorted(by_path)))


def _part(store: Store, manifest: Manifest) -> SubmissionPart:
    digest = put_canonical(store.blobs, manifest.plain())
    return SubmissionPart(manifest=digest, files=len(manifest.files), size=manifest.size)


def _commit(store: Store, instance: Instance, name: str, parts: dict[str, SubmissionPart], author: str) -> Submission:
    submission = Submission(
        id=uuid4().hex,
        instance=instance.id,
        work=instance.work_digest,
        capture=instance.capture_digest,
        origin=Origin.CONTROL,
        entrant=ENTRANT,
        at=now(),
        control=name,
        parts=parts,
        author=author,
    )
    store.commit(submission)
    return submission
