"""Checks that brief and grader use the same names for files, columns and keys.

An agent can only deliver under names that it was told. If the grader asks for a name that appears nowhere in what the
agent sees (brief, shown criteria, inputs), the agent cannot guess it; this is the most common flaw of published tasks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from worksample.records import Instance, Protocol, unquote_path
from worksample.store import Store

from .declared_grader_demands import declared_texts
from .findings import AuditCheck, Finding, error, warning

_FILE = re.compile(r"^[\w .()+-]+\.[A-Za-z][A-Za-z0-9]{0,5}$")
_READERS = {"output", "text", "json", "rows", "sheet", "cells", "xml", "svg", "image", "wav"}
_COLUMN_KEYWORDS = {
    "keys",
    "key",
    "columns",
    "column",
    "on",
    "compare",
    "sort_by",
    "tolerance",
    "tolerances",
    "required",
}


@dataclass
class GraderDemands:
    """The names that a grader's source requires of a submission."""

    files: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    """Columns and keys."""
    literals: set[str] = field(default_factory=set)
    """All string literals of the grader."""

    def mentions_document(self, name: str) -> bool:
        """Return whether the grader names a document of the services, such as `finance/total.csv`, whole or in part."""
        stem = name.rsplit("/", 1)[-1].rpartition(".")[0]
        return "/" in name and any(stem in text for text in self.literals)


def check_names(store: Store, instance: Instance, protocol: Protocol) -> Iterator[Finding]:
    """Check that the agent is told every file, column and key that grade.py asks for."""
    grading = instance.grading[protocol]
    asked = GraderDemands()
    for entry in store.manifest(grading.grader).files:
        if entry.path.endswith(".py") and entry.blob:
            _collect(store.blobs.read(entry.blob).decode("utf-8", "replace"), asked)
    asked.files.update(declared_texts(grading, "files"))
    seen = _visible_text(store, instance)
    promised = {d.name for d in instance.work.deliverables}
    yield from _declared_name_findings(store, instance, protocol, seen)
    for name in sorted(asked.files):
        if name not in seen and name not in promised:
            yield error(
                AuditCheck.NAMES,
                f"the grader reads {name!r}, which the brief never names",
                grading.entry,
                "use one name in brief, task.toml and grader",
            )
    for name in sorted(asked.names):
        if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", seen, re.IGNORECASE):
            yield error(
                AuditCheck.NAMES,
                f"the grader asks for the column or key {name!r}, which the agent is not told about",
                grading.entry,
                "name it in the brief as the grader does",
            )
    for name in sorted(_named_files(instance.work.brief, instance) - asked.files - promised):
        if asked.mentions_document(name):
            continue
        yield warning(
            AuditCheck.NAMES,
            f"the brief asks for {name!r}, which neither task.toml nor the grader knows",
            "brief.md",
            "declare it under [deliverables], or do not ask for it",
        )


def _declared_name_findings(store: Store, instance: Instance, protocol: Protocol, seen: str) -> Iterator[Finding]:
    """Report columns that an external grader requires although the agent is not told about them, and given files that
    the agent could change.
    """
    grading, known = instance.grading[protocol], _plain_name(seen)
    for name in declared_texts(grading, "columns"):
        if _plain_name(name) not in known:
            yield error(
                AuditCheck.NAMES,
                f"the grader asks for the column or key {name!r}, which the agent is not told about",
                grading.entry,
                "name it in the brief as the grader does",
            )
    given = {unquote_path(e.path).decode("utf-8", "replace") for e in store.manifest(instance.work.inputs).files}
    made = {d.name for d in instance.work.deliverables}
    for name in declared_texts(grading, "files"):
        if name in given and name not in made:
            yield error(
                AuditCheck.REFERENCE,
                f"the grader takes {name!r} from the agent's own folder, where the agent can change it",
                grading.entry,
                "read it from the reference",
            )


def _plain_name(text: str) -> str:
    """Reduce a name to letters and digits: graders compare column names without spaces, hyphens and case."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _visible_text(store: Store, instance: Instance) -> str:
    """Return all text that the agent can read: brief, shown criteria, names and text of the inputs."""
    parts = [instance.work.brief, instance.work.shown_rubric]
    for digest in (instance.work.inputs, instance.work.software):
        for entry in store.manifest(digest).files:
            parts.append(unquote_path(entry.path).decode("utf-8", "replace"))
            if entry.blob and entry.size <= 1 << 20:
                parts.append(store.blobs.read(entry.blob).decode("utf-8", "replace"))
    return "\n".join(parts)


def _named_files(brief: str, instance: Instance) -> set[str]:
    """Return the files in back quotes under the brief's Deliverables heading."""
    after = re.split(r"^#+\s*deliverables\s*$", brief, flags=re.IGNORECASE | re.MULTILINE)
    names = re.findall(r"`([^`\n]+)`", after[-1]) if len(after) > 1 else []
    prefix = instance.work.environment.paths.output + "/"
    return {n.removeprefix(prefix).removeprefix("output/") for n in names if _FILE.match(n.rsplit("/", 1)[-1])}


def _collect(source: str, asked: GraderDemands) -> None:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            asked.literals.add(node.value)
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in _READERS and _is_case(node.func.value):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                asked.files.add(first.value)
        for keyword in node.keywords:
            if keyword.arg in _COLUMN_KEYWORDS:
                asked.names.update(_strings(keyword.value))


def _is_case(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "case"


def _strings(node: ast.expr) -> Iterator[str]:
    """Yield the names in a list, tuple, set, a dict's keys, or a single string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for item in node.elts:
            yield from _strings(item)
    elif isinstance(node, ast.Dict):
        for key in node.keys:
            if key is not None:
                yield from _strings(key)
