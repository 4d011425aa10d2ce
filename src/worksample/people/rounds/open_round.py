"""Opening a round by people: its record, its plan and its queue."""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import select

from worksample import __version__
from worksample.errors import PlanError, UsageError
from worksample.people.clock import Clock, moment
from worksample.records import Amendment, EvaluatorKind, Experiment, Instance, Purpose, Round, struck
from worksample.results.calibration.label_draw import read_draw
from worksample.results.calibration.label_rounds import drawn_submissions
from worksample.results.job_suitability import DECIDES
from worksample.store import put_canonical
from worksample.store.people_tables import items as item_table

from .instructions import Instructions
from .item_plan import RoundForm, gradings_for, plan_gold, plan_items
from .job_questions import all_questions, deciding_names
from .judging_forms import BY_CRITERIA, FORM_OF, PROTOCOL_OF, PURPOSE_OF, Form, RoundKind
from .pilot_gate import require_passed_pilot
from .queue_filling import add_items, barred_accounts, earlier_evaluations, fill_queue
from .queues import Queue, find_queue
from .round_config import PeopleRound
from .round_subjects import submissions_of

if TYPE_CHECKING:
    from worksample.store import Store

_WHO = {EvaluatorKind.PERSON: "people", EvaluatorKind.JUDGE: "a judge", EvaluatorKind.PROGRAM: "a program"}
_GATED = frozenset({RoundKind.HOLISTIC, RoundKind.PAIRWISE, RoundKind.RUBRIC})


def open_people_round(
    store: Store, config: PeopleRound, instructions: Instructions, *, author: str, clock: Clock
) -> Round:
    """Commit a round with its plan and fill its queue.

    Hidden gold items form a separate round, so they never enter a figure. Raises PlanError if there is nothing to judge
    or no pilot has passed with the instructions, RecordMissing.
    """
    asking = asking_of(store, config)
    form = asking.form
    digest = instructions.keep(store)
    if config.kind in _GATED and not config.waive_pilot:
        require_passed_pilot(store, digest)
    seed = config.seed if config.seed is not None else secrets.randbits(48)
    id = uuid.uuid4().hex
    gold_round = id if config.kind is RoundKind.CALIBRATION else uuid.uuid4().hex
    planned = [] if config.kind is RoundKind.CALIBRATION else plan_items(store, config, asking, id, seed)
    gold = plan_gold(store, config.gold, gold_round, seed)
    if not planned and not gold and not _may_ask_later(store, config, asking):
        what = f"no criterion under {asking.protocol} is asked of {_WHO[asking.kind]}"
        next = f'write criteria.toml with by = "{asking.kind}", and [grading.{asking.protocol}] in task.toml'
        raise PlanError(what, where=config.experiment or config.over or "", next=next)
    twice = {item["subject"] for item in gold} & {item["subject"] for item in planned}
    if twice:
        raise UsageError(
            "a gold item is also an item of the round",
            where=min(twice),
            next="remove the submission from the gold items, or from the round",
        )
    rule, overlap = config.votes
    over = store.get(Round, config.over) if config.over is not None else None
    plan = {
        "kind": config.kind.value, "form": form.value, "seed": seed, "instructions": digest, "rule": rule.value,
        "settings": {**config.settings(), "protocol": asking.protocol.value, "asked": asking.kind.value},
        "items": planned + gold,
    }  # fmt: skip
    versions = {
        "worksample": __version__,
        "people.form": form.value,
        "people.plan": put_canonical(store.blobs, json.loads(json.dumps(plan))),
        "instructions": digest,
        **({"people.waived_pilot": config.waive_pilot} if config.waive_pilot else {}),
        **({DECIDES: " ".join(deciding_names(all_questions(config.questions)))} if form is Form.QUALIFICATION else {}),
        **({"qualification.looks": config.looks} if config.looks else {}),
        **config.versions,
    }
    round = Round(
        id=id, protocol=asking.protocol, by=EvaluatorKind.PERSON, over=config.over,
        purpose=Purpose.CALIBRATION if config.labels else PURPOSE_OF[config.kind],
        # Reports take verdicts only from rounds over a whole experiment.
        experiment=config.experiment if config.kind in _GATED else None,
        subjects=() if config.experiment and config.kind in _GATED else _subjects(planned or gold),
        overlap=overlap, rule=rule, versions=versions, seed=seed,
        gradings=gradings_for(store, asking, planned + gold, over, whole=config.labels),
        reason=config.reason, author=author, at=moment(clock()),
    )  # fmt: skip
    if form is Form.QUALIFICATION:
        round = round.replaced(gradings={})
    rounds = [round]
    if gold and gold_round != id:
        extra = {**versions, "people.hidden_in": id}
        del extra["people.plan"]
        hidden = {"purpose": Purpose.CALIBRATION, "over": None, "versions": extra}
        rounds.append(round.replaced(id=gold_round, experiment=None, subjects=_subjects(gold), **hidden))
    store.commit(*rounds)
    fill_queue(store, round, clock())
    return round


def _may_ask_later(store: Store, config: PeopleRound, asking: RoundForm) -> bool:
    """Tell whether later submissions may be asked about. A round of pairs opens only with its first pairs."""
    if config.experiment is None or config.kind not in _GATED or asking.form is Form.PAIRWISE:
        return False
    plan = store.get(Experiment, config.experiment)
    return any(asking.of(store.get(Instance, id)) for id in plan.lock.instances)


def _subjects(planned: list[dict[str, str]]) -> tuple[str, ...]:
    both = (s for item in planned for s in (item["subject"], item["second"]) if s)
    return tuple(dict.fromkeys(both))


def asking_of(store: Store, config: PeopleRound) -> RoundForm:
    """Return form, protocol and owner of the criteria. A round that reviews another one asks the same."""
    form = form_of(store, config)
    over = store.get(Round, config.over) if config.over is not None else None
    if over is not None and over.purpose is Purpose.QUALIFICATION:
        raise PlanError(
            "a qualification cannot be judged again in another round: a second expert verifies it already",
            where=over.id,
            next="choose a round of judgments",
        )
    if form is not Form.RUBRIC:
        return RoundForm(form, PROTOCOL_OF[form])
    if over is None or over.protocol not in BY_CRITERIA:
        return RoundForm(form, config.protocol or PROTOCOL_OF[form])
    return RoundForm(form, over.protocol, over.by)


def form_of(store: Store, config: PeopleRound) -> Form:
    """Return the form: the kind's, else the configured one, else that of the reviewed round, else the holistic one."""
    if config.kind in FORM_OF:
        return FORM_OF[config.kind]
    if config.form is not None:
        return config.form
    if config.over is not None:
        named = store.get(Round, config.over).versions.get("people.form")
        form = Form(named) if named else Form.HOLISTIC
        if form is Form.PAIRWISE:
            raise PlanError(
                "this kind of round reviews single deliverables, but the chosen round compares pairs",
                next="choose a round over single deliverables",
            )
        return form
    return Form.HOLISTIC


def top_up(store: Store, round: str) -> int:
    """Add items for submissions, and for the pairs they need, that arrived after the round was opened.

    Returns their number. Raises PlanError for rounds over no experiment, whose items are drawn once.
    """
    with store.database.reading() as connection:
        queue: Queue = find_queue(connection, round)
        query = select(item_table.c.subject, item_table.c.second).where(item_table.c.queue == round)
        known = [(first, second) for first, second in connection.execute(query)]
    experiment = queue.settings["experiment"]
    if experiment is None or queue.kind not in (*_GATED, RoundKind.TAGS):
        raise PlanError(
            "the items of this round have already been drawn, and are drawn only once",
            where=round,
            next="open another round",
        )
    draw = read_draw(store, store.get(Round, round))
    if draw is not None and queue.form is Form.PAIRWISE:
        return 0  # `add_pairs`
    there = (
        [s.id for s in submissions_of(store, experiment)]
        if draw is None
        else drawn_submissions(store, experiment, draw)
    )
    pairs = queue.form is Form.PAIRWISE
    seen = {subject for couple in known for subject in couple if subject}
    fresh = tuple(id for id in there if id not in seen)
    if not fresh:
        return 0
    config = PeopleRound(
        kind=queue.kind, subjects=tuple(there) if pairs else fresh, overlap=store.get(Round, round).overlap,
        per_pair=queue.settings["per_pair"],
    )  # fmt: skip
    return _add(store, queue, config, known if pairs else ())


def add_pairs(store: Store, round: str, pairs: Collection[tuple[str, str]]) -> int:
    """Add pairs that were drawn after the round was opened. Return the number of items added."""
    with store.database.reading() as connection:
        queue = find_queue(connection, round)
        query = select(item_table.c.subject, item_table.c.second).where(item_table.c.queue == round)
        known = {frozenset(row) for row in connection.execute(query)}
    fresh = tuple(pair for pair in pairs if frozenset(pair) not in known)
    if not fresh:
        return 0
    subjects = tuple(dict.fromkeys(id for pair in fresh for id in pair))
    overlap = store.get(Round, round).overlap
    return _add(store, queue, PeopleRound(kind=queue.kind, subjects=subjects, pairs=fresh, overlap=overlap))


def _add(store: Store, queue: Queue, config: PeopleRound, known: Sequence[tuple[str, str]] = ()) -> int:
    asking = RoundForm(queue.form, queue.protocol, queue.evaluator_kind)
    planned = plan_items(store, config, asking, queue.round, queue.seed, known)
    barred = barred_accounts(store, queue.settings, planned, queue.round)
    # After a rebuild from the plan, later items may have been answered already.
    said, out = earlier_evaluations(store, [queue.round]), struck(store.find(Amendment))
    with store.database.writing() as connection:
        return add_items(connection, queue.round, planned, said, barred, out)
