"""The program that lists a package's instances: load `main.py`, call `load()`, and write what it returned as JSON.

Arguments: the checkout, the package's folder below it, the file to write, the largest number of instances.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from absent_modules import AbsentModules  # type: ignore[import-not-found]
from package_loader import function_of, load_package  # type: ignore[import-not-found]


def _plain(value: Any) -> Any:
    """Return a value of a task's metadata as a JSON type. Raises TypeError for anything else."""
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"load() returned a {type(value).__name__} in a task's metadata")


def main() -> None:
    """List the instances, or write why it was not possible."""
    checkout, name, target, most = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    absent = AbsentModules(str(checkout))
    sys.meta_path.append(absent)
    result: dict[str, Any]
    try:
        module = load_package(checkout / name, checkout)
        tasks = function_of(module, "load")() or []
        count = len(tasks)
        result = {"count": count}
        if count <= most:
            result["instances"] = [
                {"description": str(one.description), "metadata": one.metadata, "computer": one.computer}
                for one in tasks
            ]
            for role in ("start", "evaluate"):
                function_of(module, role)
        text = json.dumps(result | {"absent": sorted(absent.names)}, default=_plain, allow_nan=False, sort_keys=True)
    except BaseException as fault:  # noqa: BLE001 - foreign code may raise anything, also SystemExit
        where = traceback.extract_tb(fault.__traceback__)[-1:]
        place = f" ({Path(where[0].filename).name}, line {where[0].lineno})" if where else ""
        text = json.dumps({"failed": f"{type(fault).__name__}: {fault}"[:600] + place, "error": type(fault).__name__})
    target.write_text(text, encoding="utf-8")


main()
