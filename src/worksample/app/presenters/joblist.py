"""Jobs before they are tasks: which the store knows, and a program's look at those that experts will be asked about."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from worksample.app.schemas.admin import JobRow
from worksample.people.rounds.screening_results import keep_looks
from worksample.records import Amendment, AmendmentTarget, Instance, Purpose, Round, Task, struck

if TYPE_CHECKING:
    from worksample.store import Store


def jobs_of(store: Store) -> list[JobRow]:
    """Every job in its latest version, by title, but for those that were struck."""
    out = struck(store.find(Amendment))
    since = {id: task.ingested for task in store.find(Task) for id in task.instances}
    known = [i for i in store.find(Instance) if i.about.job is not None and (AmendmentTarget.INSTANCE, i.id) not in out]
    latest = {one.key: one for one in sorted(known, key=lambda i: (i.id in since, since.get(i.id), i.id))}
    asked = Counter(
        id for round in store.find(Round) if round.purpose is Purpose.QUALIFICATION for id in round.subjects
    )
    rows = [_row(store, one, asked[one.id]) for one in latest.values()]
    return sorted(rows, key=lambda row: (row.title, row.instance))


def _row(store: Store, one: Instance, asked: int) -> JobRow:
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


def looked_at(store: Store, jobs: Sequence[str]) -> str:
    """Digest of what a program found in these jobs. RecordMissing, SandboxUnavailable."""
    from worksample.formats.jobs.screening import Looking, look_at_jobs

    found = [store.get(Instance, id) for id in dict.fromkeys(jobs)]
    looks = asyncio.run(look_at_jobs(Looking(store), found))
    return keep_looks(store, {id: look.plain() for id, look in looks.items()})
