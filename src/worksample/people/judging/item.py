"""An item as its evaluator sees it: all that is needed to judge, and nothing that reveals the maker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.people.rounds.job_screening_results import SHOWN, read_look
from worksample.people.rounds.judging_forms import Form, RoundQuestion
from worksample.people.rounds.queues import Queue
from worksample.records import Criteria, Grading, Instance, Protocol, Round, Submission, digest_bytes
from worksample.results.grading_in_force import as_graded

from .blinding import giveaways, scrub

if TYPE_CHECKING:
    from worksample.store import Store

_NOTHING = digest_bytes(b'{"entries":[]}')
_PREFERRED = {
    Form.PAIRWISE: (Protocol.PAIRWISE, Protocol.HOLISTIC),
    Form.RUBRIC: (Protocol.RUBRIC,),
}


@dataclass(frozen=True, slots=True)
class Pane:
    """A pane with files. `label`: Reference, Alternative, AD-1, AD-2, Deliverable, Inputs or Trajectory."""

    label: str
    manifest: str
    """Digest of the manifest of the pane's files; "" if nothing was delivered."""
    note: str = ""
    """A note on files that were not captured."""

    def plain(self) -> dict[str, Any]:
        return {"label": self.label, "manifest": self.manifest, "note": self.note}


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsubmitted answer. `active_seconds`: working time counted so far."""

    revision: int
    payload: Mapping[str, Any]
    saved: int
    """Time at which the draft was saved, in microseconds since 1970."""
    active_seconds: float


@dataclass(frozen=True, slots=True)
class Item:
    """An item. `instance`: its key, `task/name`. It contains no ids of submissions, agents, origins or costs."""

    id: str
    round: str
    protocol: Form
    instance: str
    title: str
    shown: tuple[Pane, ...]
    brief: str
    notes: str
    criteria: Criteria
    asks: tuple[RoundQuestion, ...]
    soft_limit_minutes: float
    early_stop: bool
    instructions: str
    """Digest of the instructions in force."""
    state: str
    expires: int
    draft: Draft | None = None
    seen: tuple[tuple[str, str], ...] = ()
    """Files that the person has opened: (label of the pane, path)."""
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """Names to remove by `blinding.scrub`. They must not reach the browser, so `plain` leaves them out."""

    def plain(self) -> dict[str, Any]:
        """Return the item as JSON types, for the browser."""
        draft = self.draft
        return {
            "id": self.id, "round": self.round, "protocol": self.protocol.value, "instance": self.instance,
            "title": self.title, "shown": [pane.plain() for pane in self.shown], "brief": self.brief,
            "notes": self.notes, "criteria": self.criteria.plain(), "asks": [ask.plain() for ask in self.asks],
            "soft_limit_minutes": self.soft_limit_minutes, "early_stop": self.early_stop,
            "instructions": self.instructions, "state": self.state, "expires": self.expires,
            "draft": None if draft is None else {
                "revision": draft.revision, "payload": dict(draft.payload), "saved": draft.saved,
                "active_seconds": draft.active_seconds,
            },
            "seen": [list(pair) for pair in self.seen],
        }  # fmt: skip


def shown_pair(row: Any, flipped: bool) -> tuple[str, str | None]:
    """Return the two submissions of an item in the order in which this person sees them. `flipped` swaps the order."""
    if row.second is None or not flipped:
        return row.subject, row.second
    return row.second, row.subject


def hidden_words(store: Store, row: Any) -> tuple[str, ...]:
    """Return the words that must not be shown with an item; none for a job."""
    if row.subject == row.instance:
        return ()
    ids = [row.subject, *([row.second] if row.second else [])]
    return tuple(sorted({w for id in ids for w in giveaways(store, store.get(Submission, id))}))


def grading_of(instance: Instance, form: Form, first: Protocol | None = None) -> Grading | None:
    """Return the grading with the reference and notes to show: that of `first`, else the form's, else the nearest."""
    for protocol in (*((first,) if first else ()), *_PREFERRED.get(form, (Protocol.HOLISTIC,)), *Protocol):
        if protocol in instance.grading:
            return instance.grading[protocol]
    return None


def criteria_of(instance: Instance, queue: Queue) -> Criteria:
    """Return the criteria that a round asks of its kind of evaluator; empty if its form asks for none."""
    grading = instance.grading.get(queue.protocol)
    return grading.asked_of(queue.evaluator_kind.value) if grading and queue.form is Form.RUBRIC else Criteria()


def panes_of(
    store: Store, queue: Queue, row: Any, flipped: bool, instance: Instance, words: tuple[str, ...] = ()
) -> tuple[Pane, ...]:
    """Return the panes: the reference if shown, the deliverables in this person's order, the trajectory, the inputs.

    `words`: to remove from the notes.
    """
    spec, out = queue.spec, []
    grading = grading_of(instance, queue.form, queue.protocol)
    if spec.reference and grading is not None:
        reference = instance.shown_reference or grading.reference
        if reference != _NOTHING:
            out.append(Pane("Reference", reference))
    first = ""
    for label, id in zip(spec.labels, shown_pair(row, flipped), strict=False):
        if id is None:
            continue
        submission = store.get(Submission, id)
        first = first or id
        part = submission.parts.get("output")
        if part is not None:
            out.append(Pane(label, part.manifest, scrub(part.reason, words)))
        else:
            out.append(Pane(label, "", "nothing was delivered"))
    if spec.trajectory:
        part = store.get(Submission, first).parts.get("trajectory")
        if part is not None:
            out.append(Pane("Trajectory", part.manifest, part.reason))
    if instance.work.inputs != _NOTHING:
        out.append(Pane("Inputs", instance.work.inputs))
    return tuple(out)


def build_item(
    store: Store, queue: Queue, row: Any, mine: Any, draft: Draft | None, seen: tuple[tuple[str, str], ...]
) -> Item:
    """Build an item for its evaluator. `row`: of table items; `mine`: of assignments."""
    instance = as_graded(store, store.get(Round, row.round), store.get(Instance, row.instance))
    spec = queue.spec
    grading = grading_of(instance, queue.form, queue.protocol)
    words = hidden_words(store, row)
    notes = grading.notes if grading else ""
    if queue.form is Form.QUALIFICATION:
        notes = str(read_look(store, queue.settings["looks"], instance.id).get(SHOWN, ""))
    return Item(
        id=row.id, round=row.queue, protocol=queue.form, instance=instance.key, title=instance.title,
        shown=panes_of(store, queue, row, mine.flipped, instance, words), brief=instance.work.brief,
        notes=notes,
        criteria=criteria_of(instance, queue),
        asks=spec.asks, soft_limit_minutes=spec.minutes, early_stop=spec.early_stop,
        instructions=queue.instructions, state=mine.state, expires=mine.expires, draft=draft, seen=seen,
        hidden=words,
    )  # fmt: skip
