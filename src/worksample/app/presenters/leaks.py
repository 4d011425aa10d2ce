"""What deliverables of a round still say of their makers: where no blind copy could be made."""

from __future__ import annotations

from sqlalchemy import select

from worksample.app.schemas.admin_evidence import Leaks, LeakView
from worksample.app.services import AppServices
from worksample.people.work.blinding import giveaways, scrub
from worksample.records import EntryKind
from worksample.store.people_tables import items
from worksample.viewing import kept

from .ballots import BlindLabels
from .roundlist import find_round

MOST = 2_000
"""Files that are listed; all are counted."""


def leaks_of(services: AppServices, id: str) -> Leaks:
    """From the views that are made. RecordMissing."""
    round, _ = find_round(services, id)
    store = services.store
    with store.database.reading() as connection:
        rows = connection.execute(select(items.c.subject, items.c.second).where(items.c.queue == id)).all()
    labels = BlindLabels(services, round, (s for row in rows for s in row if s), named=False)
    found: list[LeakView] = []
    looked = waiting = leaking = 0
    for submission in labels.found.values():
        part = submission.parts.get("output")
        if part is None:
            continue
        words = giveaways(store, submission)
        manifest = store.manifest(part.manifest)
        for entry in manifest.entries:
            if entry.kind is not EntryKind.FILE or entry.blob is None:
                continue
            view = kept(store, manifest, part.manifest, entry.path)
            looked, waiting = looked + (view is not None), waiting + (view is None)
            said = tuple(map(str, view.meta.get("leaks", ()))) if view is not None else ()
            if said:
                leaking += 1
                if len(found) < MOST:
                    found.append(
                        LeakView(
                            submission=submission.id, agent=labels.agent(submission.id),
                            instance=labels.instance(submission.instance), path=scrub(entry.path, words), leaks=said,
                        )
                    )  # fmt: skip
    return Leaks(round=id, looked=looked, waiting=waiting, leaking=leaking, files=tuple(found))
