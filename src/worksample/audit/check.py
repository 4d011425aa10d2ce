"""`worksample task check`: a task proven before it is used (design: "Audit before use")."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from worksample.errors import Cause
from worksample.grading import grade, open_round
from worksample.records import Evaluation, Grade, Grading, Instance, Protocol, Submission, quote_path
from worksample.store import Store
from worksample.tasks import Package, ingest

from .brief import check_brief
from .controls import Bench, Control, Made
from .finding import Check, Finding, Graded, Report, error, once, warning
from .leaks import check_leaks
from .names import check_names
from .perturb import Change, changes
from .points import check_coverage, check_points, leaves

EXISTENCE = {"nothing", "empty files", "copied inputs"}


@dataclass(frozen=True)
class AuditConfig:
    """How an audit is done."""

    parallel: int = 2
    """Grading boxes at once."""
    sandbox: str = "bubblewrap"
    on_step: Callable[[str], None] = lambda text: None
    """Told what is being graded, for a progress bar."""


@dataclass
class _Audit:
    bench: Bench
    config: AuditConfig
    findings: list[Finding] = field(default_factory=list)
    graded: list[Graded] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(package: Package, config: AuditConfig | None = None) -> Report:
    """Audit every instance of a package in a store of its own. Raises ManifestError where a case is malformed."""
    return asyncio.run(check_async(package, config or AuditConfig()))


async def check_async(package: Package, config: AuditConfig) -> Report:
    """As `check`, for callers with a running event loop."""
    with tempfile.TemporaryDirectory(prefix="worksample-audit-") as temporary:
        root = Path(temporary)
        store = Store.open(root / "store", create=True)
        try:
            taken = ingest(package, store.blobs)
            store.commit(taken.task, *taken.instances)
            audit = _Audit(Bench(store, package), config)
            for instance in taken.instances:
                await _instance(audit, instance)
            return Report(taken.task.name, once(audit.findings), tuple(audit.graded), tuple(dict.fromkeys(audit.notes)))
        finally:
            store.close()


async def _instance(audit: _Audit, instance: Instance) -> None:
    audit.findings.extend(check_brief(instance))
    programs = [p for p in instance.grading if p in (Protocol.PROGRAM, Protocol.CHECKPOINTS)]
    if not programs:
        audit.notes.append(f"{instance.key}: no program grades it, so no control was graded")
    for protocol in programs:
        grading = instance.grading[protocol]
        audit.findings.extend(check_leaks(audit.bench.store, instance, grading.reference))
        audit.findings.extend(check_names(audit.bench.store, instance, protocol))
        grades = await _controls(audit, instance, protocol)
        where = f"{instance.name}: {grading.entry}"
        audit.findings.extend(check_points(grading.criteria, grades, where))
        audit.findings.extend(check_coverage(grading.criteria, grades, where))
        await _tolerance(audit, instance, protocol)
        await _missing_reference(audit, instance, protocol)


async def _controls(audit: _Audit, instance: Instance, protocol: Protocol) -> list[tuple[str, Grade]]:
    """Grade every control twice; say what scored wrong or differently."""
    controls = list(audit.bench.all(instance, protocol))
    pairs = [(control, submission) for control, submission in controls for _ in (1, 2)]
    results = await _grade(audit, instance, protocol, pairs)
    grades = []
    for (control, _), first, second in zip(controls, results[::2], results[1::2], strict=True):
        grade_given = first.payload if isinstance(first.payload, Grade) else None
        score = grade_given.score if grade_given else None
        low, high = control.bounds
        right = score is not None and low - 1e-6 <= score <= high + 1e-6
        reason = grade_given.reason if grade_given else first.reason
        audit.graded.append(Graded(instance.name, control.name, control.expected, score, reason, right))
        if not right:
            audit.findings.append(_wrong(instance, control, score, reason))
        if grade_given:
            grades.append((control.name, grade_given))
            audit.findings.extend(_parts(instance, control, grade_given))
        if (first.payload, first.cause) != (second.payload, second.cause):
            what = f"{control.name}: graded twice, with different results"
            audit.findings.append(
                error(Check.REPEAT, what, instance.name, "take time, chance and order out of the grader")
            )
    return grades


def _wrong(instance: Instance, control: Control, score: float | None, reason: str) -> Finding:
    got = "is ungraded" if score is None else f"scores {score:g}"
    kind = Check.EXISTENCE if control.name in EXISTENCE else Check.CASES
    if control.name == "reference":
        kind = Check.CONTROLS
    what = f"{control.name} {got}, expected {control.expected}" + (
        f" ({reason.splitlines()[-1][:200]})" if reason else ""
    )
    do = "points must be earned by work, not by a file that exists" if kind is Check.EXISTENCE else ""
    return error(kind, what, instance.name, do)


def _parts(instance: Instance, control: Control, given: Grade) -> Iterable[Finding]:
    passed = {part.name: part.passed for part in leaves(given.parts)}
    for name, wanted in control.passes.items():
        if passed.get(name) is not wanted:
            got = "has no such part" if name not in passed else ("passes it" if passed[name] else "fails it")
            what = f"{control.name}: criterion {name!r} should {'pass' if wanted else 'fail'}, the grader {got}"
            yield error(Check.CASES, what, instance.name)


async def _tolerance(audit: _Audit, instance: Instance, protocol: Protocol) -> None:
    """Figures of the reference moved within and beyond the tolerance that the package states."""
    grading, store = instance.grading[protocol], audit.bench.store
    full = audit.bench.reference(instance, protocol)
    wanted = {quote_path(d.name.encode()) for d in instance.work.deliverables}
    made: list[Change] = []
    pairs: list[Made] = []
    for entry in store.manifest(full.parts["output"].manifest).files:
        if entry.path not in wanted or entry.blob is None or entry.size > 1 << 20:
            continue
        for change in changes(entry.path, store.blobs.read(entry.blob), _settings(grading)):
            made.append(change)
            copy = audit.bench.changed(full, entry.path, change.data)
            pairs.append((Control(f"{entry.path} changed", (0.0, 1.0)), copy))
    for change, evaluation in zip(made, await _grade(audit, instance, protocol, pairs), strict=True):
        if not isinstance(evaluation.payload, Grade):
            continue
        passes = evaluation.payload.full
        place = f"{change.path} ({change.where})"
        if change.within and not passes:
            what = f"{place} changed within its stated tolerance is not full"
            audit.findings.append(error(Check.TOLERANCE, what, instance.name))
        if not change.within and passes:
            what = f"{place} changed far beyond its tolerance still scores full"
            do = "let the grader look at this figure, or do not ask for it"
            audit.findings.append(warning(Check.TOLERANCE, what, instance.name, do))


def _settings(grading: Grading) -> dict[str, object]:
    return {**grading.settings, **grading.instance_settings}


async def _missing_reference(audit: _Audit, instance: Instance, protocol: Protocol) -> None:
    """Without its reference a grader must say so: ungraded. A score would call our own fault the agent's."""
    grading = instance.grading[protocol]
    if not audit.bench.store.manifest(grading.reference).files:
        audit.notes.append(f"{instance.key}: the grader has no reference, so its absence could not be tried")
        return
    stripped, moved = audit.bench.without_reference(instance, protocol)
    result = (await _grade(audit, stripped, protocol, [(Control("no reference", (0, 1)), moved)]))[0]
    if isinstance(result.payload, Grade):
        what = f"without its reference the grader still gives {result.payload.score:g}"
        do = "read it through case.reference(), which leaves the submission ungraded"
        if result.payload.full:
            audit.findings.append(
                warning(Check.REFERENCE, f"{what}: it never reads it", instance.name, "drop what is not used")
            )
        else:
            audit.findings.append(error(Check.REFERENCE, what, instance.name, do))
    elif result.cause is not Cause.GRADER_REFERENCE:
        what = f"without its reference the grader ends with {result.cause}: {result.reason[-200:]}"
        audit.findings.append(warning(Check.REFERENCE, what, instance.name, "read it through case.reference()"))


async def _grade(audit: _Audit, instance: Instance, protocol: Protocol, pairs: list[Made]) -> list[Evaluation]:
    """Grade submissions side by side, in order of `pairs`. One round for each of a repeated subject."""
    store, limit = audit.bench.store, asyncio.Semaphore(audit.config.parallel)

    async def one(control: Control, submission: Submission) -> Evaluation:
        async with limit:
            audit.config.on_step(f"{instance.name}: {control.name}")
            round = open_round(store, subjects=(submission.id,), protocol=protocol, author="audit", reason="audit")
            return await grade(store, round, submission, instance, sandbox=audit.config.sandbox)

    jobs: list[Awaitable[Evaluation]] = [one(control, submission) for control, submission in pairs]
    return list(await asyncio.gather(*jobs))
