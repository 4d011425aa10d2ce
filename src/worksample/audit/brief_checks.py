"""Checks of the brief: it has its three sections, names every required deliverable, and shows no example that the
grader rejects.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from worksample.records import Instance, Protocol
from worksample.store import Store

from .declared_grader_demands import declared_texts
from .findings import AuditCheck, Finding, error, warning

SECTIONS = ("Work description", "Provided material", "Deliverables")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s*(.+?)\s*#*\s*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}")


def check_brief(instance: Instance) -> Iterator[Finding]:
    """Check the brief: it has the sections of RLI 3.1 (work description, provided material, deliverables) and names
    every required deliverable.
    """
    brief = instance.work.brief
    headings = [h.casefold() for h in _HEADING.findall(brief)]
    for section in SECTIONS:
        if section.casefold() not in headings:
            yield error(
                AuditCheck.BRIEF, f"the section '{section}' is missing", "brief.md", f"add a heading '## {section}'"
            )
    for deliverable in instance.work.deliverables:
        if deliverable.required and deliverable.name not in brief:
            yield error(
                AuditCheck.NAMES,
                f"the deliverable {deliverable.name!r} is required but the brief never names it",
                "brief.md",
                "name the file under Deliverables exactly as task.toml does",
            )
    for left in sorted(set(_PLACEHOLDER.findall(brief)) - _literal_placeholders(instance)):
        yield error(
            AuditCheck.BRIEF,
            f"the placeholder {left} has no value",
            f"{instance.name}: brief.md",
            "add it to [[instance]] settings",
        )
    if not instance.work.deliverables and instance.work.environment.workplace is None:
        yield warning(AuditCheck.BRIEF, "no deliverables are declared", "task.toml", "list them under [deliverables]")
    if not instance.canary:
        yield error(
            AuditCheck.BRIEF, "task.toml sets no canary id", "task.toml", 'set canary = "worksample-canary-<uuid>"'
        )


def _literal_placeholders(instance: Instance) -> set[str]:
    """Return texts that look like a placeholder for a setting but are plain text, for example in an imported job."""
    settings = [g.instance_settings for g in instance.grading.values()]
    return {value for one in settings for key, value in one.items() if value == f"{{{{{key}}}}}"}


_PARTS = re.compile(r"[,;|\t]")
_MORE = re.compile(r"\s{0,2}[,;|]")
LINE = 2_000


def check_examples(store: Store, instance: Instance, protocol: Protocol) -> Iterator[Finding]:
    """Check that the grader's patterns accept the records (values with commas between) that the brief shows as
    examples.
    """
    grading = instance.grading[protocol]
    patterns = dict.fromkeys(declared_texts(grading, "patterns"))
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
