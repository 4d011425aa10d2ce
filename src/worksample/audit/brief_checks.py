"""The brief's three sections, and that it names every required deliverable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from worksample.records import Instance

from .findings import AuditCheck, Finding, error, warning

SECTIONS = ("Work description", "Provided material", "Deliverables")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s*(.+?)\s*#*\s*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}")


def check_brief(instance: Instance) -> Iterator[Finding]:
    """RLI 3.1: work description, provided material, deliverables; everything that is wanted is named."""
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
    for left in sorted(set(_PLACEHOLDER.findall(brief)) - _meant(instance)):
        yield error(
            AuditCheck.BRIEF, f"{left} was not filled", f"{instance.name}: brief.md", "add it to [[instance]] settings"
        )
    if not instance.work.deliverables and instance.work.environment.workplace is None:
        yield warning(AuditCheck.BRIEF, "no deliverables are declared", "task.toml", "list them under [deliverables]")
    if not instance.canary:
        yield error(AuditCheck.BRIEF, "no canary id", "task.toml", 'set canary = "worksample-canary-<uuid>"')


def _meant(instance: Instance) -> set[str]:
    """Texts that look like a setting and stand for themselves: an imported job's own words."""
    settings = [g.instance_settings for g in instance.grading.values()]
    return {value for one in settings for key, value in one.items() if value == f"{{{{{key}}}}}"}
