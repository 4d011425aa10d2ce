"""What can be counted of the words in our source: names and docstrings that a stranger would not understand."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from running.parsing import parsed

_PLACES = (
    "place|folder|path|line|file|page|box|table|column|directory|point|machine|part|says?|tells?|know|knows|see|told"
)
_CONDITIONAL = re.compile(rf"(?<![\w`.-])(?:(?P<place>{_PLACES})s?,? )?[Ww]here\b(?!`)")
"""The word, but no name: `where`, `--where`, `rules.where`, WHERE."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_IRREGULAR = _words("""
    told said made found given kept seen shown drawn known met held sent written taken left begun done gone
    built laid lost meant spent stood thought understood won worn chosen broken spoken fallen hidden paid sold
""")
"""Participles that are no infinitives, as `read` and `put` are."""
_INFINITIVES = _words("embed exceed proceed")
_PRONOUNS = _words("""
    one his hers its it they them their who whom whose what which this that these those each other mine ours
""")
_NO_BEGINNING = _PRONOUNS | _words("""
    whether where when how as for in from by all every nothing no not none at to with without of or and so if only such
    same there here nobody everything anything something several both neither
""")


@dataclass(frozen=True)
class Words:
    """What one module has of it, as `NAME:LINE`."""

    classes: tuple[str, ...]
    """Names of public classes, once for each definition."""
    conditional_where: tuple[str, ...]
    bare_names: tuple[str, ...]
    """Functions that are called by one participle or pronoun. Properties are values, not functions."""
    odd_beginnings: tuple[str, ...]
    """Docstrings that begin with neither a verb nor a noun nor an article."""


def words_of(source: str) -> Words:
    """Count in one module's source."""
    found: dict[str, list[str]] = defaultdict(list)
    for node in _documented(parsed(source)):
        name, line = getattr(node, "name", "module"), getattr(node, "lineno", 1)
        if isinstance(node, ast.ClassDef) and not name.startswith("_"):
            found["classes"].append(name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_bare(name) and not _is_property(node):
            found["bare"].append(f"{name}:{line}")
        text = ast.get_docstring(node) or ""
        if any(match["place"] is None for match in _CONDITIONAL.finditer(text)):
            found["where"].append(f"{name}:{line}")
        first = re.match(r"[A-Za-z']+", text)
        if first and first[0].lower() in _NO_BEGINNING:
            found["odd"].append(f"{name}:{line}")
    return Words(*(tuple(found[key]) for key in ("classes", "where", "bare", "odd")))


def _documented(tree: ast.AST) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _is_bare(name: str) -> bool:
    word = name.lstrip("_")
    regular = word.endswith("ed") and "_" not in word and len(word) > 4 and word not in _INFINITIVES
    return regular or word in _IRREGULAR | _PRONOUNS


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        ast.unparse(decorator).rpartition(".")[2] in ("property", "cached_property")
        for decorator in node.decorator_list
    )


def words_in(folder: Path) -> dict[str, Words]:
    """Count in every module below `folder`, the suites' packages left out."""
    return {
        path.relative_to(folder).as_posix(): words_of(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.py"))
        if path.relative_to(folder).parts[0] != "suites"
    }
