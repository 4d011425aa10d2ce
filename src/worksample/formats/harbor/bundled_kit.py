"""The kit for a container elsewhere: its modules and everything that they import, as files."""

from __future__ import annotations

import ast
import importlib.metadata
import shutil
from collections.abc import Iterator
from pathlib import Path

import worksample

LIBRARIES = ("numpy", "openpyxl", "pillow", "defusedxml", "pydantic", "lazy-loader")
"""Libraries with which the kit reads deliverables, which graders may import, and which the kit's packages need."""
_WHOLE = ("kit", "records", "files/config_files")
_TOP = Path(worksample.__file__).parent


def requirements() -> list[str]:
    """Return the libraries in the versions installed here, so that a grade is the same elsewhere."""
    return [f"{name}=={importlib.metadata.version(name)}" for name in LIBRARIES]


def carry_kit(folder: Path) -> None:
    """Write as much of the package `worksample` into a folder for `sys.path` as `python -m worksample.kit` needs."""
    modules = _modules_of_kit()
    stubs = {stub for path in modules if (stub := path.with_suffix(".pyi")).is_file()}  # which packages find names by
    for path in sorted(modules | stubs):
        target = folder / _TOP.name / path.relative_to(_TOP)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _modules_of_kit() -> set[Path]:
    """Return every module of ours that the kit reaches by imports, those within functions included.

    Lazy packages import a name only when it is used, which the search does not see, so they are taken whole.
    """
    queue, found = [path for name in _WHOLE for path in (_TOP / name).rglob("*.py")], set[Path]()
    while queue:
        path = queue.pop()
        if path in found:
            continue
        found.add(path)
        for name in _imported_names(path):
            queue += [place for place in _files_of_module(name) if place not in found]
    return found


def _imported_names(path: Path) -> Iterator[str]:
    """Yield dotted names below the package that a module may import."""
    parts = path.relative_to(_TOP).with_suffix("").parts
    for node in _runtime_nodes(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[2] for one in node.names if one.name.startswith("worksample."))
        elif isinstance(node, ast.ImportFrom):
            base = list(parts[: len(parts) - node.level]) if node.level else []
            module = (node.module or "").split(".") if node.module else []
            if not node.level:
                if module[:1] != ["worksample"]:
                    continue
                module = module[1:]
            dotted = ".".join([*base, *module])
            yield dotted
            yield from (f"{dotted}.{one.name}".lstrip(".") for one in node.names)


def _runtime_nodes(top: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes except those for type checkers alone."""
    for node in ast.iter_child_nodes(top):
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            yield node
            yield from _runtime_nodes(node)


def _files_of_module(name: str) -> Iterator[Path]:
    """Yield the files of a module and of its parent packages."""
    parts = name.split(".") if name else []
    for depth in range(len(parts) + 1):
        at = _TOP.joinpath(*parts[:depth])
        for path in (at / "__init__.py", at.with_suffix(".py")):
            if path.is_file() and path.is_relative_to(_TOP):
                yield path
