"""Jobs before they become tasks: a program looks, experts are asked, what qualifies becomes a suite."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import PlanError, UsageError
from worksample.files import put_canonical

from .stores_and_packages import opened

if TYPE_CHECKING:
    from worksample.formats.jobs.screening import JobExamination
    from worksample.people.quality.qualification_funnel import Funnel
    from worksample.records import Instance, Round
    from worksample.store import Store

    from .stores_and_packages import Where


@dataclass(frozen=True)
class Qualifying:
    """How jobs are put to experts."""

    questions: Path | None = None
    """A TOML file with a firm's own."""
    both: bool = False
    """Two experts for every job, instead of a second one for what qualified."""
    sandbox: str = "bubblewrap"
    reason: str = ""


@dataclass(frozen=True)
class OpenedQualification:
    """The round that was opened, and what a program found, by instance id."""

    round: Round
    looks: dict[str, JobExamination]


def qualify(
    suite: str | Path, config: Qualifying | None = None, *, store: Where = None,
    told: Callable[[int], None] = lambda done: None,
) -> OpenedQualification:  # fmt: skip
    """Take a suite's jobs into the store, look at each, and open a round in which experts say which are fit.

    Raises ManifestError, PlanError where the suite has no job, SandboxUnavailable, StoreError.
    """
    from worksample.formats.jobs.screening import JobExaminer, examine_jobs
    from worksample.people import People, PeopleRound, RoundKind
    from worksample.people.quality.qualification_funnel import IMPORT
    from worksample.people.rounds.job_questions import read_questions
    from worksample.people.rounds.screening_results import store_looks
    from worksample.records import ResolutionRule
    from worksample.tasks import find_suite

    config = config or Qualifying()
    questions = read_questions(config.questions) if config.questions else ()
    path = find_suite(str(suite))
    with opened(store, create=True) as here:
        jobs = _ingested(here, path)
        looks = asyncio.run(examine_jobs(JobExaminer(here, sandbox=config.sandbox), jobs, told=told))
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
    """Take a suite's jobs into the store, so that a qualification of them can be opened in the app; ids of instances.

    Raises ManifestError, PlanError where the suite has no job, StoreError.
    """
    from worksample.tasks import find_suite

    with opened(store, create=True) as here:
        return tuple(job.id for job in _ingested(here, find_suite(str(suite))))


def _ingested(store: Store, path: Path) -> list[Instance]:
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
        raise PlanError("no task of the suite comes from a job", where=str(path), next=next)
    return out


def _import_counts(path: Path) -> dict[str, object]:
    """What the import of the suite counted; empty where its file is not there."""
    from worksample.formats.jobs.importing import COUNTS

    file = (path if path.is_dir() else path.parent) / COUNTS
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        left_out = {str(k): int(v) for k, v in found["left_out"].items()}
        return {"rows": int(found["rows"]), "left_out": left_out, "faults": int(found["faults"])}
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise PlanError("the counts of the import cannot be read", where=str(file), next=f"rm {file}") from e


def funnel(round: str = "", *, store: Where = None) -> Funnel:
    """How many jobs stayed out at each step of a qualification, by default the latest, and why. PlanError."""
    from worksample.people.quality.qualification_funnel import funnel as found

    with opened(store) as here:
        return found(here, round)


def keep_qualified(suite: str | Path, out: Path, round: str = "", *, store: Where = None) -> tuple[str, ...]:
    """Copy a suite's packages of jobs that qualified to `out`, with the rubric that an expert wrote where a package has
    none; returns their names. UsageError where `out` is there; PlanError where nothing qualified.
    """
    from worksample.formats.jobs.job_package import criteria_text
    from worksample.tasks import find_suite, read_suite

    if out.exists():
        raise UsageError("exists already", where=str(out), next="name a new folder")
    found = read_suite(find_suite(str(suite)), verify=False)
    kept = {j.contract: j for j in funnel(round, store=store).jobs if j.passed}
    chosen = [p for p in found.packages if p.about.job is not None and p.about.job.contract in kept]
    if not chosen:
        raise PlanError("no job of the suite has qualified", where=str(suite), next="worksample jobs funnel")
    # A kill leaves no half of a suite under its name.
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
