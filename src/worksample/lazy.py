"""A package's public names, imported when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module


def lazily(package: str) -> Callable[[str], object]:
    """The `__getattr__` of a package whose `if TYPE_CHECKING:` block says where each of its names lives.

    What a checker reads is what is imported: there is no second table to keep. The block holds lines of the form
    `from .module import Name`.
    """
    homes: dict[str, str] = {}

    def find(name: str) -> object:
        if not homes:
            homes.update(_homes(package))
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def _homes(package: str) -> Iterator[tuple[str, str]]:
    """Each name, and the module it is imported from."""
    import ast
    from pathlib import Path

    for top in ast.parse(Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")).body:
        if isinstance(top, ast.If) and isinstance(top.test, ast.Name) and top.test.id == "TYPE_CHECKING":
            for line in top.body:
                if isinstance(line, ast.ImportFrom):
                    yield from ((alias.name, "." * line.level + (line.module or "")) for alias in line.names)
