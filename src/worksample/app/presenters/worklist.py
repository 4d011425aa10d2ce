"""What there is to do, and what was done, as the browser lists it."""

from __future__ import annotations

from worksample.app.schemas.said import said_of
from worksample.app.schemas.work import Mine, OwnAnswer, Past, QueueView
from worksample.app.services import Services
from worksample.people import Account, Kind, Queue, Role, gold_results, own_queues
from worksample.records import Evaluation, Experiment

from .figures import micros_of

_TITLES = {
    Kind.HOLISTIC: "Would a client accept it?",
    Kind.PAIRWISE: "Which of two is better?",
    Kind.RUBRIC: "Criterion by criterion",
    Kind.TAGS: "What is wrong with it?",
    Kind.AUDIT: "Audit of what passed",
    Kind.FALSE_NEGATIVES: "A second look at what failed",
    Kind.RELIABILITY: "Reliability sample",
    Kind.ADJUDICATION: "Adjudication of contested work",
    Kind.INTEGRITY: "Integrity review",
    Kind.PILOT: "Pilot of the instructions",
    Kind.CALIBRATION: "Quiz",
    Kind.QUALIFICATION: "Is this job fit to be a task?",
}


def queue_views(services: Services, account: Account) -> list[QueueView]:
    """Open and paused queues of the person's roles."""
    out = []
    for own in own_queues(services.store, account):
        queue = own.queue
        out.append(
            QueueView(
                round=queue.round,
                kind=queue.kind,
                form=queue.form,
                title=_TITLES[queue.kind],
                experiment=_experiment(services, account, queue.settings["experiment"]),
                state=queue.state,  # type: ignore[arg-type]
                missing=own.missing,
                mine=Mine(open=own.open, done=own.done, skipped=own.skipped),
                left=own.left,
                soft_limit_minutes=queue.spec.minutes,
                passed=_passed(services, account, queue),
            )
        )
    return out


def _passed(services: Services, account: Account, queue: Queue) -> bool | None:
    if queue.kind is not Kind.CALIBRATION:
        return None
    return next(
        (found.passed for found in gold_results(services.store, queue.round) if found.account == account.id), None
    )


def _experiment(services: Services, account: Account, id: str | None) -> str:
    # Names such as "model-a against model-b" would unblind everybody else.
    if id is None or Role.ADMIN not in account.roles:
        return ""
    found = services.store.find(Experiment, id=id)
    return found[0].name if found else id


def history_view(services: Services, account: Account) -> list[Past]:
    """Newest first."""
    return [Past(**row) for row in services.people.drafting.history(account)]


def own_answer_view(evaluation: Evaluation) -> OwnAnswer:
    """The person's own, as it stands on record."""
    return OwnAnswer(
        said=said_of(evaluation.payload), critical_flaw=str(evaluation.record.get("critical_flaw", "")),
        reason=evaluation.reason or "", minutes=evaluation.minutes, at=micros_of(evaluation.at),
    )  # fmt: skip
