"""The stamp of a workplace's state. It names the services and versions to which the state belongs, so that a state that
the installed services cannot use is rejected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from worksample.errors import ExportError

from .service_programs import version_lines

FORMAT = 1
"""Version of the layout of a state, that is, of the folders in a state and their content."""
STAMP = "workplace.json"
"""Name of the stamp's file in the folder of a state. No service writes to this place, so no agent can change the
file.
"""
AGAIN = "copy the export again, or write it again with worksample workplace export FOLDER"
STAMP_LIMIT = 1 << 20


def write_stamp(state: Path, company: str, names: Sequence[str], today: datetime) -> None:
    """Write the stamp of a new state. `company` is the digest of the company's folder; the services' clock begins at
    `today`.
    """
    said = {"format": FORMAT, "company": company, "services": version_lines(names), "today": today.isoformat()}
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
    """Return the stamp of a state. Raises ExportError if the state has no stamp."""
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
