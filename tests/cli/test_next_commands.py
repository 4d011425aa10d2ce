"""Next commands of errors are valid commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import click

from cli.test_command_table import leaves
from running.parsing import parsed
from worksample.cli.command_table import COMMANDS, CommandGroup
from worksample.cli.lazy_group import root

SOURCE = Path(__file__).resolve().parent.parent.parent / "src" / "worksample"
OPTIONS = {
    " ".join(path): {o for p in command.params if isinstance(p, click.Option) for o in (*p.opts, *p.secondary_opts)}
    for path, command in leaves(root())
}


def hints() -> list[tuple[str, str]]:
    """Place and text of every `next=` in the package, constants too; what is filled in at run time reads X."""
    found = []
    sources = (path for path in sorted(SOURCE.rglob("*.py")) if "suites" not in path.relative_to(SOURCE).parts)
    trees = {path: parsed(path.read_text(encoding="utf-8")) for path in sources}
    told = _constants_told(trees.values())
    for path, tree in trees.items():
        for node in ast.walk(tree):
            said = isinstance(node, ast.keyword) and node.arg == "next"
            named = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("next", "line")
            named = named or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in told)
            if isinstance(node, ast.keyword | ast.Assign) and (said or named):
                found.append((f"{path.relative_to(SOURCE)}:{node.value.lineno}", _text(node.value)))
    return found


def _constants_told(trees: Iterable[ast.Module]) -> set[str]:
    """The names in capitals that are given as `next=`."""
    nodes = (node for tree in trees for node in ast.walk(tree))
    given = (node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "next")
    return {value.id for value in given if isinstance(value, ast.Name) and value.id.isupper()}


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(v) if isinstance(v, ast.Constant) else "X" for v in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.IfExp):
        return f"{_text(node.body)}; {_text(node.orelse)}"
    return ""


def fault_of(text: str) -> str:
    """Why a hint cannot be typed, or ""."""
    for words in re.findall(r"\bworksample ([a-z][^,;(`]*)", text):
        steps = words.split()
        entry = COMMANDS.get(steps[0])
        if entry is None:
            return f"there is no verb {steps[0]!r}"
        path = steps[:1]
        if isinstance(entry, CommandGroup):
            if steps[1:] == ["--help"]:
                continue
            if len(steps) < 2 or steps[1] not in entry.commands:
                return f"{steps[0]} has no {steps[1:2]}"
            path = steps[:2]
        for option in re.findall(r"(?<!\S)--[a-z-]+", words):
            if option not in OPTIONS[" ".join(path)]:
                return f"{' '.join(path)} has no option {option}"
    return ""


def test_every_next_command_can_be_typed() -> None:
    told = hints()
    assert len(told) > 50
    assert [f"{place}: {text!r}: {fault_of(text)}" for place, text in told if fault_of(text)] == []
