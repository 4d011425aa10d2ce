"""Control submissions of a package: their contents, and the scores that they must get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from worksample.agents import ScriptStep, read_steps
from worksample.audit.control_submissions import control, control_case
from worksample.records import FULL as LEAST
from worksample.records import GradePayload, Instance, Manifest, Protocol, Submission
from worksample.store import Store, put_canonical
from worksample.tasks import Package
from worksample.tasks.control_cases import SCRIPT

FULL = (1.0, 1.0)
NOTHING = (0.0, 0.0)
NOT_PASSED = (0.0, LEAST)


@dataclass(frozen=True, slots=True)
class ControlSubmission:
    """A submission made for the audit, and the scores that are correct for it."""

    name: str
    bounds: tuple[float, float]
    passes: Mapping[str, bool] = field(default_factory=dict)

    @property
    def expected_range(self) -> str:
        low, high = self.bounds
        if low == high:
            return f"{low:g}"
        return "no pass" if self.bounds == NOT_PASSED else f"{low:g} to {high:g}"

    def allows(self, grade: GradePayload) -> bool:
        """Return whether a score is correct, to a millionth. If no pass is allowed, a full score is never correct."""
        low, high = self.bounds
        return low - 1e-6 <= grade.score <= high + 1e-6 and (high >= 1.0 or not grade.full)


Made = tuple[ControlSubmission, Submission]


@dataclass(frozen=True, slots=True)
class ControlBuilder:
    """A builder of one package's control submissions."""

    store: Store
    package: Package
    solved: Mapping[tuple[str, Protocol], Submission] = field(default_factory=dict)
    """Instance id and protocol -> the result of the task's own solution."""
    performed: Mapping[str, Mapping[str, Submission]] = field(default_factory=dict)
    """Instance id and script name -> the script's result in the company's services."""

    def build_all(self, instance: Instance, protocol: Protocol) -> Iterator[Made]:
        """Yield the controls: reference, nothing, empty files, copied inputs, and the author's cases."""
        yield ControlSubmission("reference", FULL), self.reference(instance, protocol)
        done = self.performed.get(instance.id, {})
        yield ControlSubmission("nothing", NOTHING), done.get("nothing") or control(self.store, instance, "nothing")
        if instance.work.deliverables:
            yield (
                ControlSubmission("empty files", NOTHING),
                self._with_services(control(self.store, instance, "empty"), done),
            )
        if instance.work.deliverables or not done:
            yield (
                ControlSubmission("copied inputs", NOT_PASSED),
                self._with_services(control(self.store, instance, "inputs"), done),
            )
        for case in self.package.cases:
            if case.instance == instance.name:
                base = protocol if case.base == "reference" else None
                submission = done.get(f"case {case.name}") or self._with_services(
                    control_case(self.store, instance, case.name, case.output.parent, base=base), done
                )
                yield ControlSubmission(f"case {case.name}", (case.low, case.high), case.passes), submission

    def _with_services(self, submission: Submission, done: Mapping[str, Submission]) -> Submission:
        """Add the services' initial state to a submission, for a task whose work is done in services."""
        if "nothing" not in done:
            return submission
        whole = submission.replaced(id=uuid4().hex, parts={**done["nothing"].parts, **submission.parts})
        self.store.commit(whole)
        return whole

    def scripts(self, instance: Instance) -> dict[str, tuple[ScriptStep, ...]]:
        """Return the scripts of a task that is done in a company, by control name. Raises ManifestError for a malformed
        script.
        """
        cases = (case for case in self.package.cases if case.instance == instance.name)
        own = {case.name: case.script for case in cases if case.script is not None}
        first = self.package.root / "cases" / "reference"
        right = next((path for path in (first / instance.name / SCRIPT, first / SCRIPT) if path.is_file()), None)
        found: dict[str, tuple[ScriptStep, ...]] = {"nothing": ()}
        if right is not None:
            found["reference"] = read_steps(right, instance.name)
        return found | {f"case {name}": read_steps(path, instance.name) for name, path in own.items()}

    def reference(self, instance: Instance, protocol: Protocol) -> Submission:
        """Return the reference's deliverables as a submission; `cases/reference/` replaces them if the reference has
        another form.
        """
        if (instance.id, protocol) in self.solved:
            return self.solved[instance.id, protocol]
        if "reference" in self.performed.get(instance.id, {}):
            return self.performed[instance.id]["reference"]
        own = self.own_reference(instance)
        if own is not None:
            return control_case(self.store, instance, "reference", own)
        return control(self.store, instance, "reference", protocol=protocol)

    def own_reference(self, instance: Instance) -> Path | None:
        """Return `cases/reference/<instance>/` or `cases/reference/`, whichever has an `output/`, or None."""
        root = self.package.root / "cases" / "reference"
        return next((p for p in (root / instance.name, root) if (p / "output").is_dir()), None)

    def change_file(self, submission: Submission, path: str, data: bytes) -> Submission:
        """Copy a submission with one deliverable (a quoted path) replaced."""
        output = submission.parts["output"]
        blob = self.store.blobs.put(data)
        entries = tuple(
            e.replaced(blob=blob, size=len(data)) if e.path == path else e
            for e in self.store.manifest(output.manifest).entries
        )
        manifest = put_canonical(self.store.blobs, Manifest(entries=entries).plain())
        copy = submission.replaced(
            id=uuid4().hex, control="changed", parts={**submission.parts, "output": output.replaced(manifest=manifest)}
        )
        self.store.commit(copy)
        return copy

    def without_reference(self, instance: Instance, protocol: Protocol) -> tuple[Instance, Submission]:
        """Return the instance with an empty reference, and the correct deliverables as a submission to it."""
        empty = put_canonical(self.store.blobs, Manifest().plain())
        bare = instance.grading[protocol].replaced(reference=empty)
        stripped = instance.replaced(id=f"{instance.id}-bare", grading={**instance.grading, protocol: bare})
        full = self.reference(instance, protocol)
        moved = full.replaced(id=uuid4().hex, instance=stripped.id)
        self.store.commit(stripped, moved)
        return stripped, moved
