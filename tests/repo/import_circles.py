"""Circles of imports, also those that hide in functions: modules each of which leads to the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from running.parsing import parsed

Graph = Mapping[str, set[str]]
"""Module -> the modules that it imports, wherever in it."""


def import_graph(folder: Path, *, without: tuple[str, ...] = ()) -> Graph:
    """Return the imports between the modules of a package at run time: lines for type checkers do not count.

    folder: the package. without: its subfolders that are left out. A name that a package offers lazily leads to the
    module that its stub names.
    """
    modules = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        if parts[1:2] not in [(name,) for name in without]:
            modules[".".join(parts).removesuffix(".__init__")] = path
    lazy = {
        f"{name}.{public}": module
        for name, path in modules.items()
        if (stub := path.with_suffix(".pyi")).exists()
        for module, public in _imported(parsed(stub.read_text()), name)
    }
    graph = {}
    for name, path in modules.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found = set()
        for module, public in _imported(parsed(path.read_text()), package):
            full = f"{module}.{public}"
            found.add(full if full in modules else lazy.get(full, module))
        graph[name] = (found & set(modules)) - {name}
    return graph


def _imported(tree: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of every import that runs; of `import a.b` the name is empty."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _imported(ast.Module(node.orelse, []), package)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((module, alias.name) for alias in node.names)
        else:
            yield from _imported(node, package)


def circles(graph: Graph) -> list[set[str]]:
    """Return the sets of modules that lead to each other."""
    while ends := {module for module, imported in graph.items() if not imported}:
        graph = {module: imported - ends for module, imported in graph.items() if module not in ends}
    reached = {module: _reached_from(module, graph) for module in graph}
    found = [{other for other in reached[module] if module in reached[other]} for module in graph]
    return [set(circle) for circle in {frozenset(circle) for circle in found if circle}]


def _reached_from(module: str, graph: Graph) -> set[str]:
    seen: set[str] = set()
    open_ = list(graph[module])
    while open_:
        if (next_ := open_.pop()) not in seen:
            seen.add(next_)
            open_ += graph[next_]
    return seen
