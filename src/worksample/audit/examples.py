"""An example in the brief that the grader's own pattern rejects: who follows the brief to the letter, fails."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from worksample.records import Instance, Protocol
from worksample.store import Store

from .declared_asks import declared
from .findings import AuditCheck, Finding, error

_PARTS = re.compile(r"[,;|\t]")
_MORE = re.compile(r"\s{0,2}[,;|]")
LINE = 2_000


def check_examples(store: Store, instance: Instance, protocol: Protocol) -> Iterator[Finding]:
    """Records in the brief (values with commas between) that `re.fullmatch` would take, but for what follows them."""
    grading = instance.grading[protocol]
    patterns = dict.fromkeys(declared(grading, "patterns"))
    for entry in store.manifest(grading.grader).files:
        if entry.path.endswith(".py") and entry.blob:
            patterns |= dict.fromkeys(_patterns(store.blobs.read(entry.blob).decode("utf-8", "replace")))
    lines = [line.strip() for line in instance.work.brief.splitlines() if len(line) <= LINE]
    for text in patterns:
        try:
            pattern = re.compile(text)
        except re.error:
            continue
        for line in dict.fromkeys(lines):
            shown = pattern.search(line)
            if shown is None or pattern.fullmatch(line) or not _PARTS.search(shown[0]):
                continue
            more = _MORE.match(line, shown.end())
            if more is not None:
                yield error(
                    AuditCheck.EXAMPLES,
                    f"the brief shows {shown[0] + more[0]!r}, which the grader's pattern {text!r} rejects",
                    "brief.md",
                    "let the grader accept what the brief shows",
                )


def _patterns(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fullmatch":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value
