"""Findings from the gradings of control submissions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from worksample.errors import Cause
from worksample.records import Evaluation, GradePayload

from .audit_plan import AuditPlan
from .control_builder import ControlSubmission
from .findings import AuditCheck, Finding, GradedControl, error, warning
from .point_checks import passed_by

EXISTENCE = {"nothing", "empty files", "copied inputs"}


@dataclass
class AuditResults:
    """The findings of an audit so far."""

    findings: list[Finding] = field(default_factory=list)
    graded: list[GradedControl] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def control_findings(
    one: AuditPlan, results: Sequence[Evaluation], read: AuditResults
) -> list[tuple[str, GradePayload]]:
    """Report controls with a wrong score or with different scores; return the grades by control. results: `repeats` for
    each control.
    """
    grades, name = [], one.instance.name
    ungraded: dict[str, list[ControlSubmission]] = {}
    for number, (control, _) in enumerate(one.controls):
        first, *others = results[number * one.repeats : (number + 1) * one.repeats]
        given = first.payload if isinstance(first.payload, GradePayload) else None
        score, reason = (given.score, given.reason) if given else (None, first.reason)
        right = given is not None and control.allows(given)
        read.graded.append(GradedControl(name, control.name, control.expected_range, score, reason, right))
        if given is None:
            ungraded.setdefault(_first_line(reason), []).append(control)
        elif not right:
            read.findings.append(_wrong_score_finding(name, control, score, reason))
        if given:
            grades.append((control.name, given))
            read.findings.extend(_part_findings(name, control, given))
        if any((first.payload, first.cause) != (other.payload, other.cause) for other in others):
            what = f"{control.name}: graded {one.repeats} times, with different results"
            read.findings.append(
                error(AuditCheck.REPEAT, what, name, "make the grader independent of time, chance and order")
            )
    read.findings.extend(_ungraded_finding(name, reason, controls) for reason, controls in ungraded.items())
    return grades


def _ungraded_finding(instance: str, reason: str, controls: Sequence[ControlSubmission]) -> Finding:
    """Report one cause once, however many controls it leaves ungraded."""
    if len(controls) == 1:
        return _wrong_score_finding(instance, controls[0], None, reason)
    names = ", ".join(control.name for control in controls)
    return error(AuditCheck.CONTROLS, f"{len(controls)} controls are ungraded: {reason} ({names})", instance)


def _first_line(reason: str) -> str:
    """Return the first line of a reason; the traceback follows it."""
    return next(iter(reason.splitlines()), "")[:300]


def _wrong_score_finding(instance: str, control: ControlSubmission, score: float | None, reason: str) -> Finding:
    got = "is ungraded" if score is None else f"scores {score:g}"
    kind = AuditCheck.EXISTENCE if control.name in EXISTENCE and score is not None else AuditCheck.CASES
    if control.name == "reference" or (score is None and control.name in EXISTENCE):
        kind = AuditCheck.CONTROLS
    what = f"{control.name} {got}, expected {control.expected_range}" + (
        f" ({_first_line(reason)[:200]})" if reason else ""
    )
    do = "points must be earned by work, not by a file that exists" if kind is AuditCheck.EXISTENCE else ""
    return error(kind, what, instance, do)


def _part_findings(instance: str, control: ControlSubmission, given: GradePayload) -> Iterable[Finding]:
    passed = passed_by(given.parts)
    for name, wanted in control.passes.items():
        if passed.get(name) is not wanted:
            got = "has no such part" if name not in passed else ("passes it" if passed[name] else "fails it")
            what = f"{control.name}: criterion {name!r} should {'pass' if wanted else 'fail'}, the grader {got}"
            yield error(AuditCheck.CASES, what, instance)


def tolerance_findings(one: AuditPlan, results: Sequence[Evaluation]) -> Iterator[Finding]:
    """Report figures that lose points although they changed within the tolerance, or keep the full score although they
    changed far beyond it.
    """
    for (change, _), evaluation in zip(one.changes, results, strict=True):
        if not isinstance(evaluation.payload, GradePayload):
            continue
        passes, place = evaluation.payload.full, f"{change.path} ({change.where})"
        if change.within and not passes:
            what = f"{place} changed within its stated tolerance loses points"
            yield error(AuditCheck.TOLERANCE, what, one.instance.name)
        if not change.within and passes:
            what = f"{place} changed far beyond its tolerance still gets the full score"
            do = "let the grader check this figure, or do not ask for it"
            yield warning(AuditCheck.TOLERANCE, what, one.instance.name, do)


def missing_reference_findings(one: AuditPlan, result: Evaluation) -> Iterator[Finding]:
    """Report a grader that gives a score without its reference. It must leave the work ungraded, or a fault of the task
    would count against the agent.
    """
    name = one.instance.name
    if isinstance(result.payload, GradePayload):
        what = f"without its reference the grader still gives {result.payload.score:g}"
        if result.payload.full:
            yield warning(
                AuditCheck.REFERENCE,
                f"{what}: it never reads the reference",
                name,
                "remove the reference if no grader needs it",
            )
        else:
            do = "read it through case.reference(), which leaves the submission ungraded"
            yield error(AuditCheck.REFERENCE, what, name, do)
    elif result.cause is not Cause.GRADER_REFERENCE:
        what = f"without its reference the grader ends with {result.cause}: {_first_line(result.reason)[:200]}"
        yield warning(AuditCheck.REFERENCE, what, name, "read it through case.reference()")
