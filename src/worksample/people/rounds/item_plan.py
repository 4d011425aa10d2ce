"""The plan of a round's items. It is stored as a blob, so that a lost queue can be rebuilt."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worksample.errors import UsageError
from worksample.records import EvaluatorKind, Instance, Json, Protocol, Round, canonical, digest_of
from worksample.results.grading_in_force import as_graded
from worksample.results.pair_sampling import entries_of, sample_pairs

from .judging_forms import Form, RoundKind
from .round_config import Gold, PeopleRound
from .round_subjects import Subject, jobs, named_submissions, pick_submissions, subject_of

if TYPE_CHECKING:
    from worksample.store import Store

EVERYBODY = 1_000_000_000
"""Number of votes wanted on a gold item: more than there are people."""
Planned = dict[str, Any]
"""A planned item: id, round, instance, subject, second, domain, maker, place, wanted, expected."""


@dataclass(frozen=True, slots=True)
class RoundForm:
    """The form of a round, the protocol under which it runs, and the kind of evaluator whose criteria it asks."""

    form: Form
    protocol: Protocol
    kind: EvaluatorKind = EvaluatorKind.PERSON

    def of(self, instance: Instance) -> bool:
        """Tell whether the form asks anything about this instance."""
        grading = instance.grading.get(self.protocol)
        return self.form is not Form.RUBRIC or bool(grading and grading.asked_of(self.kind.value).leaves)


def plan_items(
    store: Store, config: PeopleRound, asking: RoundForm, round: str, seed: int, known: Collection[tuple[str, str]] = ()
) -> list[Planned]:
    """Plan items in random order for all subjects that the form asks about. Raises PlanError, RecordMissing.

    `known`: existing pairs; only missing ones are drawn.
    """
    if asking.form is Form.QUALIFICATION:
        return _plan_couples(store, [(job, None) for job in jobs(store, config.subjects)], round, config.votes[1], seed)
    form, picked = asking.form, pick_submissions(store, config, seed)
    over = store.get(Round, config.over) if config.over is not None else None
    instances = {id: _instance_as_graded(store, over, id) for id in sorted({s.instance for s in picked})}
    asked = {id for id, instance in instances.items() if asking.of(instance)}
    subjects = [s for s in picked if s.instance in asked]
    wanted = config.votes[1]
    if form is Form.PAIRWISE and config.kind is not RoundKind.CALIBRATION:
        by_id = {s.id: subject_of(s) for s in subjects}
        if config.pairs:
            named_ = [(by_id[one], by_id[two]) for one, two in config.pairs if one in by_id and two in by_id]
            return _plan_couples(store, named_, round, wanted, seed)
        pairs = sample_pairs(entries_of(store, subjects), config.per_pair, seed, known)
        couples = [(by_id[p.first.subject], by_id[p.second.subject]) for p in pairs]
        return _plan_couples(store, [(a, b) for a, b in couples], round, wanted, seed)
    return _plan_couples(store, [(subject_of(s), None) for s in subjects], round, wanted, seed)


def plan_gold(store: Store, gold: Sequence[Gold], round: str, seed: int) -> list[Planned]:
    """Plan the gold items, which everybody answers."""
    out = []
    for one in gold:
        pair = [subject_of(s) for s in named_submissions(store, [one.subject, *([one.second] if one.second else [])])]
        planned = _plan_couples(store, [(pair[0], pair[1] if one.second else None)], round, EVERYBODY, seed)
        expected: dict[str, Json] = {"answers": dict(one.expected), "explanation": one.explanation}
        out.append({**planned[0], "expected": canonical(expected).decode()})
    return out


Couple = tuple[Subject, Subject | None]


def _plan_couples(store: Store, couples: Iterable[Couple], round: str, wanted: int, seed: int) -> list[Planned]:
    instances: dict[str, Instance] = {}
    out = []
    for one, other in couples:
        if other is not None and other.instance != one.instance:
            raise UsageError(
                "the two submissions of a pair are for different instances",
                where=f"{one.id}, {other.id}",
                next="pair submissions for the same instance",
            )
        if one.instance not in instances:
            instances[one.instance] = store.get(Instance, one.instance)
        id = digest_of([round, one.id, other.id if other else None])[:24]
        out.append(
            {
                "id": id,
                "round": round,
                "instance": one.instance,
                "subject": one.id,
                "second": other.id if other else None,
                "domain": instances[one.instance].about.category,
                "maker": one.maker or (other.maker if other else ""),
                # Depends only on seed and item, so later items do not reorder earlier ones.
                "place": random.Random(f"{seed} {id}").random(),
                "wanted": wanted,
                "expected": None,
            }
        )
    return out


def _instance_as_graded(store: Store, over: Round | None, id: str) -> Instance:
    """Return the instance with the grading of the reviewed round."""
    found = store.get(Instance, id)
    return found if over is None else as_graded(store, over, found)


def gradings_for(
    store: Store, asking: RoundForm, items: Sequence[Planned], over: Round | None = None, *, whole: bool = False
) -> dict[str, str]:
    """Return instance -> digest of its grading, for instances with the protocol.

    `over`: the reviewed round. `whole`: include all its gradings, because more submissions may follow.
    """
    out = dict(over.gradings) if whole and over is not None else {}
    for id in dict.fromkeys(item["instance"] for item in items):
        instance = _instance_as_graded(
            store, over if over is not None and over.protocol is asking.protocol else None, id
        )
        if asking.protocol in instance.grading:
            out[id] = instance.grading_digest(asking.protocol)
    return out
