"""Findings of an audit: each says what is wrong, its place, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    ERROR = "error"
    """The task must not be used as it is."""
    WARNING = "warning"
    """Somebody has to check it; the task may be correct."""


class AuditCheck(StrEnum):
    """The checks of an audit (design: "Audit before use")."""

    BRIEF = "brief"
    CONTROLS = "controls"
    CASES = "cases"
    COVERAGE = "coverage"
    REPEAT = "repeat"
    EXISTENCE = "existence"
    TOLERANCE = "tolerance"
    LEAK = "leak"
    NAMES = "names"
    EXAMPLES = "examples"
    POINTS = "points"
    REFERENCE = "reference"
    RUBRIC = "rubric"
    SUITE = "suite"


@dataclass(frozen=True, slots=True)
class Finding:
    check: AuditCheck
    severity: Severity
    what: str
    where: str = ""
    """The instance or file."""
    do: str = ""


@dataclass(frozen=True, slots=True)
class GradedControl:
    """The result of one control submission, as a row of the audit's table."""

    instance: str
    control: str
    expected: str
    score: float | None
    """The score; None if ungraded."""
    reason: str
    right: bool


@dataclass(frozen=True, slots=True)
class Report:
    task: str
    findings: tuple[Finding, ...] = ()
    graded: tuple[GradedControl, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """Checks that were not possible, and why."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)

    @property
    def passed(self) -> bool:
        return not self.errors

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "passed": self.passed}


def error(check: AuditCheck, what: str, where: str = "", do: str = "") -> Finding:
    return Finding(check, Severity.ERROR, what, where, do)


def warning(check: AuditCheck, what: str, where: str = "", do: str = "") -> Finding:
    return Finding(check, Severity.WARNING, what, where, do)


def without_repetitions(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings without duplicates (two instances with one brief have the same), errors first."""
    seen = dict.fromkeys(findings)
    return tuple(sorted(seen, key=lambda f: (f.severity is not Severity.ERROR, f.check, f.where, f.what)))
