"""Every package states its purpose."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from running.parsing import parsed

SOURCES = Path(__file__).parents[2] / "src" / "worksample"
PACKAGES = sorted(path for path in SOURCES.rglob("__init__.py") if "suites" not in path.relative_to(SOURCES).parts)


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: str(path.parent.relative_to(SOURCES.parent)))
def test_package_states_its_purpose_in_a_sentence(path: Path) -> None:
    says = ast.get_docstring(parsed(path.read_text())) or ""
    assert len(says.split()) >= 3, f"{path.parent.name}/__init__.py says {says!r}"
