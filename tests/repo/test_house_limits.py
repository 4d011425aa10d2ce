"""Limits of the house: top packages, small modules that only one other module imports, words of the docs."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path

import worksample
from repo.import_circles import Graph, import_graph

SOURCES = Path(worksample.__file__).parent
ROOT = SOURCES.parents[1]
SHORT = 60
"""Lines of a module below which it belongs to its only importer."""


def small_single_importer_modules(graph: Graph, lines: dict[str, int]) -> set[str]:
    """Return the modules below `SHORT` lines that exactly one other module imports."""
    importers: dict[str, set[str]] = defaultdict(set)
    for module, imported in graph.items():
        for other in imported:
            importers[other].add(module)
    return {module for module, length in lines.items() if length < SHORT and len(importers[module]) == 1}


def count_words(text: str) -> int:
    """Count the words of a page, without code and without the bars of tables and other signs."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
    return sum(any(map(str.isalnum, word)) for word in prose.split())


def offered_modules() -> set[str]:
    """Return the modules of names that packages offer to users, who import them, too."""
    return {
        ".".join((*stub.relative_to(SOURCES.parent).parent.parts, module))
        for stub in SOURCES.rglob("*.pyi")
        for module in re.findall(r"^from \.([\w.]+) import", stub.read_text(), re.M)
    }


def test_top_packages_are_at_most_24() -> None:
    packages = [path.parent.name for path in SOURCES.glob("*/__init__.py")]
    assert "records" in packages and len(packages) <= 24, packages


def test_fewer_than_15_small_modules_have_a_single_importer() -> None:
    graph = import_graph(SOURCES, without=("suites",))
    files = {module: SOURCES.parent.joinpath(*module.split(".")).with_suffix(".py") for module in graph}
    lines = {module: len(path.read_text().splitlines()) for module, path in files.items() if path.exists()}
    found = small_single_importer_modules(graph, lines) - offered_modules()
    assert len(found) < 15, "move a module into its only importer: " + ", ".join(sorted(found))


def test_a_small_module_with_a_single_importer_is_found() -> None:
    graph = {"p.small": set(), "p.shared": set(), "p.long": set(), "p.a": {"p.small", "p.shared"}, "p.b": {"p.shared"}}
    lines = dict.fromkeys(graph, 20) | {"p.long": 100}
    assert small_single_importer_modules({**graph, "p.b": {"p.shared", "p.long"}}, lines) == {"p.small"}


def test_docs_written_by_hand_have_at_most_60_000_words() -> None:
    listed = subprocess.run(["git", "ls-files", "-z", "docs"], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = [ROOT / name for name in listed.stdout.split("\0") if name.endswith(".md")]
    words = {page.relative_to(ROOT).as_posix(): count_words(page.read_text()) for page in pages if page.exists()}
    assert len(words) > 100 and sum(words.values()) <= 60_000, "longest: " + ", ".join(
        f"{words[page]} {page}" for page in sorted(words, key=words.__getitem__, reverse=True)[:10]
    )
