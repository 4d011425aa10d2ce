"""Instances that the function `load` of a task's `task.py` returned, kept in the package's folder `loaded/`.

loaded/instances.json       a table for each instance, with the keys of [[instance]]
loaded/NAME/                brief.md, inputs/ and reference/

`worksample task load` writes the folder. Reading a package executes nothing.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worksample.errors import ForeignInputError, ManifestError
from worksample.files.config_files import Faults
from worksample.files.untrusted.json_limits import JsonLimits, read_json
from worksample.records import path_fault, quote_path

LOADED, TABLES = "loaded", "instances.json"
_LIMITS = JsonLimits(size=64 << 20, values=400_000, depth=32)
_FOLDERS = ("inputs", "reference")


def with_loaded(data: dict[str, Any], root: Path, faults: Faults) -> dict[str, Any]:
    """Return the data of a `task.toml` with the loaded instances after its own. An unreadable file is a fault."""
    path = root / LOADED / TABLES
    if not path.is_file() or path.is_symlink():
        return data
    try:
        tables = read_json(path.read_bytes(), _LIMITS, f"{LOADED}/{TABLES}")
    except (ForeignInputError, OSError) as error:
        faults.add(f"{LOADED}/{TABLES}", "", str(error), "what worksample task load writes")
        return data
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        faults.add(f"{LOADED}/{TABLES}", "", "is no list of tables", "what worksample task load writes")
        return data
    own = data.get("instance", [])
    return data if not isinstance(own, list) else {**data, "instance": [*own, *tables]}


def write_loaded(root: Path, instances: Sequence[Mapping[str, Any]]) -> None:
    """Replace the folder `loaded/` of a package by these instances (`LoadedInstance.plain`). Raises ManifestError if
    two have the same name, or a name or path is not allowed.
    """
    names = [str(one["name"]) for one in instances]
    for name in names:
        if path_fault(quote_path(name.encode())) or "/" in name:
            raise _refusal(f"load() returned an instance with the name {name!r:.100}")
        if names.count(name) > 1:
            raise _refusal(f"load() returned two instances with the name {name!r:.100}")
    part = root / f".{LOADED}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        tables = [_write_instance(part / str(one["name"]), one) for one in instances]
        (part / TABLES).write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        shutil.rmtree(root / LOADED, ignore_errors=True)
        part.rename(root / LOADED)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _write_instance(folder: Path, one: Mapping[str, Any]) -> dict[str, Any]:
    """Write the files of an instance, and return its table."""
    place = f"{LOADED}/{folder.name}"
    table: dict[str, Any] = {"name": one["name"], "settings": one["settings"]}
    if one["title"]:
        table["title"] = one["title"]
    folder.mkdir()
    if one["brief"]:
        (folder / "brief.md").write_text(str(one["brief"]), encoding="utf-8")
        table["brief"] = f"{place}/brief.md"
    for name in _FOLDERS:
        for path, content in one[name].items():
            if path_fault(quote_path(path.encode())):
                raise _refusal(f"load() returned the file name {path!r:.100}")
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(base64.b64decode(content, validate=True))
            table[name] = f"{place}/{name}"
    return table


def _refusal(what: str) -> ManifestError:
    return ManifestError(what, where="task.py", next="correct load() in task.py, then worksample task load FOLDER")
