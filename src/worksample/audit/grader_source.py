"""Checks of a grader's source code: a broken file is reported once with its line, not once for each control."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from worksample.records import Instance, Protocol, unquote_path
from worksample.store import Store

from .deliverable_paths import is_deliverable
from .findings import AuditCheck, Finding, error


def check_source(store: Store, instance: Instance, protocol: Protocol) -> Iterator[Finding]:
    """Check that the grader's Python files can be parsed."""
    for name, source in _sources(store, instance, protocol):
        try:
            ast.parse(source)
        except SyntaxError as fault:
            what = f"{fault.msg} ({(fault.text or '').strip()[:100]})" if fault.text else fault.msg
            yield error(
                AuditCheck.CONTROLS,
                f"is not valid Python: {what}",
                f"{name}:{fault.lineno or 1}",
                "correct it: nothing can be graded until then",
            )
        except ValueError as fault:
            yield error(AuditCheck.CONTROLS, f"is not valid Python: {fault}", name)


def check_required(store: Store, instance: Instance, protocol: Protocol, held: tuple[str, ...]) -> Iterator[Finding]:
    """Check that every required deliverable is in the correct submission or is named in the grader's source.

    held: the paths in the correct submission. If the check fails, the task requires a deliverable from every agent but
    never grades it.
    """
    text = "\n".join(source for _, source in _sources(store, instance, protocol))
    criteria = instance.grading[protocol].criteria
    text += "\n".join(leaf.text for leaf in criteria.leaves) + repr(instance.grading[protocol].settings)
    for deliverable in instance.work.deliverables:
        name = deliverable.name
        if not deliverable.required or any(is_deliverable(path, [name]) for path in held):
            continue
        if name.rstrip("/") in text:
            continue
        yield error(
            AuditCheck.CONTROLS,
            f"no correct submission contains the required deliverable {name!r}, and the grader never reads it",
            instance.name,
            "grade it, or do not require it: [deliverables] in task.toml",
        )


def _sources(store: Store, instance: Instance, protocol: Protocol) -> Iterator[tuple[str, str]]:
    for entry in store.manifest(instance.grading[protocol].grader).files:
        if entry.path.endswith(".py") and entry.blob:
            name = unquote_path(entry.path).decode("utf-8", "replace")
            yield name, store.blobs.read(entry.blob).decode("utf-8", "replace")
