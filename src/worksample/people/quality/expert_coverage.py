"""Coverage of job domains by expert sets, and how many jobs two experts review (UpBench 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.people.access.evaluator_profile import person_of
from worksample.records import (
    Amendment,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Instance,
    struck,
    targets_of,
)
from worksample.tasks.taxonomy import EXPERT_SETS, ExpertSet, expand_sets, set_of

if TYPE_CHECKING:
    from worksample.store import Store

NO_SET = "(no set)"


@dataclass(frozen=True, slots=True)
class Coverage:
    """An expert set with the jobs of its categories and their reviewers, without struck records."""

    set: str
    categories: int
    jobs: int
    experts: int
    """People whose domains lie in the set."""
    asked: int
    """Jobs with at least one answer by a person, on the job or on work for it."""
    crossed: int
    """Jobs among `asked` with answers by two or more people."""
    answers: int
    outside: int
    """Answers of people whose domains do not cover the job."""
    most: int
    """Answers of the busiest person, which shows how even the load is."""


def coverage(store: Store) -> tuple[Coverage, ...]:
    """Return one row per set of `taxonomy.EXPERT_SETS`, and one for other categories if there are such jobs."""
    jobs = {i.id: i for i in store.find(Instance) if i.about.job is not None}
    gone = struck(store.find(Amendment))
    people = {e.id: e for e in store.find(Evaluator) if e.type is EvaluatorKind.PERSON}
    said = [
        e
        for e in store.find(Evaluation)
        if e.instance in jobs
        and e.evaluator in people
        and e.outcome is EvaluationOutcome.GIVEN
        and not gone & set(targets_of(e))
    ]
    rows = [_is_covered(one, jobs.values(), said, people) for one in (*EXPERT_SETS, None)]
    return tuple(row for row in rows if row.set != NO_SET or row.jobs)


def _is_covered(
    one: ExpertSet | None, jobs: Iterable[Instance], said: Iterable[Evaluation], people: dict[str, Evaluator]
) -> Coverage:
    # All versions of a job count as one.
    mine = {i.id: i for i in jobs if set_of(i.about.category) is one}
    contract = {id: i.about.job.contract for id, i in mine.items() if i.about.job}
    answers = [e for e in said if e.instance in mine]
    lookers: dict[str, set[str]] = {}
    load: dict[str, int] = {}
    outside = 0
    for e in answers:
        who = person_of(e.evaluator)
        lookers.setdefault(contract[e.instance], set()).add(who)
        load[who] = load.get(who, 0) + 1
        domains = expand_sets(people[e.evaluator].domains)
        category = mine[e.instance].about.category
        outside += bool(domains) and not any(category == d or category.startswith(d + "/") for d in domains)
    experts = {person_of(id) for id, p in people.items() if one and any(one.covers(d) for d in expand_sets(p.domains))}
    return Coverage(
        one.title if one else NO_SET, len(one.categories) if one else 0, len(set(contract.values())), len(experts),
        len(lookers), sum(len(found) > 1 for found in lookers.values()), len(answers), outside,
        max(load.values(), default=0),
    )  # fmt: skip
