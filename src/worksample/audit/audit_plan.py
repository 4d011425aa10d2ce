"""The plan of an audit: the submissions that it grades for one instance and protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from worksample.records import Grading, Instance, Protocol, Submission, quote_path, unquote_path

from .control_builder import ControlBuilder, Made
from .deliverable_paths import is_deliverable
from .findings import AuditCheck, Finding, error
from .grader_source import check_required
from .reference_perturbations import Perturbation, perturb

PERTURBED = 1 << 20
"""Maximum size in bytes of a deliverable whose figures are changed."""


@dataclass(frozen=True, slots=True)
class GradingJob:
    """A single grading of a control submission."""

    name: str
    instance: Instance
    protocol: Protocol
    submission: Submission


@dataclass
class AuditPlan:
    """The submissions to grade. `jobs` are the controls, each repeated, then those with changed figures, then the one
    without a reference.
    """

    instance: Instance
    protocol: Protocol
    repeats: int
    controls: list[Made]
    proven: bool = True
    """Whether a submission is known that should score full."""
    changes: list[tuple[Perturbation, Submission]] = field(default_factory=list)
    bare: tuple[Instance, Submission] | None = None
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def entry(self) -> str:
        return self.instance.grading[self.protocol].entry

    @property
    def jobs(self) -> list[GradingJob]:
        made = [
            GradingJob(control.name, self.instance, self.protocol, submission)
            for control, submission in self.controls
            for _ in range(self.repeats)
        ]
        made += [
            GradingJob(f"{change.path} changed", self.instance, self.protocol, copy) for change, copy in self.changes
        ]
        if self.bare is not None:
            made.append(GradingJob("no reference", self.bare[0], self.protocol, self.bare[1]))
        return made


def plan_audit(bench: ControlBuilder, instance: Instance, protocol: Protocol, repeats: int) -> AuditPlan:
    """Plan the controls, the changed figures, and the correct deliverables without a reference; commit all of them to
    the builder's store.
    """
    one = AuditPlan(instance, protocol, repeats, [])
    proven = one.proven = _has_deliverables(bench, instance, protocol)
    one.controls = [made for made in bench.build_all(instance, protocol) if proven or made[0].name != "reference"]
    if not proven:
        names = ", ".join(repr(d.name) for d in instance.work.deliverables if d.required) or "anything"
        what = f"no correct submission is known: neither the reference nor cases/reference contains {names}"
        one.findings.append(error(AuditCheck.CONTROLS, what, instance.name, _how_to_add_solution(instance)))
    elif (instance.id, protocol) in bench.solved:
        one.notes.append(
            f"{instance.key}: the reference is the result of the task's own solution; the grader does not see it"
        )
    elif not bench.store.manifest(instance.grading[protocol].reference).files:
        one.notes.append(f"{instance.key}: the grader has no reference, so grading without one could not be tested")
    else:
        one.bare = bench.without_reference(instance, protocol)
    if proven:
        right = bench.store.manifest(bench.reference(instance, protocol).parts["output"].manifest).files
        held = tuple(unquote_path(e.path).decode("utf-8", "replace") for e in right)
        one.findings += check_required(bench.store, instance, protocol, held)
        one.changes = list(_perturbed_submissions(bench, instance, protocol))
    return one


def _how_to_add_solution(instance: Instance) -> str:
    """Say what to do if no correct submission is known."""
    if instance.work.environment.workplace is not None:
        return "add cases/reference/script.toml, which does the work in the services"
    return "add cases/reference/output/ with one"


def _has_deliverables(bench: ControlBuilder, instance: Instance, protocol: Protocol) -> bool:
    """Return whether a correct submission is known: one that contains any of the required deliverables."""
    if "reference" in bench.performed.get(instance.id, {}):
        return True
    if bench.own_reference(instance) is not None or (instance.id, protocol) in bench.solved:
        return True
    wanted = [d.name for d in instance.work.deliverables if d.required]
    if instance.work.environment.workplace is not None:
        return False
    held = bench.store.manifest(instance.grading[protocol].reference).files
    paths = [unquote_path(e.path).decode("utf-8", "replace") for e in held]
    return bool(paths and not wanted) or any(is_deliverable(path, wanted) for path in paths)


def _perturbed_submissions(
    bench: ControlBuilder, instance: Instance, protocol: Protocol
) -> Iterator[tuple[Perturbation, Submission]]:
    """Yield copies of the reference with one figure moved within or beyond the tolerance that the package states."""
    full, store = bench.reference(instance, protocol), bench.store
    wanted = {quote_path(d.name.encode()) for d in instance.work.deliverables}
    for entry in store.manifest(full.parts["output"].manifest).files:
        if entry.path not in wanted or entry.blob is None or entry.size > PERTURBED:
            continue
        for change in perturb(entry.path, store.blobs.read(entry.blob), settings(instance.grading[protocol])):
            yield change, bench.change_file(full, entry.path, change.data)


def settings(grading: Grading) -> dict[str, object]:
    """Return a grading's settings; the instance's override the task's."""
    return {**grading.settings, **grading.instance_settings}
