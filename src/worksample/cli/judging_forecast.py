"""Forecast of how much judging by people and by judge models a plan needs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from .output import console, dollars

if TYPE_CHECKING:
    from worksample.experiments.config import ExperimentConfig
    from worksample.experiments.planning.experiment_plan import Plan
    from worksample.models import JudgeConfig
    from worksample.people.rounds.experiment_rounds import Effort
    from worksample.records import EvaluatorKind, Protocol
    from worksample.results.calibration.label_draw import LabelDraw


CHARACTERS = 4
"""Estimated number of characters in one token of text."""
PICTURE = 1500
"""Estimated number of tokens of one picture."""


@dataclass(frozen=True)
class JudgingAhead:
    """Upper bound of the judging under one protocol by one kind of evaluator. It assumes that every slot finishes and
    that every re-attempt is made.
    """

    protocol: str
    by: str
    items: int
    """Number of submissions to judge, or of pairs of submissions if pairs are judged."""
    evaluations: int | None
    """Number of evaluations; None if the items wait because no judge is configured."""
    hours: float | None
    """Maximum hours of people's work, at the time limit that the form suggests; None for judges."""
    cost: float | None
    """Maximum cost in US dollars; None if the cost is unknown."""
    calls: int | None = None
    """Number of questions to judges, without repeated questions; None for people."""
    labels: bool = False
    """True if the items are a judge's answers, drawn at random, that people label."""
    each: str = ""
    """Unit to which all numbers refer: "entrant", or "two entrants" for pairs. Set only if no agent is planned, because
    the number of entrants is then unknown.
    """


def judging_of(plan: Plan, config: ExperimentConfig) -> list[JudgingAhead]:
    """Return a forecast for each protocol and kind of evaluator. Programs are left out, because they cost nothing.

    If all work is handed in, the numbers are for each entrant.
    """
    from worksample.experiments.rounds import required_evaluators
    from worksample.people.rounds.experiment_rounds import effort_of
    from worksample.records import EvaluatorKind, Protocol
    from worksample.results.calibration.config import calibrated_protocols

    found = []
    instances = {i.id: i for i in plan.inputs.instances}
    labelled = calibrated_protocols(plan.experiment)
    asked = required_evaluators(instances.values(), plan.inputs.protocols, labelled)
    whole = [p for p in plan.inputs.protocols if p in (Protocol.HOLISTIC, Protocol.PAIRWISE) and _judges(config, p)]
    extra = [(protocol, EvaluatorKind.JUDGE) for protocol in whole]
    open_ = not plan.inputs.agents
    for protocol, by in dict.fromkeys((*asked, *extra)):
        if by is EvaluatorKind.PROGRAM:
            continue
        items = _pairs(plan) if protocol is Protocol.PAIRWISE else _submissions(plan, protocol, by)
        people = effort_of(protocol, config.people.overlap) if by is EvaluatorKind.PERSON else None
        if people is None:
            found.append(_by_judges(plan, config, protocol, items))
        else:
            found.append(_by_people(protocol, by, items, people, config.people.pay))
        if open_:
            found[-1] = replace(found[-1], each="two entrants" if protocol is Protocol.PAIRWISE else "entrant")
    for protocol in sorted(labelled):
        items = _pairs_drawn(plan) if protocol is Protocol.PAIRWISE else len(drawn_of(plan, protocol).drawn)
        people = effort_of(protocol, config.people.overlap)
        told = _by_people(protocol, EvaluatorKind.PERSON, items, people, config.people.pay)
        found.append(replace(told, labels=True))
    return found


def drawn_of(plan: Plan, protocol: Protocol) -> LabelDraw:
    """Return the sample of labels that people give under a protocol whose judges are calibrated."""
    from worksample.results.calibration.config import calibration_of
    from worksample.results.calibration.label_draw import LabelDraw, draw

    config = calibration_of(plan.experiment)
    if config is None:
        return LabelDraw({}, frozenset(), 0.0, 0)
    agents = {a.id: a for a in plan.inputs.agents}
    return draw(plan.slots, agents, {i.id: i for i in plan.inputs.instances}, protocol, config)


def _by_judges(plan: Plan, config: ExperimentConfig, protocol: Protocol, items: int) -> JudgingAhead:
    from worksample.records import EvaluatorKind

    each = _judges(config, protocol)
    if not each:
        return JudgingAhead(protocol, EvaluatorKind.JUDGE, items, None, None, None)
    asked = [judge for judge in config.judges.values() if protocol in judge.rounds]
    # A judge compares a pair in both orders, so each pair takes two questions.
    questions = 4 * items if protocol == "pairwise" else _questions(plan, protocol)
    costs = [_cost(judge, model, questions, config) for judge in asked for model in judge.models]
    cost = None if None in costs else sum(c for c in costs if c is not None)
    return JudgingAhead(protocol, EvaluatorKind.JUDGE, items, items * each, None, cost, questions * each)


def _questions(plan: Plan, protocol: Protocol) -> int:
    """Return the number of questions with which a judge judges all submissions once. Work that is judged as a whole
    needs one question, other work one question for each criterion that judges decide.
    """
    from worksample.records import Protocol
    from worksample.results.calibration.label_draw import leaves_of

    whole = protocol is Protocol.HOLISTIC
    each = {i.id: 1 if whole else len(leaves_of(i, protocol)) for i in plan.inputs.instances}
    return sum(each[slot.instance] for slot in plan.attemptable)


def _cost(judge: JudgeConfig, model: str, questions: int, config: ExperimentConfig) -> float | None:
    """Return the maximum cost in US dollars. It assumes that each question is asked once, with the longest text and the
    longest answer.
    """
    price = config.prices.get(model)
    if price is None:
        return judge.cost
    tokens = judge.characters / CHARACTERS + judge.pictures * PICTURE
    calls = questions * judge.repeats
    most = calls * (tokens * price.input + judge.max_tokens * price.output) / 1e6
    return most if judge.cost is None else min(most, judge.cost)


def _judges(config: ExperimentConfig, protocol: Protocol) -> int:
    """Return the number of evaluations that the configured judges make of one submission."""
    return sum(j.repeats * len(j.models) for j in config.judges.values() if protocol in j.rounds)


def _by_people(protocol: str, by: str, items: int, people: Effort, pay: float | None) -> JudgingAhead:
    votes = items * people.votes
    hours = votes * people.minutes / 60
    return JudgingAhead(protocol, by, items, votes, hours, None if pay is None else hours * pay)


def _submissions(plan: Plan, protocol: Protocol, by: EvaluatorKind) -> int:
    from worksample.grading.evaluator_kinds import evaluator_kinds

    known = plan.inputs.instances
    asked = {i.id for i in known if by in evaluator_kinds(i.grading[protocol])} or {i.id for i in known}
    if not plan.inputs.agents:
        return len(asked)
    return sum(slot.instance in asked for slot in (*plan.attemptable, *plan.later))


def _pairs(plan: Plan) -> int:
    """Return the number of pairs to judge. Two entrants are compared on at most ten instances that both worked on (RLI
    B.2).
    """
    return sum(_meetings(plan))


def _meetings(plan: Plan) -> list[int]:
    """Return the number of comparisons for each pair of entrants."""
    from worksample.results.pair_sampling import PER_PAIR

    if not plan.inputs.agents:
        return [min(PER_PAIR, len(plan.inputs.instances))]
    worked: dict[tuple[str, str], set[str]] = {}
    for slot in plan.attemptable:
        worked.setdefault((slot.agent, slot.arm), set()).add(slot.instance)
    return [min(PER_PAIR, len(one & two)) for one, two in combinations(worked.values(), 2)]


def _pairs_drawn(plan: Plan) -> int:
    """Return the approximate number of pairs that people label. The exact number is known only after all work is
    present.
    """
    from worksample.results.calibration.config import calibration_of
    from worksample.results.calibration.label_draw import EACH

    config, meet = calibration_of(plan.experiment), _meetings(plan)
    if config is None:
        return 0
    least = [min(config.labels or EACH, each) for each in meet]
    return max(sum(least), round((config.share or 0.0) * sum(meet)))


def show_judging(found: list[JudgingAhead]) -> None:
    """Print one line for each forecast."""
    names = Counter(one.protocol for one in found)
    for one in found:
        what = "pairs" if one.protocol == "pairwise" else "submissions"
        of = f"{one.protocol} ({one.by})" if names[one.protocol] > 1 else one.protocol
        per = f" of each {one.each}" if one.each else ""
        if one.hours is None:
            console(err=True).print(f"{of}: a judge for {one.items:,} {what}{per}, {_calls(one)}")
            continue
        pay = "pay unknown (set --pay, US dollars per hour)" if one.cost is None else dollars(one.cost)
        whose = f"{one.items:,} {what}{per}" + (" drawn at random to calibrate the judge" if one.labels else "")
        console(err=True).print(
            f"{of}: people for {one.evaluations:,} evaluations of {whose}, {one.hours:,.1f} hours at most, {pay}"
        )


def _calls(one: JudgingAhead) -> str:
    if one.evaluations is None:
        return "no judge is configured"
    cost = "cost unknown (no price)" if one.cost is None else f"{dollars(one.cost)} at most"
    return f"{one.evaluations:,} evaluations, {one.calls:,} questions, {cost}"


def show_calibration(plan: Plan) -> None:
    """Print how many labels each stratum gets. Warn if the labels are too few to correct a judge or to prove that it
    agrees.
    """
    from worksample.results.calibration.config import calibration_of

    config = calibration_of(plan.experiment)
    for protocol in config.protocols if config else ():
        if protocol == "pairwise":
            continue
        found, out = drawn_of(plan, protocol), console(err=True)
        for stratum, (every, mine) in found.counts.items():
            out.print(f"  labels of {stratum}: {mine:,} of {every:,}")
        if config and config.proofs:
            out.print(f"  labels of {', '.join(config.proofs)} count towards the proof")
        if config and len(found.drawn) < config.least:
            few = f"  {len(found.drawn)} labels are too few to correct the judge or prove its accuracy"
            out.print(f"{few}: with fewer than {config.least}, a report only shows them")
