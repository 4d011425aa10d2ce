"""Packages whose names are imported on first use."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import worksample
from running.parsing import parsed

ROOT = Path(worksample.__file__).parent
PACKAGES = [
    ".".join(("worksample", *path.parent.relative_to(ROOT).parts)) for path in sorted(ROOT.rglob("__init__.pyi"))
]


def stub(name: str) -> dict[str, str]:
    """The names that a checker reads there, and the module that each is of."""
    tree = parsed(ROOT.joinpath(*name.split(".")[1:], "__init__.pyi").read_text())
    lines = [line for line in tree.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: line.module or "" for line in lines for alias in line.names}


HEAVY = [f"worksample{name}" for name in ("", ".app", ".experiments", ".kit", ".people", ".records", ".store")]
"""Packages of which some names are heavy."""


def test_lazy_packages_exist() -> None:
    assert {"worksample", "worksample.store"} <= set(PACKAGES)


@pytest.mark.parametrize("name", PACKAGES)
def test_no_public_name_hides_a_module(name: str) -> None:
    """Whoever imports the module first would give others the module for the function."""
    folder = ROOT.joinpath(*name.split(".")[1:])
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    names = {public for public, module in stub(name).items() if module}
    assert names and not modules & names


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_match_the_stubs(name: str) -> None:
    package = import_module(name)
    assert set(stub(name)) == set(package.__all__) - {"__version__"}
    for public in package.__all__:
        assert getattr(package, public) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = package.nonsense


@pytest.mark.parametrize("name", HEAVY)
def test_import_of_one_package_imports_nothing_heavy(name: str) -> None:
    code = f"import sys, {name}; print({{'sqlalchemy', 'polars', 'fastapi', 'inspect_ai', 'numpy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
