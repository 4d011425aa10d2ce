"""Functions of a task's own Python files, imported and called."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from worksample.errors import Cause, GraderError

SIGNATURES = {"load": "", "start": "session, settings", "grade": "case"}
"""Function -> its arguments."""


def function_of(folder: Path, entry: str, *names: str) -> Callable[..., Any]:
    """Import a file of a task's folder and return the first of these functions that it has. The file can import modules
    of the same folder. Raises GraderError if it has none of them.
    """
    path = folder / entry
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("worksample_task", path)
    if spec is None or spec.loader is None or not path.is_file():
        step = f"write it, or correct entry = '{entry}' in task.toml, then worksample task check FOLDER"
        raise GraderError(f"there is no {entry}", cause=Cause.GRADER_CRASH, next=step)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    for name in names:
        if callable(found := getattr(module, name, None)):
            return found  # type: ignore[no-any-return]
    form = f"{names[0]}({SIGNATURES[names[0]]})"
    raise GraderError(
        f"{entry} defines no function {form}", cause=Cause.GRADER_CRASH,
        next=f"write def {form}: in {entry}, then worksample task check FOLDER",
    )  # fmt: skip


def call_function(function: Callable[..., Any], *given: Any) -> Any:
    """Call a function and return its result; if it is a coroutine, run it."""
    found = function(*given)
    if not inspect.isawaitable(found):
        return found
    import asyncio  # a third of a grader's start, and most functions need none

    return asyncio.run(_await_result(found))


async def _await_result(found: Any) -> Any:
    return await found
