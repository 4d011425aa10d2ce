"""Qualify jobs: a program examines them, experts decide, and the jobs that qualify become a suite."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import PlanError, UsageError
from worksample.store import put_canonical

from .stores_and_packages import use_store

if TYPE_CHECKING:
    from worksample.formats.jobs.screening import JobExamination
    from worksample.people.quality.qualification_funnel import Funnel
    from worksample.records import Instance, Round
    from worksample.store import Store

    from .stores_and_packages import Where


@dataclass(frozen=True)
class Qualifying:
    """Settings of the questions to experts about jobs."""

    questions: Path | None = None
    """A TOML file with a firm's own questions."""
    both: bool = False
    """Ask two experts about every job, instead of a second one only about jobs that qualified."""
    sandbox: str = "bubblewrap"
    reason: str = ""


@dataclass(frozen=True)
class OpenedQualification:
    """The opened round, and the program's findings by instance id."""

    round: Round
    looks: dict[str, JobExamination]


def qualify(
    suite: str | Path, config: Qualifying | None = None, *, store: Where = None,
    told: Callable[[int], None] = lambda done: None,
) -> OpenedQualification:  # fmt: skip
    """Add a suite's jobs to the store, examine each, and open a round in which experts decide which are fit.

    Raises ManifestError, PlanError if the suite has no jobs, SandboxUnavailable, or StoreError.
    """
    from worksample.formats.jobs.screening import JobExaminer, examine_jobs
    from worksample.people import People, PeopleRound, RoundKind
    from worksample.people.quality.qualification_funnel import IMPORT
    from worksample.people.rounds.job_questions import read_questions
    from worksample.people.rounds.job_screening_results import store_looks
    from worksample.records import ResolutionRule
    from worksample.tasks import find_suite

    config = config or Qualifying()
    questions = read_questions(config.questions) if config.questions else ()
    path = find_suite(str(suite))
    with use_store(store, create=True) as here:
        jobs = _ingest_jobs(here, path)
        looks = asyncio.run(examine_jobs(JobExaminer(here, sandbox=config.sandbox), jobs, show_progress=told))
        beside = _import_counts(path)
        round = People(here).open_people_round(
            PeopleRound(
                kind=RoundKind.QUALIFICATION, subjects=tuple(job.id for job in jobs), questions=questions,
                rule=ResolutionRule.TIE_BREAK if config.both else None, reason=config.reason,
                looks=store_looks(here, {id: look.plain() for id, look in looks.items()}),
                versions={IMPORT: put_canonical(here.blobs, beside)} if beside else {},
            )
        )  # fmt: skip
    return OpenedQualification(round, looks)


def add_jobs(suite: str | Path, *, store: Where = None) -> tuple[str, ...]:
    """Add a suite's jobs to the store, so that their qualification can be opened in the app; return ids of instances.

    Raises ManifestError, PlanError if the suite has no jobs, or StoreError.
    """
    from worksample.tasks import find_suite

    with use_store(store, create=True) as here:
        return tuple(job.id for job in _ingest_jobs(here, find_suite(str(suite))))


def _ingest_jobs(store: Store, path: Path) -> list[Instance]:
    from worksample.errors import RecordMissing
    from worksample.records import Instance
    from worksample.tasks import ingest, read_suite

    out = []
    for package in read_suite(path, verify=False).packages:
        made = ingest(package, store.blobs)
        jobs = [i for i in made.instances if i.about.job is not None]
        if not jobs:
            continue
        try:
            known = [store.get(Instance, i.id) for i in made.instances]
        except RecordMissing:
            store.commit(made.task, *made.instances)
            known = list(made.instances)
        out += [i for i in known if i.about.job is not None]
    if not out:
        next = "worksample import jobs TABLE OUT, then worksample jobs qualify OUT"
        raise PlanError("no task of this suite was made from a job", where=str(path), next=next)
    return out


def _import_counts(path: Path) -> dict[str, object]:
    """Return the counts of the suite's import, or {} if their file is missing."""
    from worksample.formats.jobs.table_import import COUNTS_FILE

    file = (path if path.is_dir() else path.parent) / COUNTS_FILE
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        left_out = {str(k): int(v) for k, v in found["left_out"].items()}
        return {"rows": int(found["rows"]), "left_out": left_out, "faults": int(found["faults"])}
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise PlanError("the file with the import's counts cannot be read", where=str(file), next=f"rm {file}") from e


def funnel(round: str = "", *, store: Where = None) -> Funnel:
    """Return how many jobs dropped out at each step of a qualification (by default the latest), and why. Raises
    PlanError.
    """
    from worksample.people.quality.qualification_funnel import funnel as found

    with use_store(store) as here:
        return found(here, round)


def keep_qualified(suite: str | Path, out: Path, round: str = "", *, store: Where = None) -> tuple[str, ...]:
    """Copy the packages of jobs that qualified to `out`, and return their names.

    A package without a rubric gets the one that an expert wrote. Raises UsageError if `out` exists, and PlanError if no
    job qualified.
    """
    from worksample.formats.jobs.job_package import criteria_text
    from worksample.tasks import find_suite, read_suite

    if out.exists():
        raise UsageError("the folder exists already", where=str(out), next="name a new folder")
    found = read_suite(find_suite(str(suite)), verify=False)
    kept = {j.contract: j for j in funnel(round, store=store).jobs if j.passed}
    chosen = [p for p in found.packages if p.about.job is not None and p.about.job.contract in kept]
    if not chosen:
        raise PlanError("no job of the suite has qualified", where=str(suite), next="worksample jobs funnel")
    # If the process is killed, no incomplete suite keeps the final name.
    making = out.with_name(f"{out.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    for package in chosen:
        target = making / package.root.name
        shutil.copytree(package.root, target, symlinks=True)
        criteria = kept[package.about.job.contract].criteria if package.about.job else None
        if criteria and criteria.criteria and not package.criteria.criteria:
            (target / "criteria.toml").write_text(criteria_text(criteria), encoding="utf-8")
            manifest = target / "task.toml"
            text = manifest.read_text(encoding="utf-8")
            text = text.replace("\n[[instance]]", "\n[grading.rubric]\n\n[[instance]]", 1)
            manifest.write_text(text, encoding="utf-8")
    head = (
        f'name = "{found.name}"\ntitle = {json.dumps(found.title)}\nversion = "{found.version}"\n'
        f'visibility = "{found.visibility}"\ntasks = ["*"]\n'
    )
    (making / "suite.toml").write_text(head, encoding="utf-8")
    making.rename(out)
    return tuple(package.root.name for package in chosen)
