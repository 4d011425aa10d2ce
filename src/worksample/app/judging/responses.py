"""Responses of the evaluator's pages: queues, history, items."""

from __future__ import annotations

from worksample.app.judging.schemas import HistoryRow, ItemView, OwnAnswer, OwnProgress, PaneView, QueueView
from worksample.app.judging.vote_schemas import vote_view
from worksample.app.server.json_figures import micros_of
from worksample.app.server.markdown import render
from worksample.app.server.route_services import AppServices
from worksample.people import Account, Item, Queue, Role, RoundKind, gold_results, own_queues, read_stored_instructions
from worksample.records import Evaluation, Experiment

_TITLES = {
    RoundKind.HOLISTIC: "Would a client accept it?",
    RoundKind.PAIRWISE: "Which of two is better?",
    RoundKind.RUBRIC: "Criterion by criterion",
    RoundKind.TAGS: "What is wrong with it?",
    RoundKind.AUDIT: "Audit of what passed",
    RoundKind.FALSE_NEGATIVES: "A second look at what failed",
    RoundKind.RELIABILITY: "Reliability sample",
    RoundKind.ADJUDICATION: "Adjudication of contested work",
    RoundKind.INTEGRITY: "Integrity review",
    RoundKind.PILOT: "Pilot of the instructions",
    RoundKind.CALIBRATION: "Quiz",
    RoundKind.QUALIFICATION: "Is this job fit to be a task?",
}


def queue_views(services: AppServices, account: Account) -> list[QueueView]:
    """List the open and paused queues of the person's roles."""
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
                mine=OwnProgress(open=own.open, done=own.done, skipped=own.skipped),
                left=own.left,
                soft_limit_minutes=queue.spec.minutes,
                passed=_passed_quiz(services, account, queue),
            )
        )
    return out


def _passed_quiz(services: AppServices, account: Account, queue: Queue) -> bool | None:
    if queue.kind is not RoundKind.CALIBRATION:
        return None
    return next(
        (found.passed for found in gold_results(services.store, queue.round) if found.account == account.id), None
    )


def _experiment(services: AppServices, account: Account, id: str | None) -> str:
    # Names such as "model-a against model-b" would unblind everybody else.
    if id is None or Role.ADMIN not in account.roles:
        return ""
    found = services.store.find(Experiment, id=id)
    return found[0].name if found else id


def history_view(services: AppServices, account: Account) -> list[HistoryRow]:
    """List the person's items, newest first."""
    return [HistoryRow(**row) for row in services.people.drafting.history(account)]


def own_answer_view(evaluation: Evaluation) -> OwnAnswer:
    """Return the person's own answer as it was recorded."""
    return OwnAnswer(
        said=vote_view(evaluation.payload), critical_flaw=str(evaluation.record.get("critical_flaw", "")),
        reason=evaluation.reason or "", minutes=evaluation.minutes, at=micros_of(evaluation.at),
    )  # fmt: skip


def item_view(services: AppServices, session: str, account: Account, item: Item) -> ItemView:
    """Describe an item, with addresses for its panes. `session`: the token that they are bound to.

    Raises StoreError, RecordMissing.
    """
    panes = {pane.label: pane.manifest for pane in item.shown}
    labels = services.capabilities.mint_all(session, account.id, item.id, panes, item.hidden)
    shown = tuple(
        PaneView(
            label=pane.label,
            note=pane.note,
            content=services.config.content_origin(labels[pane.label]) if pane.label in labels else None,
        )
        for pane in item.shown
    )
    return ItemView.model_validate(
        {
            **item.plain(),
            "shown": shown,
            "brief_html": render(item.brief),
            "notes_html": render(item.notes),
            "instructions_page": render(_page(services, item)),
        }
    )


def _page(services: AppServices, item: Item) -> str:
    """Return the instructions page of this form, in the version under which the round runs."""
    told = services.people.instructions
    if told.digest != item.instructions:
        told = read_stored_instructions(services.store, item.instructions)
    return told.pages.get(item.protocol, "")
