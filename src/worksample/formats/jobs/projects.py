"""A folder of projects as RLI's are described (3.2): each with its brief, its inputs and the human's deliverable."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worksample.errors import ImportFailed

BRIEFS = ("brief.md", "brief.txt", "project_brief.md", "project_brief.txt", "description.md", "README.md")
INPUTS = ("inputs", "input", "input_files", "attachments", "files")
DELIVERABLES = ("human_deliverable", "human_deliverables", "deliverable", "deliverables", "reference", "gold")
METADATA = ("metadata.json", "meta.json", "project.json")
AGAIN = "correct the file, then run the same command again"
_BRIEF_LIMIT = 4 << 20


def read_projects(folder: Path) -> Iterator[dict[str, Any]]:
    """A row for each folder, in order; `metadata.json` in it may say price, hours, category and the like."""
    for entry in sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and p.name[0] not in "._"):
        yield {
            **_metadata(entry),
            "contract": entry.name,
            "description": _brief(entry),
            "attachments": _files(folder, entry, INPUTS),
            "reference": _files(folder, entry, DELIVERABLES),
        }


def _metadata(project: Path) -> dict[str, Any]:
    path = _first(project, METADATA)
    if path is None:
        return {}
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as e:
        raise ImportFailed(f"not JSON: {e}", where=str(path), next=AGAIN) from e
    if not isinstance(found, dict):
        raise ImportFailed("does not hold a JSON object", where=str(path), next=AGAIN)
    return found


def _brief(project: Path) -> str:
    path = _first(project, BRIEFS)
    if path is None or path.stat().st_size > _BRIEF_LIMIT:
        return ""
    return path.read_text("utf-8-sig", errors="replace")


def _first(project: Path, names: tuple[str, ...]) -> Path | None:
    found = {p.name.lower(): p for p in project.iterdir() if p.is_file() and not p.is_symlink()}
    return next((found[n.lower()] for n in names if n.lower() in found), None)


def _files(folder: Path, project: Path, names: tuple[str, ...]) -> list[str]:
    """Paths of the files in the first of these folders that is there, relative to the whole; links are left alone."""
    there = {p.name.lower(): p for p in project.iterdir() if p.is_dir() and not p.is_symlink()}
    root = next((there[n] for n in names if n in there), None)
    if root is None:
        return []
    found = [Path(at) / name for at, _, files in os.walk(root) for name in files]
    return sorted(str(p.relative_to(folder)) for p in found if not p.is_symlink())
