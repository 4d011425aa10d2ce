"""The program that lists a package's instances: load `main.py`, call `load()`, and write what it returned as JSON.

Arguments: the checkout, the package's folder below it, the file to write, the largest number of instances.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

from .absent_modules import AbsentModules
from .package_loader import function_of, load_package, plain_task, plain_value


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
            result["instances"] = [plain_task(one) for one in tasks]
            for role in ("start", "evaluate"):
                function_of(module, role)
        text = json.dumps(
            result | {"absent": sorted(absent.names)}, default=plain_value, allow_nan=False, sort_keys=True
        )
    except BaseException as fault:  # noqa: BLE001 - foreign code may raise anything, also SystemExit
        where = traceback.extract_tb(fault.__traceback__)[-1:]
        place = f" ({Path(where[0].filename).name}, line {where[0].lineno})" if where else ""
        text = json.dumps({"failed": f"{type(fault).__name__}: {fault}"[:600] + place})
    target.write_text(text, encoding="utf-8")
