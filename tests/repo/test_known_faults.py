"""The list of known faults matches the source, and their tests exist."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from running.parsing import parsed

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("put_back", ROOT / "tools" / "put_back.py")
assert _spec is not None and _spec.loader is not None
put_back = importlib.util.module_from_spec(_spec)
sys.modules["put_back"] = put_back
_spec.loader.exec_module(put_back)


@pytest.mark.parametrize("fault", list(put_back.listed()), ids=lambda fault: fault.name)
def test_fault_can_be_restored_and_its_tests_exist(fault: Any) -> None:
    source = (ROOT / "src" / "worksample" / fault.file).read_text()
    assert source.count(fault.was) == 1
    ast.parse(source.replace(fault.was, fault.becomes))
    for test in fault.tests:
        file, _, name = test.partition("[")[0].partition("::")
        functions = {n.name for n in ast.walk(parsed((ROOT / "tests" / file).read_text())) if hasattr(n, "name")}
        assert not name or name in functions, test
