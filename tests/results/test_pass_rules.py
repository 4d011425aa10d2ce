"""The definition of passing is in one module; no other compares a share with full credit or a vote with acceptance."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import worksample
from running.parsing import parsed
from worksample.records import FULL, is_accepted, is_full

SOURCE = Path(worksample.__file__).parent
OWNER = SOURCE / "records" / "pass_rules.py"
WORDS = ("score", "vote", "fraction", "share", "credit", "full")


def nearly_one(node: ast.AST, above: float = 0.98) -> bool:
    """1 - 1e-9, 0.999999 and the like."""
    try:
        value = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})  # type: ignore[arg-type]
    except (ArithmeticError, NameError, TypeError, ValueError, SyntaxError, AttributeError):
        return False
    return isinstance(value, float) and above < value < 1


def named_so(node: ast.AST) -> bool:
    """Whether a name, a column or a key is called a score, vote or share."""
    match node:
        case (
            ast.Name(id=said)
            | ast.Attribute(attr=said)
            | ast.Subscript(slice=ast.Constant(value=str(said)))
            | ast.Call(func=ast.Attribute(attr="col"), args=[ast.Constant(value=str(said))])
        ):
            return bool(set(said.lower().split("_")) & {"score", "scores", "vote", "fraction", "share", "credit"})
    return False


def compares_with_1(node: ast.Compare) -> bool:
    """`score >= 1`, `score == 1`, `vote > 1`, `vote in (2, 3)`; not `0 <= share <= 1` and the like, which bound it."""
    if len(node.ops) != 1 or not named_so(node.left):
        return False
    (op,), (end,) = node.ops, node.comparators
    if isinstance(op, ast.In):
        return holds_both(end)
    return isinstance(op, ast.Gt | ast.GtE | ast.Eq | ast.Lt) and isinstance(end, ast.Constant) and end.value == 1


def holds_both(node: ast.AST) -> bool:
    """(2, 3), {2, 3}: the votes that accept."""
    values = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
    return {v.value for v in values if isinstance(v, ast.Constant)} == {2, 3}


def asks_by_call(node: ast.Call) -> bool:
    """`pl.col("score").ge(1)`, `.is_in([2, 3])`, `math.isclose(score, 1)`."""
    said = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    ends = [node.func.value, *node.args] if isinstance(node.func, ast.Attribute) else node.args
    if said not in ("ge", "gt", "eq", "is_in", "is_between", "isclose") or not any(named_so(end) for end in ends):
        return False
    return any(holds_both(a) or (isinstance(a, ast.Constant) and a.value in (1, 2)) for a in node.args)


def rules_in(source: str) -> Iterator[tuple[int, str]]:
    """Comparisons of something called a score, vote or share with what passes, and every 1 - 1e-9."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.BinOp) and nearly_one(node, above=1 - 1e-7):
            yield node.lineno, ast.unparse(node)
        if isinstance(node, ast.Call) and asks_by_call(node):
            yield node.lineno, ast.unparse(node)
        if not isinstance(node, ast.Compare):
            continue
        ends = [node.left, *node.comparators]
        named = any(word in ast.unparse(end).lower() for end in ends for word in WORDS)
        constants = [end for end in ends if not isinstance(end, ast.Name | ast.Attribute | ast.Call)]
        ordered = any(isinstance(op, ast.Gt | ast.GtE | ast.Lt | ast.LtE) for op in node.ops)
        accepts = [c for c in constants if isinstance(c, ast.Constant) and c.value in (2, 1.5)]
        if any(nearly_one(c) for c in constants) or (named and ordered and accepts) or compares_with_1(node):
            yield node.lineno, ast.unparse(node)


ELSEWHERE = {
    "agreement.py": {"votes >= 2"},
    "agreement_coefficients.py": {"votes >= 2"},
    "appearance.py": {"share < 1"}, "film.py": {"share < 1"}, "sound.py": {"share < 1", "share >= 1"},
    "bands.py": {"floor >= 1 - 1e-09", "1 - 1e-09", "share < 1"},
}  # fmt: skip
"""How many votes there are, and whether two artifacts are alike, which decides the words of a reason."""


def test_pass_rules_are_in_one_module() -> None:
    found = {
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != OWNER and "suites" not in path.parts
        for line, text in rules_in(path.read_text())
        if text not in ELSEWHERE.get(path.name, ())
    }
    assert not found, "ask records.is_full or records.is_accepted, or read `passed` of the verdict"


@pytest.mark.parametrize(
    "rule",
    [
        "if score >= 2: pass", "full = pl.col('score') >= 1 - 1e-9", "ok = x > 0.999", "ok = score >= 1",
        "ok = grade.score == 1.0", "ok = not score < 1", "ok = vote > 1", "ok = vote in (2, 3)",
        "ok = pl.col('score') == 1.0", "ok = row['score'] >= 1", "ok = pl.col('score').ge(1)",
        "ok = pl.col('vote').is_in([2, 3])", "ok = pl.col('vote').is_between(2, 3)", "ok = math.isclose(score, 1)",
    ],
)  # fmt: skip
def test_check_finds_violations(rule: str) -> None:
    assert list(rules_in(rule))


def test_nearly_full_is_not_full() -> None:
    assert FULL > 0.999999
    assert [bool(is_full(share)) for share in (0.99, 0.999999, 1.0 - 1e-12, 1.0)] == [False, False, True, True]
    assert [bool(is_accepted(vote)) for vote in (1, 2, 3)] == [False, True, True]
