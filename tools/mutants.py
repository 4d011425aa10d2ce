"""Which changes of a package its tests do not notice.

    python tools/mutants.py PACKAGE [--sample 100] [--seed 1] [--only FILE] [--tests FOLDER ...]

Changes one thing at a time in a copy of the checkout: a comparison, `and` for `or`, a number, a truth value, a sign,
a statement that only calls something, what is returned, what a branch asks for. Then runs the package's tests in the
quick profile, up to the first that fails. What survives is printed with file and line: a test is missing there, or
the change means nothing, which somebody who reads it has to say. Exits with 1 where something survived.
"""

from __future__ import annotations

import argparse
import ast
import copy
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "tests", "docs", "examples", "pyproject.toml", "README.md", "CHANGELOG.md", "dev", "locks")
PATIENCE = 4.0
"""A change that makes the tests so many times slower is noticed: they hang."""
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
    """Nodes that only checkers read: annotations, docs, imports for types."""
    out: set[int] = set()
    for node in ast.walk(tree):
        hidden: list[ast.AST | None] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
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
    skipped = _skipped(tree)
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
                )


def _with(text: str, number: int, which: int) -> str:
    """The module with one change. Parsed anew, since a change shares parts with what it stands for."""
    tree = ast.parse(text)
    node = next(itertools.islice(ast.walk(tree), number, None))
    changed = next(itertools.islice(changes(node), which, None))
    return ast.unparse(ast.fix_missing_locations(_Replace(node, changed).visit(tree)))


def run(folder: Path, tests: list[str], seconds: float | None) -> bool:
    """Whether the tests of a checkout pass."""
    env = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-x", "-q", "--profile", "quick", "-p", "no:cacheprovider", *tests]
    running = subprocess.Popen(
        words, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return running.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def checkout(folder: Path) -> None:
    """What tests need of this one."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
        else:
            shutil.copy2(source, folder / name)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", help="records, store, runs, grading, ...")
    parser.add_argument("--sample", type=int, help="so many changes, drawn by chance; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the names of files")
    parser.add_argument("--tests", nargs="+", help="default: tests/PACKAGE")
    asked = parser.parse_args()
    tests = asked.tests or [f"tests/{asked.package}"]
    with tempfile.TemporaryDirectory(prefix="worksample-mutants-") as scratch:
        folder = Path(scratch)
        checkout(folder)
        files = sorted((folder / "src/worksample" / asked.package).rglob("*.py"))
        found = [m for file in files if asked.only in file.name for m in mutants(file, folder)]
        if not found:
            sys.exit(f"nothing to change in src/worksample/{asked.package}")
        if asked.sample and asked.sample < len(found):
            found = sorted(random.Random(asked.seed).sample(found, asked.sample), key=lambda m: (m.file, m.line))
        began = time.monotonic()
        if not run(folder, tests, None):
            sys.exit(f"the tests fail as it is: {' '.join(tests)}")
        seconds = 30 + PATIENCE * (time.monotonic() - began)
        survived = 0
        for number, mutant in enumerate(found, 1):
            file = folder / mutant.file
            text = file.read_text(encoding="utf-8")
            file.write_text(mutant.source, encoding="utf-8")
            if run(folder, tests, seconds):
                survived += 1
                print(f"survived  {mutant}", flush=True)
            file.write_text(text, encoding="utf-8")
            print(f"\r{number} of {len(found)}", end="", file=sys.stderr, flush=True)
    print(f"{asked.package}: {len(found)} changes, {len(found) - survived} noticed, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
