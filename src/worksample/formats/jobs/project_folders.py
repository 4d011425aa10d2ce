"""Reader of a folder of projects in the layout that RLI describes (3.2): brief, inputs and the human's deliverable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from worksample.files.json_duplicate_keys import DuplicateKeyError
from worksample.files.stray_files import is_stray_file
from worksample.files.tables.encodings import marked_encoding
from worksample.files.tables.table_reader import (
    FaultyRow,
    OpenedTable,
    check_encoding,
    open_table,
    read_json,
    table_of_records,
)

BRIEFS = ("brief.md", "brief.txt", "project_brief.md", "project_brief.txt", "description.md", "README.md")
INPUTS = ("inputs", "input", "input_files", "attachments", "files")
DELIVERABLES = ("human_deliverable", "human_deliverables", "deliverable", "deliverables", "reference", "gold")
METADATA = ("metadata.json", "meta.json", "project.json")
_BRIEF_LIMIT = 4 << 20


@contextmanager
def open_jobs(path: Path, encoding: str = "", sheet: str = "") -> Iterator[OpenedTable]:
    """Open a table of jobs, or a folder with one subfolder for each project. Raises the same errors as `open_table`."""
    check_encoding(encoding)
    if path.is_dir():
        yield table_of_records(enumerate(read_projects(path), 1))
        return
    with open_table(path, encoding, sheet) as opened:
        yield opened


def read_projects(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each project folder, in order. Its `metadata.json` may give price, hours, category and other
    fields.
    """
    for entry in sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and p.name[0] not in "._"):
        metadata = _metadata(entry)
        if isinstance(metadata, str):
            yield FaultyRow(metadata)
            continue
        yield {
            **metadata,
            "contract": entry.name,
            "description": _brief(entry),
            "attachments": _files(folder, entry, INPUTS),
            "reference": _files(folder, entry, DELIVERABLES),
        }


def incomplete_projects(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the part that is absent (inputs, or the human's deliverable) -> the projects without it."""
    parts = {"attachments": f"a folder of inputs ({INPUTS[0]}/)", "reference": f"a deliverable ({DELIVERABLES[0]}/)"}
    rows = [row for row in read_projects(folder) if not isinstance(row, FaultyRow)]
    found = {what: tuple(row["contract"] for row in rows if not row[key]) for key, what in parts.items()}
    return {what: names for what, names in found.items() if names}


def _metadata(project: Path) -> dict[str, Any] | str:
    """Return the contents of a project's metadata file, or a message if it cannot be read."""
    path = _first_file(project, METADATA)
    if path is None:
        return {}
    try:
        data = path.read_bytes()
        found = read_json(data.decode(marked_encoding(data[:4096]) or "utf-8"))
    except DuplicateKeyError as e:
        return f"{project.name}/{path.name}: {e}; {e.next}"
    except (OSError, ValueError, RecursionError) as e:
        return f"{project.name}/{path.name} is not JSON: {e}"
    return found if isinstance(found, dict) else f"{project.name}/{path.name} does not hold a JSON object"


def _brief(project: Path) -> str:
    path = _first_file(project, BRIEFS)
    if path is None or path.stat().st_size > _BRIEF_LIMIT:
        return ""
    return path.read_text("utf-8-sig", errors="replace")


def _first_file(project: Path, names: tuple[str, ...]) -> Path | None:
    found = {p.name.lower(): p for p in project.iterdir() if p.is_file() and not p.is_symlink()}
    return next((found[n.lower()] for n in names if n.lower() in found), None)


def _files(folder: Path, project: Path, names: tuple[str, ...]) -> list[str]:
    """Return the files in the first existing folder of `names`, as paths relative to `folder`. Links are ignored."""
    there = {p.name.lower(): p for p in project.iterdir() if p.is_dir() and not p.is_symlink()}
    root = next((there[n] for n in names if n in there), None)
    if root is None:
        return []
    found = [Path(at) / name for at, _, files in os.walk(root) for name in files]
    return sorted(
        str(p.relative_to(folder)) for p in found if not p.is_symlink() and not is_stray_file(str(p.relative_to(root)))
    )
