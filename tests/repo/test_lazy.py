"""Packages whose names are imported when they are first asked for."""

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
    ".".join(("worksample", *path.parent.relative_to(ROOT).parts))
    for path in sorted(ROOT.rglob("__init__.py"))
    if "lazily(__name__)" in path.read_text()
]


def test_there_are_some() -> None:
    assert {"worksample", "worksample.store"} <= set(PACKAGES)


@pytest.mark.parametrize("name", PACKAGES)
def test_no_public_name_is_a_modules(name: str) -> None:
    """Whoever imports the module first would give others the module for the function."""
    folder = ROOT.joinpath(*name.split(".")[1:])
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    told = [
        alias.asname or alias.name
        for top in parsed((folder / "__init__.py").read_text()).body
        if isinstance(top, ast.If)
        for line in top.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    ]
    assert told and not modules & set(told)


@pytest.mark.parametrize("name", PACKAGES)
def test_the_public_names_are_those_that_checkers_see(name: str) -> None:
    package = import_module(name)
    tree = parsed(Path(str(package.__file__)).read_text())
    block = next(top for top in tree.body if isinstance(top, ast.If))
    imported = {alias.name for line in block.body if isinstance(line, ast.ImportFrom) for alias in line.names}
    assert imported == set(package.__all__) - {"__version__"}
    for public in package.__all__:
        assert getattr(package, public) is not None
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nonsense'"):
        _ = package.nonsense


@pytest.mark.parametrize("name", [name for name in PACKAGES if name.count(".") < 2])
def test_importing_one_imports_nothing_heavy(name: str) -> None:
    code = f"import sys, {name}; print({{'sqlalchemy', 'polars', 'fastapi', 'inspect_ai', 'numpy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
