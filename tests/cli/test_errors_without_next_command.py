"""Count of errors without a next command, by package; it may only fall."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from pathlib import Path

from cli.test_next_commands import SOURCE
from running.parsing import parsed

TABLE = Path(__file__).with_name("hintless.toml")
SAY_IT_THEMSELVES = {"DeliverableError", "FaultyRows", "AgentError", "ForeignInputError", "ForeignWorkLost"}
"""The reason of a score or of a trial's end and what a program in a box is answered, which nobody follows with a
command; and an error with a hint of its own."""


def error_classes() -> set[str]:
    """The names of the tree in errors.py."""
    found = {"WorksampleError"}
    for node in parsed((SOURCE / "errors.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) in found for base in node.bases):
            found.add(node.name)
    return found


def silent(source: str, classes: set[str]) -> list[int]:
    """The lines that make an error of `classes` without `next=`."""
    return [
        node.lineno
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in classes
        and not any(keyword.arg in ("next", None) for keyword in node.keywords)
    ]


def test_errors_without_next_are_recognised() -> None:
    text = 'raise UsageError("a")\nraise e.PlanError("b", where="c")\nraise PlanError("d", next="e")\nValueError("f")\n'
    assert silent(text, error_classes()) == [1, 2]
    assert silent('made = StoreError("a", **more)', error_classes()) == []


def test_no_package_has_more_errors_without_a_next_command() -> None:
    """A new error says what to type. The rest are what no user meets, and what is recorded instead of shown."""
    classes = error_classes() - SAY_IT_THEMSELVES
    places: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE)
        if inside.parts[0] != "suites":
            lines = silent(path.read_text(encoding="utf-8"), classes)
            places.setdefault(inside.parts[0].removesuffix(".py"), []).extend(f"{inside}:{line}" for line in lines)
    found = Counter({package: len(lines) for package, lines in places.items() if lines})
    allowed = Counter(tomllib.loads(TABLE.read_text(encoding="utf-8")))
    assert {package: places[package] for package in found - allowed} == {}, "give these errors a next="
    assert dict(allowed - found) == {}, f"fewer than {TABLE.name} says: lower its numbers by these"
