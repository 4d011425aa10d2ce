"""`worksample task check`: a task proven before it is used (design: "Audit before use")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from worksample.errors import UsageError
from worksample.files.scratch import scratch
from worksample.files.stray_files import litter_below, litter_note
from worksample.grading import grade, has_solution, open_round, perform, solve
from worksample.records import Evaluation, Instance, Protocol, Submission
from worksample.steady_loop import run_steadily
from worksample.store import Store
from worksample.tasks import Package, ingest
from worksample.workplace.warm_pool import warm_pool

from .audit_plan import AuditPlan, GradingJob, plan
from .brief_checks import check_brief, check_examples
from .control_builder import ControlBuilder
from .control_results import Read, bare_finding, control_findings, tolerance_findings
from .findings import AuditCheck, Finding, Report, error, once
from .grader_source import check_source
from .leak_checks import check_leaks
from .name_checks import check_names
from .point_checks import check_coverage, check_declared, check_kinds, check_points
from .rendering_checks import reference_notes, rendering_notes
from .rubric_checks import check_rubric


@dataclass(frozen=True)
class AuditConfig:
    """How an audit is done."""

    parallel: int = 2
    """Grading boxes at once."""
    sandbox: str = "bubblewrap"
    repeats: int = 2
    """How often each control is graded; 1 leaves repeatability unproven, and the report says so."""
    rendering: bool = True
    """Look at how inputs and references will be shown to people who judge."""
    static: bool = False
    """Look at the package only: nothing is graded, and the report says so."""
    on_step: Callable[[str], None] = lambda text: None
    """Told what is being graded, for a progress bar."""


def check(package: Package, config: AuditConfig | None = None) -> Report:
    """Audit every instance of a package in a store of its own.

    Raises ManifestError where a case is malformed, UsageError for a config that cannot be.
    """
    return run_steadily(check_async(package, config or AuditConfig()))


async def check_async(package: Package, config: AuditConfig) -> Report:
    """As `check`, for callers with a running event loop."""
    for name in ("parallel", "repeats"):
        if getattr(config, name) < 1:
            raise UsageError(
                f"{name} is {getattr(config, name)}; it must be 1 or more", where="audit", next="pass 1 or more"
            )
    with scratch("audit") as temporary:
        store = Store.open(temporary / "store", create=True)
        try:
            taken = ingest(package, store.blobs)
            store.commit(taken.task, *taken.instances)
            read = Read(notes=[] if config.repeats > 1 else ["each control was graded once: repeatability is unproven"])
            bench = ControlBuilder(store, package, await _solved(store, taken.instances, config))
            bench = replace(bench, performed=await _performed(bench, taken.instances, config, read))
            plans = [p for i in taken.instances for p in _prepare(bench, i, config, read)]
            read.notes.extend(filter(None, [litter_note(litter_below(package.root))]))
            read.notes.extend(reference_notes(store, taken.instances))
            if config.rendering and not config.static:
                read.notes.extend(await rendering_notes(store, taken.instances, parallel=config.parallel))
            graded = iter(await _grade(store, [job for one in plans for job in one.jobs], config))
            for one in plans:
                _conclude(one, list(islice(graded, len(one.jobs))), read)
            return Report(taken.task.name, once(read.findings), tuple(read.graded), tuple(dict.fromkeys(read.notes)))
        finally:
            store.close()


async def _solved(
    store: Store, instances: Sequence[Instance], config: AuditConfig
) -> dict[tuple[str, Protocol], Submission]:
    """What the tasks' own solutions leave; nothing where nothing is graded."""
    found: dict[tuple[str, Protocol], Submission] = {}
    for instance in () if config.static else instances:
        for protocol in instance.grading:
            if has_solution(instance, protocol):
                config.on_step(f"{instance.name}: the solution is run")
                found[instance.id, protocol] = await solve(store, instance, protocol, sandbox=config.sandbox)
    return found


def _told(config: AuditConfig, instance: str, name: str) -> None:
    config.on_step(f"{instance}: {name} is performed")


async def _performed(
    bench: ControlBuilder, instances: Sequence[Instance], config: AuditConfig, read: Read
) -> dict[str, dict[str, Submission]]:
    """What the scripts of tasks that are done in a company leave in its services; nothing where nothing is graded."""
    found: dict[str, dict[str, Submission]] = {}
    for instance in () if config.static else instances:
        if instance.work.environment.workplace is None:
            continue
        told = partial(_told, config, instance.name)
        done = await perform(bench.store, instance, bench.scripts(instance), sandbox=config.sandbox, on_step=told)
        found[instance.id] = {name: one.submission for name, one in done.items()}
        for name, one in done.items():
            if one.failed:
                what = f"the script of {name} does not come to its end: {one.failed}"
                read.findings.append(
                    error(AuditCheck.CASES, what, instance.name, "let every command of a script succeed")
                )
    return found


def _prepare(bench: ControlBuilder, instance: Instance, config: AuditConfig, read: Read) -> Iterator[AuditPlan]:
    """What can be said of an instance without grading; a plan of what is to be graded for each protocol."""
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
        yield plan(bench, instance, protocol, config.repeats)


def _static(store: Store, instance: Instance, protocol: Protocol) -> Iterator[Finding]:
    grading = instance.grading[protocol]
    yield from check_leaks(store, instance, grading.reference)
    yield from check_names(store, instance, protocol)
    yield from check_examples(store, instance, protocol)
    yield from check_declared(grading, "criteria.toml")


def _conclude(one: AuditPlan, results: Sequence[Evaluation], read: Read) -> None:
    """What the gradings of one plan say."""
    grading, where = one.instance.grading[one.protocol], f"{one.instance.name}: {one.entry}"
    read.findings.extend(one.findings)
    read.notes.extend(one.notes)
    rest = iter(results)
    grades = control_findings(one, list(islice(rest, len(one.controls) * one.repeats)), read)
    read.findings.extend(check_points(grading.criteria, grades, where))
    if one.proven:
        read.findings.extend(check_coverage(grading.criteria, grades, where))
    read.findings.extend(tolerance_findings(one, list(islice(rest, len(one.changes)))))
    read.findings.extend(finding for result in rest for finding in bare_finding(one, result))


def _name(job: GradingJob) -> str:
    return f"{job.instance.name}: {job.name}"


async def _grade(store: Store, jobs: Sequence[GradingJob], config: AuditConfig) -> list[Evaluation]:
    """Grade side by side, in the order of `jobs`, a round for each.

    Where one fails the others are cancelled and waited for: none may still write when the store closes.
    """
    limit = asyncio.Semaphore(config.parallel)
    # A control is graded more than once, and told once.
    names, told = {_name(job) for job in jobs}, set[str]()

    def tell(name: str) -> None:
        if name not in told:
            told.add(name)
            config.on_step(f"{name} ({len(told)} of {len(names)})")

    async def one(job: GradingJob) -> Evaluation:
        async with limit:
            tell(_name(job))
            subjects = (job.submission.id,)
            round = open_round(store, subjects=subjects, protocol=job.protocol, author="audit", reason="audit")
            return await grade(store, round, job.submission, job.instance, sandbox=config.sandbox)

    asking = sum(bool(job.instance.grading[job.protocol].settings.get("workplace")) for job in jobs)
    async with warm_pool(asking):
        tasks = [asyncio.create_task(one(job)) for job in jobs]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
