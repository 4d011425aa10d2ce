"""Import of rows of `projects` as packages in a folder, and as instances in the store."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from worksample.files.tables.cell_values import InvalidCell
from worksample.formats.jobs.columns import choose_columns
from worksample.formats.jobs.filters import exclusion_tags
from worksample.formats.jobs.job_package import job_folder, known_name, with_available_files, write_package
from worksample.formats.jobs.posting import Posting, read_posting
from worksample.formats.jobs.rubric import read_rubric
from worksample.records import Criteria, Instance, Source, Task
from worksample.store import Store
from worksample.tasks import ingest, read_package

from .cell_json import criteria_cell
from .deliverable_export import ATTACHMENTS
from .tables import Row

EXCLUDED_JOBS = "marked"
"""The folder, beside the suite's packages, of jobs that UpBench excludes: by the hour, or with several milestones."""
DESCRIPTION_LIMIT = 1_000_000
"""The largest size of a description, in bytes. A brief may have 1 MiB."""
_UNCHANGED_TEXTS = {
    "contract": "contract_id", "title": "job_title", "description": "job_description", "expertise": "expertise_tier",
    "category": "category", "subcategory": "subcategory", "subsubcategory": "subsubcategory", "status": "status",
}  # fmt: skip
_NAME_KEYS = ("path", "name", "filename", "file_name", "url")


def rubric_of(cell: Any, where: str) -> Criteria:
    """Return the criteria in a cell; no criteria if it is empty. Raises InvalidCell."""
    if cell in (None, [], {}):
        return Criteria()
    try:
        return read_rubric(cell)
    except InvalidCell as e:
        raise InvalidCell(f"{where}: {e}") from None


def posting_of(row: Row, source: Source) -> Posting:
    """Return the posting in a row. Raises InvalidCell."""
    columns = choose_columns(tuple(row), "upbench")
    rest = {name: value for name, value in row.items() if name not in ("onet_tasks", "attachments")}
    values, faults = columns.read_row(rest)
    if faults:
        raise InvalidCell("; ".join(faults))
    # These texts are kept unchanged; read_row normalises them.
    values |= {name: row[column] for name, column in _UNCHANGED_TEXTS.items() if row[column] is not None}
    if "description" in values:
        values["description"] = re.sub(r"\r+\n", "\n", values["description"])
        if len(values["description"].encode()) > DESCRIPTION_LIMIT:
            raise InvalidCell(f"job_description: more than {DESCRIPTION_LIMIT:,} bytes")
    values["onet_tasks"] = _texts(row["onet_tasks"], "onet_tasks")
    names, details = _attachments(row["attachments"])
    values |= {"attachments": names, "attachment_details": details}
    amount_source = row["amount_source"]
    if amount_source is not None and amount_source not in set(Source):
        raise InvalidCell(f"amount_source: is {amount_source[:40]!r}, not one of {', '.join(Source)}")
    return read_posting(values, Source(amount_source) if amount_source else source)


def normal_row(row: Row, posting: Posting) -> Row:
    """Return the row as an export would write it."""
    lists = {name: row[name] or None for name in ("onet_tasks", "attachments")}
    priced = posting.job.amount is not None
    return {
        **row, **lists, "job_description": posting.description, "acceptance_criteria": criteria_cell(posting.criteria),
        "currency": posting.job.currency if priced else None,
        "amount_source": posting.source.value if priced or posting.hours is not None else None,
    }  # fmt: skip


def write_job(
    store: Store, posting: Posting, out: Path, files: Path, day: date, version: int, *, overwrite: bool
) -> tuple[Task, Instance, int]:
    """Write a job's package, unless it exists and `overwrite` is false, and ingest it.

    Return (task, instance, number of attachments that are missing).
    """
    home = out / EXCLUDED_JOBS if exclusion_tags(posting.job) else out
    root = home / known_name(posting, home)
    own = files / ATTACHMENTS / job_folder(posting.job.contract)
    files = own if own.is_dir() else files
    whole = with_available_files(posting, files)
    if overwrite or not root.exists():
        provenance = f"projects, {posting.job.contract}" + (f", version {version}" if version > 1 else "")
        write_package(whole, root, files, day, provenance)
    ingested = ingest(read_package(root), store.blobs)
    return ingested.task, ingested.instances[0], len(posting.attachments) - len(whole.attachments)


def _texts(cell: Any, column: str) -> tuple[str, ...]:
    if cell is None:
        return ()
    items = cell if isinstance(cell, list) else [cell]
    if not all(isinstance(item, str) for item in items):
        raise InvalidCell(f"{column}: is not a list of texts")
    return tuple(items)


def _attachments(cell: Any) -> tuple[tuple[str, ...], dict[str, Mapping[str, Any]]]:
    """Return the attachments' names, and name -> the dict that described it."""
    names: list[str] = []
    details: dict[str, Mapping[str, Any]] = {}
    for item in cell if isinstance(cell, list) else [] if cell is None else [cell]:
        if isinstance(item, str) and item:
            names.append(item)
            continue
        name = next((item[k] for k in _NAME_KEYS if item.get(k)), None) if isinstance(item, dict) else None
        plain = isinstance(item, dict) and all(isinstance(v, str | int | float | bool) for v in item.values())
        if not isinstance(name, str) or not plain:
            raise InvalidCell("attachments: is not a list of names, nor of tables with a name and plain values")
        names.append(name)
        details[name] = item
    if len(set(names)) < len(names):
        raise InvalidCell("attachments: a name is listed twice")
    return tuple(names), details
