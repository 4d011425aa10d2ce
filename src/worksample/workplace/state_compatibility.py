"""The stamp of a state: which services it belongs to, and checks that reject a state that these services cannot use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worksample.errors import ExportError

from .service_programs import version_lines

FORMAT = 1
"""Version of the layout of a state: which folders it has, and what lies in them."""
STAMP = "workplace.json"
"""File in a state's folder. No service writes there, so no agent can."""
AGAIN = "copy the export again, or write it again with worksample workplace export FOLDER"
STAMP_LIMIT = 1 << 20


def write_stamp(state: Path, company: str, names: Sequence[str]) -> None:
    """Write the stamp of a new state. `company`: digest of its folder."""
    said = {"format": FORMAT, "company": company, "services": version_lines(names)}
    (state / STAMP).write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def require_state(state: Path, names: Sequence[str], *, where: str = "export") -> None:
    """Raise ExportError if these services, as installed on this machine, cannot start with a state."""
    said = read_stamp(state, where=where)
    if said.get("format") != FORMAT:
        raise _of_another_version(where, f"its format is {said.get('format')!r}, and this version's is {FORMAT}")
    kept = said.get("services")
    if not isinstance(kept, dict):
        raise ExportError(f"the file {STAMP} of the saved state lists no services", where=where, next=AGAIN)
    here = version_lines(names)
    if lacks := sorted(set(names) - set(kept)):
        raise ExportError(
            f"the state has no data of the services {', '.join(lacks)}",
            where=where,
            next="leave these services out of --services",
        )
    if other := [
        f"{kept[name]}, but this machine has {here[name]}" for name in sorted(here) if kept[name] != here[name]
    ]:
        raise _of_another_version(where, "; ".join(f"it is of {one}" for one in other))
    if gone := [name for name in sorted(names) if not (state / name).is_dir()]:
        raise ExportError(
            f"the state is incomplete: the folders {', '.join(gone)} are missing", where=where, next=AGAIN
        )


def read_stamp(state: Path, *, where: str = "export") -> Mapping[str, Any]:
    """Return a state's stamp. Raises ExportError if it has none."""
    path = state / STAMP
    try:
        if path.is_symlink() or path.stat().st_size > STAMP_LIMIT:
            raise ValueError
        said = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        raise ExportError(
            f"the state is incomplete or from an old version: {STAMP} cannot be read", where=where, next=AGAIN
        ) from None
    if not isinstance(said, dict):
        raise ExportError(f"{STAMP} is not a JSON object", where=where, next=AGAIN)
    return said


def _of_another_version(where: str, why: str) -> ExportError:
    return ExportError(
        f"the state was made by another version: {why}", where=where, next="use the version of Worksample that made it"
    )
