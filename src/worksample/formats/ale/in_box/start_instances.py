"""The program that calls a package's `start()` for its instances, and writes how each call ended as JSON.

Arguments: the checkout, the package's folder below it, the file to write, the instances' numbers, separated by commas.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .absent_modules import AbsentModules
from .package_loader import function_of, load_package
from .session import LocalSession

SECONDS = 30.0
"""Time of one call of `start()`."""


async def _start(start: Callable[..., Any], task: Any) -> None:
    async with asyncio.timeout(SECONDS):
        await start(task, LocalSession())


def main() -> None:
    """Call `start()` once for each instance. The result maps the instance's number to its fault; "" if it had none."""
    checkout, name, target = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    sys.meta_path.append(AbsentModules(str(checkout)))
    module = load_package(checkout / name, checkout)
    tasks, start = function_of(module, "load")(), function_of(module, "start")
    found = {}
    for index in map(int, sys.argv[4].split(",")):
        try:
            asyncio.run(_start(start, tasks[index]))
            found[str(index)] = ""
        except BaseException as fault:  # noqa: BLE001 - foreign code may raise anything, also SystemExit
            found[str(index)] = f"{type(fault).__name__}: {fault}"[:300]
    target.write_text(json.dumps(found), encoding="utf-8")
