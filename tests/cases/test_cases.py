"""Small inputs from outside that once failed, as one test: a folder a case, with its files and what has to hold.

`case.py` in a folder has `check(room, request)`: it raises unless the case is mended. `room` is an empty folder of
its own; fixtures come from `request.getfixturevalue`.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

HOME = Path(__file__).parent
CASES = sorted(folder.parent.name for folder in HOME.glob("*/case.py"))


def load_case(name: str) -> ModuleType:
    """Import a case's program by its path, since names of folders are no names of modules."""
    spec = importlib.util.spec_from_file_location(f"case_{name.replace('-', '_')}", HOME / name / "case.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", CASES)
def test_handed_case_holds(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    load_case(name).check(tmp_path, request)
