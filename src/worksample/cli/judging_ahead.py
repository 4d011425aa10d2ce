"""What judging a plan takes of people and of judges, before anything is run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from .output import console, dollars

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig
    from worksample.experiments.planning import Plan
    from worksample.people.rounds.own import Effort
    from worksample.records import EvaluatorKind, Protocol


@dataclass(frozen=True)
class Judging:
    """Of one protocol and one kind of evaluator, where every attemptable slot is finished."""

    protocol: str
    by: str
    items: int
    """Submissions; pairs of them where pairs are judged."""
    evaluations: int | None
    """None: no judge is configured, and they wait for one."""
    hours: float | None
    """Of people's work, at the form's soft limit; None for judges."""
    cost: float | None
    """US dollars; None is unknown."""
    each: str = ""
    """For whom it is where no agent is planned: "entrant", or "two entrants" of pairs; how many come is not known."""


def judging_of(plan: Plan, config: ExperimentConfig) -> list[Judging]:
    """Protocol by protocol; programs cost nothing and are left out. Of work that is handed in: for each entrant."""
    from worksample.experiments.rounds import asked_of
    from worksample.people.rounds.own import effort_of
    from worksample.records import EvaluatorKind, Protocol

    found = []
    instances = {i.id: i for i in plan.material.instances}
    asked = asked_of(instances.values(), plan.material.protocols)
    whole = [p for p in plan.material.protocols if p in (Protocol.HOLISTIC, Protocol.PAIRWISE) and _judges(config, p)]
    open_ = not plan.material.agents
    for protocol, by in (*asked, *((protocol, EvaluatorKind.JUDGE) for protocol in whole)):
        if by is EvaluatorKind.PROGRAM:
            continue
        items = _pairs(plan) if protocol is Protocol.PAIRWISE else _submissions(plan, protocol, by)
        people = effort_of(protocol, config.people.overlap) if by is EvaluatorKind.PERSON else None
        if people is None:
            each = _judges(config, protocol)
            found.append(Judging(protocol, by, items, items * each if each else None, None, None))
        else:
            found.append(_by_people(protocol, by, items, people, config.people.pay))
        if open_:
            found[-1] = replace(found[-1], each="two entrants" if protocol is Protocol.PAIRWISE else "entrant")
    return found


def _judges(config: ExperimentConfig, protocol: Protocol) -> int:
    """Evaluations that the judges that are configured give of one submission."""
    return sum(j.repeats * len(j.models) for j in config.judges.values() if protocol in j.rounds)


def _by_people(protocol: str, by: str, items: int, people: Effort, pay: float | None) -> Judging:
    votes = items * people.votes
    hours = votes * people.minutes / 60
    return Judging(protocol, by, items, votes, hours, None if pay is None else hours * pay)


def _submissions(plan: Plan, protocol: Protocol, by: EvaluatorKind) -> int:
    from worksample.grading.asked_kinds import kinds_of

    known = plan.material.instances
    asked = {i.id for i in known if by in kinds_of(i.grading[protocol])} or {i.id for i in known}
    return sum(slot.instance in asked for slot in plan.attemptable) if plan.material.agents else len(asked)


def _pairs(plan: Plan) -> int:
    """Each two entrants meet on so many instances as they share, ten at most (RLI B.2)."""
    from worksample.people.rounds.own import PER_PAIR

    if not plan.material.agents:
        return min(PER_PAIR, len(plan.material.instances))
    worked: dict[tuple[str, str], set[str]] = {}
    for slot in plan.attemptable:
        worked.setdefault((slot.agent, slot.arm), set()).add(slot.instance)
    return sum(min(PER_PAIR, len(one & two)) for one, two in combinations(worked.values(), 2))


def show_judging(found: list[Judging]) -> None:
    """A line for each."""
    names = Counter(one.protocol for one in found)
    for one in found:
        what = "pairs" if one.protocol == "pairwise" else "submissions"
        of = f"{one.protocol} ({one.by})" if names[one.protocol] > 1 else one.protocol
        per = f" of each {one.each}" if one.each else ""
        if one.hours is None:
            many = "none is configured" if one.evaluations is None else f"{one.evaluations:,} evaluations"
            console(err=True).print(f"{of}: a judge for {one.items:,} {what}{per}, {many}")
            continue
        pay = "pay unknown (--pay USD an hour)" if one.cost is None else dollars(one.cost)
        console(err=True).print(
            f"{of}: people for {one.evaluations:,} evaluations of {one.items:,} {what}{per}, "
            f"{one.hours:,.1f} hours at most, {pay}"
        )
