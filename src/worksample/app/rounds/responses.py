"""Responses about rounds by people and about jobs that a round can ask about."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from worksample.app.rounds.schemas import JobRow, ProgressView, RoundDetail, RoundRow
from worksample.app.server.json_figures import NoFigure, micros_of
from worksample.app.server.route_services import AppServices
from worksample.errors import RecordMissing
from worksample.people import Account, Form, list_queues
from worksample.people.access.name_disclosure import has_seen_names
from worksample.people.quality.round_dashboard import progress
from worksample.people.round_verdicts import rounds_over
from worksample.people.rounds.job_screening_results import store_looks
from worksample.people.rounds.queues import Queue, find_queue
from worksample.records import Amendment, AmendmentTarget, Experiment, Instance, Purpose, Round, Task, struck

if TYPE_CHECKING:
    from worksample.store import Store

IMPORTED = "imported judgments have no queue"


def all_rounds(services: AppServices) -> list[RoundRow]:
    """List rounds with a queue and imported rounds, the latest first."""
    queues = {queue.round: queue for queue in list_queues(services.store)}
    found = [r for r in services.store.find(Round) if r.id in queues or "imported" in r.versions]
    names = {account.id: account.name for account in services.people.accounts.all()}
    titles = {e.id: e.name for e in services.store.find(Experiment)}
    rows = [RoundRow(**_row(services, r, queues.get(r.id), names, titles)) for r in found]
    return sorted(rows, key=lambda row: (-row.at, row.id))


def find_round(services: AppServices, id: str) -> tuple[Round, Queue | None]:
    """Return a round by people and its queue; the queue is None for an imported round. Raises RecordMissing."""
    round = services.store.get(Round, id)
    if "imported" in round.versions:
        return round, None
    if "people.form" not in round.versions or "people.hidden_in" in round.versions:
        raise RecordMissing(
            "the round does not exist, or is not judged by people", where=id, next="choose one of the list of rounds"
        )
    with services.store.database.reading() as connection:
        return round, find_queue(connection, id)


def round_detail(services: AppServices, account: Account, id: str) -> RoundDetail:
    """Describe one round with its settings. Raises RecordMissing."""
    round, queue = find_round(services, id)
    names = {a.id: a.name for a in services.people.accounts.all()}
    titles = {e.id: e.name for e in services.store.find(Experiment)}
    seen = False
    if queue is not None:
        with services.store.database.reading() as connection:
            seen = has_seen_names(connection, queue, account.id)
    return RoundDetail(
        **_row(services, round, queue, names, titles),
        settings=queue.settings if queue is not None else {}, versions=round.versions, seed=round.seed,
        looked_at_by=tuple(r.id for r in rounds_over(services.store, id)), names_seen=seen,
    )  # fmt: skip


def _row(
    services: AppServices, round: Round, queue: Queue | None, names: dict[str, str], titles: dict[str, str]
) -> dict[str, Any]:
    settings = queue.settings if queue is not None else {}
    experiment = round.experiment or settings.get("experiment")
    return {
        "id": round.id,
        "kind": queue.kind.value if queue is not None else round.versions["people.form"],
        "form": Form(round.versions["people.form"]),
        "state": queue.state if queue is not None else "imported",
        "protocol": round.protocol,
        "experiment": experiment,
        "experiment_name": titles.get(experiment or "", ""),
        "over": round.over,
        "rule": round.rule,
        "overlap": round.overlap,
        "roles": tuple(sorted(queue.roles)) if queue is not None else (),
        "subjects": len(round.subjects),
        "instructions": round.versions.get("instructions", ""),
        "waived_pilot": round.versions.get("people.waived_pilot", ""),
        "reason": round.reason,
        "author": names.get(round.author.removeprefix("person-"), round.author),
        "at": micros_of(round.at),
        "progress": NoFigure(none=IMPORTED) if queue is None else progress_of(services, round.id),
    }


def progress_of(services: AppServices, id: str) -> ProgressView:
    """Return the progress of a round's queue."""
    return ProgressView(**progress(services.store, id).plain())


def jobs_of(store: Store) -> list[JobRow]:
    """List all jobs in their latest version, by title, without struck ones."""
    out = struck(store.find(Amendment))
    since = {id: task.ingested for task in store.find(Task) for id in task.instances}
    known = [i for i in store.find(Instance) if i.about.job is not None and (AmendmentTarget.INSTANCE, i.id) not in out]
    latest = {one.key: one for one in sorted(known, key=lambda i: (i.id in since, since.get(i.id), i.id))}
    asked = Counter(
        id for round in store.find(Round) if round.purpose is Purpose.QUALIFICATION for id in round.subjects
    )
    rows = [_job_row(store, one, asked[one.id]) for one in latest.values()]
    return sorted(rows, key=lambda row: (row.title, row.instance))


def _job_row(store: Store, one: Instance, asked: int) -> JobRow:
    job = one.about.job
    assert job is not None
    return JobRow(
        instance=one.id,
        title=one.title,
        contract=job.contract,
        category=job.category,
        marks=tuple(tag for tag in one.about.tags if tag in ("hourly", "several-milestones")),
        files=len(tuple(store.manifest(one.work.inputs).files)),
        asked=asked,
    )


def screen_jobs(store: Store, jobs: Sequence[str]) -> str:
    """Screen these jobs by program and store what it found. Return the digest. Raises RecordMissing,
    SandboxUnavailable.
    """
    from worksample.formats.jobs.screening import JobExaminer, examine_jobs

    found = [store.get(Instance, id) for id in dict.fromkeys(jobs)]
    looks = asyncio.run(examine_jobs(JobExaminer(store), found))
    return store_looks(store, {id: check_rows.plain() for id, check_rows in looks.items()})
