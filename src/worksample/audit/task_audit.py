"""`worksample task check`: audit a task before it is used (design: "Audit before use")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from worksample.errors import UsageError
from worksample.files.scratch_folder import scratch_folder
from worksample.files.stray_files import stray_files_below, stray_files_note
from worksample.grading import grade, has_solution, open_round, perform_scripts, run_solution
from worksample.records import Evaluation, Instance, Protocol, Submission
from worksample.stall_tolerant_loop import run_steadily
from worksample.store import Store
from worksample.tasks import Package, ingest
from worksample.workplace.warm_pool import warm_pool

from .audit_plan import AuditPlan, GradingJob, plan_audit
from .brief_checks import check_brief, check_examples
from .control_builder import ControlBuilder
from .control_results import AuditResults, control_findings, missing_reference_findings, tolerance_findings
from .findings import AuditCheck, Finding, Report, error, without_repetitions
from .grader_source import check_source
from .leak_checks import check_leaks
from .name_checks import check_names
from .point_checks import check_coverage, check_declared, check_kinds, check_points
from .rendering_checks import reference_notes, rendering_notes
from .rubric_checks import check_rubric


@dataclass(frozen=True)
class AuditConfig:
    """Settings of an audit."""

    parallel: int = 2
    """Number of grading boxes at once."""
    sandbox: str = "bubblewrap"
    repeats: int = 2
    """Number of gradings of each control; with 1, repeatability stays unproven, and the report says so."""
    rendering: bool = True
    """Whether to check how inputs and references are rendered for people who judge."""
    static: bool = False
    """Whether to check the package only, without grading; the report says so."""
    on_step: Callable[[str], None] = lambda text: None
    """Called with the name of each step, for a progress bar."""


def check(package: Package, config: AuditConfig | None = None) -> Report:
    """Audit every instance of a package in a temporary store.

    Raises ManifestError for a malformed case, UsageError for an impossible config.
    """
    return run_steadily(check_async(package, config or AuditConfig()))


async def check_async(package: Package, config: AuditConfig) -> Report:
    """Audit as `check`, for callers with a running event loop."""
    for name in ("parallel", "repeats"):
        if getattr(config, name) < 1:
            raise UsageError(
                f"{name} is {getattr(config, name)}; it must be 1 or more", where="audit", next="pass 1 or more"
            )
    with scratch_folder("audit") as temporary:
        store = Store.open(temporary / "store", create=True)
        try:
            taken = ingest(package, store.blobs)
            store.commit(taken.task, *taken.instances)
            read = AuditResults(
                notes=[] if config.repeats > 1 else ["each control was graded once: repeatability is unproven"]
            )
            bench = ControlBuilder(store, package, await _run_solutions(store, taken.instances, config))
            bench = replace(bench, performed=await _run_scripts(bench, taken.instances, config, read))
            plans = [p for i in taken.instances for p in _prepare(bench, i, config, read)]
            read.notes.extend(filter(None, [stray_files_note(stray_files_below(package.root))]))
            read.notes.extend(reference_notes(store, taken.instances))
            if config.rendering and not config.static:
                read.notes.extend(await rendering_notes(store, taken.instances, parallel=config.parallel))
            graded = iter(await _grade(store, [job for grade_job in plans for job in grade_job.jobs], config))
            for grade_job in plans:
                _conclude(grade_job, list(islice(graded, len(grade_job.jobs))), read)
            return Report(
                taken.task.name,
                without_repetitions(read.findings),
                tuple(read.graded),
                tuple(dict.fromkeys(read.notes)),
            )
        finally:
            store.close()


async def _run_solutions(
    store: Store, instances: Sequence[Instance], config: AuditConfig
) -> dict[tuple[str, Protocol], Submission]:
    """Run the tasks' own solutions; none in a static audit."""
    found: dict[tuple[str, Protocol], Submission] = {}
    for instance in () if config.static else instances:
        for protocol in instance.grading:
            if has_solution(instance, protocol):
                config.on_step(f"{instance.name}: the solution is run")
                found[instance.id, protocol] = await run_solution(store, instance, protocol, sandbox=config.sandbox)
    return found


def _report_script(config: AuditConfig, instance: str, name: str) -> None:
    config.on_step(f"{instance}: {name} is performed")


async def _run_scripts(
    bench: ControlBuilder, instances: Sequence[Instance], config: AuditConfig, read: AuditResults
) -> dict[str, dict[str, Submission]]:
    """Run the scripts of tasks in a company and return their results; none in a static audit."""
    found: dict[str, dict[str, Submission]] = {}
    for instance in () if config.static else instances:
        if instance.work.environment.workplace is None:
            continue
        told = partial(_report_script, config, instance.name)
        done = await perform_scripts(
            bench.store, instance, bench.scripts(instance), sandbox=config.sandbox, on_step=told
        )
        found[instance.id] = {name: grade_job.submission for name, grade_job in done.items()}
        for name, grade_job in done.items():
            if grade_job.failed:
                what = f"the script of {name} does not finish: {grade_job.failed}"
                read.findings.append(
                    error(AuditCheck.CASES, what, instance.name, "correct the script so that every command succeeds")
                )
    return found


def _prepare(bench: ControlBuilder, instance: Instance, config: AuditConfig, read: AuditResults) -> Iterator[AuditPlan]:
    """Report findings that need no grading; yield a plan of the gradings for each protocol."""
    read.findings.extend(check_brief(instance))
    read.findings.extend(check_rubric(instance))
    read.findings.extend(check_kinds(instance))
    programs = [p for p in instance.grading if p in (Protocol.PROGRAM, Protocol.CHECKPOINTS)]
    if not programs:
        read.notes.append(f"{instance.key}: no program grades it, so no control was graded")
    if config.static:
        read.notes.append("nothing was graded")
    for protocol in programs:
        read.findings.extend(_static(bench.store, instance, protocol))
        broken = list(check_source(bench.store, instance, protocol))
        read.findings.extend(broken)
        if config.static or broken:
            continue
        yield plan_audit(bench, instance, protocol, config.repeats)


def _static(store: Store, instance: Instance, protocol: Protocol) -> Iterator[Finding]:
    grading = instance.grading[protocol]
    yield from check_leaks(store, instance, grading.reference)
    yield from check_names(store, instance, protocol)
    yield from check_examples(store, instance, protocol)
    yield from check_declared(grading, "criteria.toml")


def _conclude(grade_job: AuditPlan, results: Sequence[Evaluation], read: AuditResults) -> None:
    """Report the findings from the gradings of one plan."""
    grading, where = grade_job.instance.grading[grade_job.protocol], f"{grade_job.instance.name}: {grade_job.entry}"
    read.findings.extend(grade_job.findings)
    read.notes.extend(grade_job.notes)
    rest = iter(results)
    grades = control_findings(grade_job, list(islice(rest, len(grade_job.controls) * grade_job.repeats)), read)
    read.findings.extend(check_points(grading.criteria, grades, where))
    if grade_job.proven:
        read.findings.extend(check_coverage(grading.criteria, grades, where))
    read.findings.extend(tolerance_findings(grade_job, list(islice(rest, len(grade_job.changes)))))
    read.findings.extend(finding for result in rest for finding in missing_reference_findings(grade_job, result))


def _name(job: GradingJob) -> str:
    return f"{job.instance.name}: {job.name}"


async def _grade(store: Store, jobs: Sequence[GradingJob], config: AuditConfig) -> list[Evaluation]:
    """Grade side by side, in the order of `jobs`, each in its own round.

    If one grading fails, the others are cancelled and awaited: none may still write when the store closes.
    """
    limit = asyncio.Semaphore(config.parallel)
    # A control is graded more than once but reported once.
    names, told = {_name(job) for job in jobs}, set[str]()

    def tell(name: str) -> None:
        if name not in told:
            told.add(name)
            config.on_step(f"{name} ({len(told)} of {len(names)})")

    async def grade_job(job: GradingJob) -> Evaluation:
        async with limit:
            tell(_name(job))
            subjects = (job.submission.id,)
            round = open_round(store, subjects=subjects, protocol=job.protocol, author="audit", reason="audit")
            return await grade(store, round, job.submission, job.instance, sandbox=config.sandbox)

    asking = sum(bool(job.instance.grading[job.protocol].settings.get("workplace")) for job in jobs)
    async with warm_pool(asking):
        tasks = [asyncio.create_task(grade_job(job)) for job in jobs]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
