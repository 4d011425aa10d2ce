"""What one change of a module may be.

A comparison, `and` for `or`, a number, a truth value, a sign, a statement that only calls something, what is returned,
what a branch asks for.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: where, and what became what."""

    file: Path
    line: int
    before: str
    after: str
    source: str
    within: int
    """The line where the function begins that holds it; 0 outside of any."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        yield ast.Compare(node.left, [_COMPARED[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in _COUNTED:
        yield ast.BinOp(node.left, _COUNTED[type(node.op)](), node.right)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        changed = copy.copy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        yield changed
    elif isinstance(node, ast.Break):
        yield ast.Continue()


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.new, node) if node is self.old else super().generic_visit(node)


def _skipped(tree: ast.AST) -> set[int]:
    """Nodes that only checkers read: annotations, docs, imports for types, whether a class is frozen."""
    out: set[int] = set()
    for node in ast.walk(tree):
        hidden: list[ast.AST | None] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.ClassDef):
            hidden += node.decorator_list
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            hidden.append(node)
        for found in hidden:
            if found is not None:
                out |= {id(inner) for inner in ast.walk(found)}
    return out


def mutants(file: Path, root: Path) -> Iterator[Mutant]:
    """Every change of one file."""
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    skipped, inside = _skipped(tree), _functions(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in skipped:
            for which, changed in enumerate(changes(node)):
                before, after = (ast.unparse(ast.fix_missing_locations(n)).partition("\n")[0] for n in (node, changed))
                yield Mutant(
                    file.relative_to(root),
                    getattr(node, "lineno", 0),
                    before[:100],
                    after[:100],
                    _with(text, number, which),
                    inside.get(id(node), 0),
                )


def _functions(tree: ast.AST) -> dict[int, int]:
    """Of each node within a function, the line where the innermost begins, with what decorates it."""
    out: dict[int, int] = {}
    for function in ast.walk(tree):  # what is outside comes first, so the innermost has the last word
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            begin = min([function.lineno, *(one.lineno for one in function.decorator_list)])
            out |= {id(node): begin for statement in function.body for node in ast.walk(statement)}
    return out


def _with(text: str, number: int, which: int) -> str:
    """The module with one change. Parsed anew, since a change shares parts with what it stands for."""
    tree = ast.parse(text)
    node = next(itertools.islice(ast.walk(tree), number, None))
    changed = next(itertools.islice(changes(node), which, None))
    return ast.unparse(ast.fix_missing_locations(_Replace(node, changed).visit(tree)))
