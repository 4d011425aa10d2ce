"""Load one of ALE's packages: its `main.py` as a module, with its helper modules on `sys.path`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any


def load_package(folder: Path, checkout: Path) -> ModuleType:
    """Execute `main.py` in `folder` and return its module. checkout: the folder that holds `tasks`."""
    for place in (checkout, folder, folder / "scripts"):
        if place.is_dir() and str(place) not in sys.path:
            sys.path.insert(0, str(place))
    name = "_task_" + "_".join(folder.parts[-2:])
    spec = importlib.util.spec_from_file_location(name, folder / "main.py")
    if spec is None or spec.loader is None:
        raise ImportError("main.py cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def function_of(module: ModuleType, role: str) -> Callable[..., Any]:
    """Return the function with a role (load, start or evaluate): the one with that name, else the decorated one."""
    named = getattr(module, role, None)
    if callable(named):
        return named  # type: ignore[no-any-return]
    for value in list(vars(module).values()):
        if getattr(value, "ale_role", None) == role:
            return value  # type: ignore[no-any-return]
    raise AttributeError(f"main.py has no function {role}()")


def plain_task(one: Any) -> dict[str, Any]:
    """Return an element of `load()` as a dictionary."""
    return {"description": str(one.description), "metadata": one.metadata, "computer": one.computer}


def plain_value(value: Any) -> Any:
    """Return a value of a task's metadata as a JSON type. Raises TypeError for anything else."""
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"load() returned a {type(value).__name__} in a task's metadata")
