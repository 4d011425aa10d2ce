"""What passing is stands in one place: no other module compares a share with full credit, or a vote with acceptance."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import worksample
from running.parsing import parsed
from worksample.records import FULL, is_accepted, is_full

SOURCE = Path(worksample.__file__).parent
OWNER = SOURCE / "records" / "passing.py"
WORDS = ("score", "vote", "fraction", "share", "credit", "full")


def nearly_one(node: ast.AST, above: float = 0.98) -> bool:
    """1 - 1e-9, 0.999999 and the like."""
    try:
        value = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})  # type: ignore[arg-type]
    except (ArithmeticError, NameError, TypeError, ValueError, SyntaxError, AttributeError):
        return False
    return isinstance(value, float) and above < value < 1


def rules_in(source: str) -> Iterator[tuple[int, str]]:
    """Comparisons of something called a score, vote or share with what passes, and every 1 - 1e-9."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.BinOp) and nearly_one(node, above=1 - 1e-7):
            yield node.lineno, ast.unparse(node)
        if not isinstance(node, ast.Compare):
            continue
        ends = [node.left, *node.comparators]
        named = any(word in ast.unparse(end).lower() for end in ends for word in WORDS)
        constants = [end for end in ends if not isinstance(end, ast.Name | ast.Attribute | ast.Call)]
        ordered = any(isinstance(op, ast.Gt | ast.GtE | ast.Lt | ast.LtE) for op in node.ops)
        accepts = [c for c in constants if isinstance(c, ast.Constant) and c.value in (2, 1.5)]
        if any(nearly_one(c) for c in constants) or (named and ordered and accepts):
            yield node.lineno, ast.unparse(node)


ELSEWHERE = {
    "agreement.py": {"votes >= 2"},
    "agreement_coefficients.py": {"votes >= 2"},
}
"""How many votes there are."""


def test_rules_of_passing_stand_nowhere_else() -> None:
    found = {
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != OWNER and "suites" not in path.parts
        for line, text in rules_in(path.read_text())
        if text not in ELSEWHERE.get(path.name, ())
    }
    assert not found, "ask records.is_full or records.is_accepted, or read `passed` of the verdict"


@pytest.mark.parametrize("rule", ["if score >= 2: pass", "full = pl.col('score') >= 1 - 1e-9", "ok = x > 0.999"])
def test_the_check_finds_what_it_looks_for(rule: str) -> None:
    assert list(rules_in(rule))


def test_nearly_full_is_not_full() -> None:
    assert FULL > 0.999999
    assert [bool(is_full(share)) for share in (0.99, 0.999999, 1.0 - 1e-12, 1.0)] == [False, False, True, True]
    assert [bool(is_accepted(vote)) for vote in (1, 2, 3)] == [False, True, True]
