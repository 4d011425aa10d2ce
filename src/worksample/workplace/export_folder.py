"""Exports of a workplace: a folder with the state of its services. The folder can be copied. An incomplete folder is
rejected on import.

    EXPORT/state/           the services' databases and folders
    EXPORT/accounts.json    everybody's password, so that the workplace can continue with the same passwords
    EXPORT/export.json      a digest of each file; written last
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from worksample.errors import ExportError, UsageError
from worksample.fault_injection import failpoint

from .seeds import Seed, copy_state
from .state_compatibility import AGAIN, read_stamp, require_state

LIST, STATE, ACCOUNTS = "export.json", "state", "accounts.json"
FORMAT = 1


def write_export(state: Path, accounts: Mapping[str, str], to: Path) -> int:
    """Write an export to the folder `to` and return its number of files. The folder appears complete or not at all.
    Raises UsageError if the folder exists.

    `state` is the state of frozen services. An agent may have written it, so links and devices are left out.
    """
    if to.exists() or to.is_symlink():
        raise UsageError("the folder exists already", where=str(to), next="name another folder")
    part = to.with_name(f".{to.name}.part-{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True, mode=0o700)
    copy_state(state, part)
    failpoint("export.state")
    (part / ACCOUNTS).write_text(json.dumps(dict(accounts), indent=1) + "\n", encoding="utf-8")
    (part / ACCOUNTS).chmod(0o600)
    files = dict(_digests(part))
    (part / LIST).write_text(json.dumps({"format": FORMAT, "files": files}, indent=1) + "\n", encoding="utf-8")
    failpoint("export.listed")
    part.rename(to)
    return len(files)


def is_export(folder: Path) -> bool:
    """Return whether a folder looks like an export, complete or incomplete."""
    return (folder / LIST).exists() or ((folder / STATE).is_dir() and not (folder / "company.toml").exists())


def read_export(folder: Path) -> tuple[Seed, tuple[str, ...]]:
    """Return the seed in an export, and the names of its services. Raises ExportError if a file is missing, changed or
    unexpected, or if an incompatible version of the platform made the export.
    """
    where = str(folder)
    try:
        said = json.loads((folder / LIST).read_bytes())
    except (OSError, ValueError, RecursionError):
        raise ExportError(f"the export is incomplete: {LIST} cannot be read", where=where, next=AGAIN) from None
    if not isinstance(said, dict) or said.get("format") != FORMAT or not isinstance(said.get("files"), dict):
        raise ExportError(
            "the export was made by another version", where=where, next="use the version of Worksample that made it"
        )
    found = dict(_digests(folder))
    for name in sorted(found.keys() | said["files"].keys()):
        if name not in found:
            raise ExportError(f"the export is incomplete: {name} is missing", where=where, next=AGAIN)
        if found[name] != said["files"].get(name):
            raise ExportError(f"{name} was changed after the export", where=where, next=AGAIN)
    services: Sequence[str] = tuple(read_stamp(folder / STATE, where=where).get("services", ()))
    require_state(folder / STATE, services, where=where)
    return Seed(folder / STATE, json.loads((folder / ACCOUNTS).read_bytes())), tuple(services)


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name != LIST and (path.is_symlink() or not path.is_dir()):
            link = path.is_symlink() or not path.is_file()
            yield name, "no file" if link else hashlib.sha256(path.read_bytes()).hexdigest()
