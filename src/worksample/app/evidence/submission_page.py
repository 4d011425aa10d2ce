"""The page of one submission: brief, deliverables, votes and, with names, the agent's steps."""

from __future__ import annotations

from worksample.app.evidence.schemas import CallView, Outcome, RoundVotes, StepView, SubmissionView
from worksample.app.judging.schemas import PaneView
from worksample.app.server.json_figures import micros_of
from worksample.app.server.markdown import render
from worksample.app.server.route_services import AppServices
from worksample.people import Account, Form, look_at_submission
from worksample.people.judging.blinding import giveaways, scrub
from worksample.people.judging.item import Pane, grading_of
from worksample.people.unstruck_evaluations import amendments_of
from worksample.records import (
    Evaluation,
    Experiment,
    Instance,
    JudgedBy,
    Manifest,
    Protocol,
    Purpose,
    Round,
    Standing,
    Submission,
    canonical,
    digest_bytes,
)
from worksample.results.experiment_verdicts import Judgments, Subjects
from worksample.results.judged_rounds import RoundReader

from .round_evidence import maker_of, vote_rows

BARRED = (
    "You have seen who made it and how. You get no more items of rounds that contain it, or of later rounds of its "
    "experiment."
)
HIDDEN = "The steps say who made it: they are shown with the names."
_NOTHING = digest_bytes(canonical(Manifest(entries=()).plain()))


def submission_of(services: AppServices, session: str, account: Account, id: str, *, names: bool) -> SubmissionView:
    """Build the page. `session`: the token that the panes' addresses are bound to. Raises Denied, Conflict,
    RecordMissing.
    """
    look_at_submission(services.store, account, id, names=names, clock=services.people.clock)
    store = services.store
    submission = store.get(Submission, id)
    instance = store.get(Instance, submission.instance)
    steps, note = _read_steps(services, submission) if names else ((), HIDDEN)
    return SubmissionView(
        id=id, names=names, barred=BARRED if names else "", experiment=submission.experiment, instance=instance.key,
        title=instance.title, agent=maker_of(services, submission) if names else "",
        origin=submission.origin.value if names else "", at=micros_of(submission.at),
        brief_html=render(instance.work.brief), shown=_panes(services, session, account, submission, instance, names),
        criteria={leaf.id: leaf.text for g in instance.grading.values() for leaf in g.criteria.leaves},
        outcomes=_outcomes(services, submission), rounds=_rounds(services, submission, names=names), steps=steps,
        steps_note=note,
    )  # fmt: skip


def _panes(
    services: AppServices, session: str, account: Account, submission: Submission, instance: Instance, names: bool
) -> tuple[PaneView, ...]:
    words = () if names else giveaways(services.store, submission)
    output = submission.parts.get("output")
    panes = [
        Pane("Deliverable", output.manifest, scrub(output.reason, words))
        if output is not None
        else Pane("Deliverable", "", "nothing was delivered")
    ]
    grading = grading_of(instance, Form.HOLISTIC)
    reference = instance.shown_reference or (grading.reference if grading else _NOTHING)
    if reference != _NOTHING:
        panes.insert(0, Pane("Reference", reference))
    if instance.work.inputs != _NOTHING:
        panes.append(Pane("Inputs", instance.work.inputs))
    at = f"submission {submission.id}{' named' if names else ''}"
    labels = services.capabilities.mint_all(session, account.id, at, {p.label: p.manifest for p in panes}, words)
    return tuple(
        PaneView(
            label=p.label, note=p.note,
            content=services.config.content_origin(labels[p.label]) if p.label in labels else None,
        )
        for p in panes
    )  # fmt: skip


def _rounds(services: AppServices, submission: Submission, *, names: bool) -> tuple[RoundVotes, ...]:
    """Return the rounds with votes on the submission, by time, without quizzes and gold items, which test
    evaluators.
    """
    store = services.store
    said: dict[str, list[Evaluation]] = {}
    for e in (*store.find(Evaluation, subject=submission.id), *store.find(Evaluation, second=submission.id)):
        said.setdefault(e.round, []).append(e)
    found = sorted((store.get(Round, id) for id in said), key=lambda r: (r.at, r.id))
    return tuple(
        RoundVotes(
            round=r.id, protocol=r.protocol, purpose=r.purpose, by=r.by,
            votes=vote_rows(services, r, said[r.id], names=names),
        )
        for r in found
        if r.purpose is not Purpose.CALIBRATION
    )  # fmt: skip


def _outcomes(services: AppServices, submission: Submission) -> tuple[Outcome, ...]:
    """Return the verdict under each protocol of the experiment; without an experiment, under those of its own
    rounds.
    """
    store = services.store
    plan = store.find(Experiment, id=[submission.experiment]) if submission.experiment else []
    by = (plan[0].lock.judged_by if plan else None) or JudgedBy.COMBINED
    judging, mine = RoundReader(store, amendments_of(store)), frozenset({submission.id})
    key = submission.experiment or ""
    out = []
    for protocol in plan[0].lock.protocols if plan else tuple(Protocol):
        told = Judgments(judging, Subjects({key: mine}, mine), by).verdicts(protocol)
        for row in told.filter(told["subject"] == submission.id).iter_rows(named=True):
            standing = Standing(row["standing"])
            known = standing is Standing.DECIDED
            out.append(
                Outcome(
                    protocol=protocol, standing=standing, score=row["score"] if known else None,
                    passed=row["passed"] if known else None, reason=row["reason"] or "",
                )
            )  # fmt: skip
    return tuple(out)


def _read_steps(services: AppServices, submission: Submission) -> tuple[tuple[StepView, ...], str]:
    from worksample.reports.static_site.transcript import transcript

    found = transcript(services.store, submission)
    steps = tuple(
        StepView(
            source=s.source, text=s.text,
            calls=tuple(CallView(name=c.name, arguments=c.arguments, result=c.result) for c in s.calls),
        )
        for s in found.steps
    )  # fmt: skip
    return steps, found.note
