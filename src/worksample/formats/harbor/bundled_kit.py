"""The grading kit as a set of files that run in a container without Worksample: its modules and all modules they
import.
"""

from __future__ import annotations

import ast
import importlib.metadata
import shutil
from collections.abc import Iterator
from pathlib import Path

import worksample

LIBRARIES = ("numpy", "openpyxl", "pillow", "defusedxml", "pydantic", "lazy-loader")
"""Libraries that the kit needs, reads deliverables with, or lets graders import."""
_WHOLE_PACKAGES = ("kit", "records", "files/config_files")
_TOP = Path(worksample.__file__).parent


def requirements() -> list[str]:
    """Return the libraries pinned to the versions installed here, so that grades agree on both machines."""
    return [f"{name}=={importlib.metadata.version(name)}" for name in LIBRARIES]


def copy_kit(folder: Path) -> None:
    """Copy those modules of `worksample` that `python -m worksample.kit` needs into a folder for `sys.path`."""
    modules = _modules_of_kit()
    stubs = {
        stub for path in modules if (stub := path.with_suffix(".pyi")).is_file()
    }  # lazy packages look names up in stubs
    for path in sorted(modules | stubs):
        target = folder / _TOP.name / path.relative_to(_TOP)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _modules_of_kit() -> set[Path]:
    """Return all modules of `worksample` that the kit imports directly or indirectly, also inside functions.

    Packages with lazy imports name their modules in stub files, which this search does not read, so all their modules
    are included.
    """
    queue, found = [path for name in _WHOLE_PACKAGES for path in (_TOP / name).rglob("*.py")], set[Path]()
    while queue:
        path = queue.pop()
        if path in found:
            continue
        found.add(path)
        for name in _imported_names(path):
            queue += [place for place in _files_of_module(name) if place not in found]
    return found


def _imported_names(path: Path) -> Iterator[str]:
    """Yield the modules of `worksample` that a module may import, as dotted names without the prefix `worksample.`."""
    parts = path.relative_to(_TOP).with_suffix("").parts
    for node in _runtime_nodes(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[2] for alias in node.names if alias.name.startswith("worksample."))
        elif isinstance(node, ast.ImportFrom):
            base = list(parts[: len(parts) - node.level]) if node.level else []
            module = (node.module or "").split(".") if node.module else []
            if not node.level:
                if module[:1] != ["worksample"]:
                    continue
                module = module[1:]
            dotted = ".".join([*base, *module])
            yield dotted
            yield from (f"{dotted}.{alias.name}".lstrip(".") for alias in node.names)


def _runtime_nodes(top: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes except those inside `if TYPE_CHECKING:`."""
    for node in ast.iter_child_nodes(top):
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            yield node
            yield from _runtime_nodes(node)


def _files_of_module(name: str) -> Iterator[Path]:
    """Yield the source files of a module and of its parent packages."""
    parts = name.split(".") if name else []
    for depth in range(len(parts) + 1):
        at = _TOP.joinpath(*parts[:depth])
        for path in (at / "__init__.py", at.with_suffix(".py")):
            if path.is_file() and path.is_relative_to(_TOP):
                yield path
