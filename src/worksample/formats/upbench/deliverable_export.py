"""Export of files beside the six tables: deliverables and attachments of jobs, in the folders that an import reads."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from worksample.files.tables.cell_values import InvalidCell
from worksample.formats.jobs.job_package import job_folder, relative_path
from worksample.records import Entry, EntryKind, Instance, Manifest, Submission, unquote_path
from worksample.store import Store
from worksample.store.error_translation import translate_os_errors

from .job_export import contract_of

ATTACHMENTS = "job attachments"
"""The folder with a subfolder for each job's attachments. The space in its name keeps it apart from submissions' ids.
"""


def write_files(
    store: Store, out: Path, submissions: Iterable[Submission], jobs: Iterable[Instance]
) -> tuple[int, int]:
    """Write the files of submissions and jobs; return (files written, files left out).

    A file is left out if no table can name it, or the store does not have it. Raises StoreFull.
    """
    written = left_out = 0
    for submission in submissions:
        part = submission.parts.get("output")
        if part is not None:
            entries = [(_name(e), e) for e in store.manifest(part.manifest).files]
            done = _write(store, out / submission.id, entries)
            written, left_out = written + done, left_out + len(entries) - done
    for job in jobs:
        entries = list(_available_attachments(job, store.manifest(job.work.inputs)))
        done = _write(store, out / ATTACHMENTS / job_folder(contract_of(job)), entries)
        written, left_out = written + done, left_out + len(entries) - done
    return written, left_out


def _available_attachments(job: Instance, inputs: Manifest) -> Iterable[tuple[str, Entry]]:
    """Yield the attachments that exist, under the names that the posting lists."""
    by_name: Mapping[str, Entry] = {_name(e): e for e in inputs.files}
    if job.about.job is None:
        yield from by_name.items()
        return
    for name in job.about.job.attachments:
        # An import drops the folders of a file if no other file has its name.
        found = by_name.get(name) or by_name.get(name.replace("\\", "/").rpartition("/")[2])
        if found is not None:
            yield name, found


def _write(store: Store, folder: Path, entries: Iterable[tuple[str, Entry]]) -> int:
    written = 0
    for name, entry in entries:
        try:
            path = folder / relative_path(name)
        except InvalidCell:
            continue
        if entry.blob is None:
            continue
        with translate_os_errors(str(path)):
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(path.name[:200] + ".part")
            shutil.copyfile(store.blobs.path(entry.blob), draft)
            draft.replace(path)
        written += 1
    return written


def entry_names(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the names of files, then the web addresses of links. A name that is not UTF-8 stays quoted."""
    links = (e for e in entries if e.kind is EntryKind.LINK and "://" in (e.target or ""))
    return (*(_name(e) for e in entries if e.kind is EntryKind.FILE), *(str(e.target) for e in links))


def _name(entry: Entry) -> str:
    try:
        return unquote_path(entry.path).decode()
    except UnicodeDecodeError:
        return entry.path
