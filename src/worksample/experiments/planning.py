"""From what was asked for to every slot of it. Pure: the same material always gives the same plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, product
from typing import Any, cast

from worksample.agents import takes_browser, takes_mcp, takes_sse, works_in_images
from worksample.agents.agent_definition import HUMAN
from worksample.errors import PlanError
from worksample.grading.evaluator_kinds import kinds_of
from worksample.records import (
    Agent,
    Arm,
    Chain,
    Environment,
    EvaluatorKind,
    Experiment,
    Feedback,
    HostLists,
    Instance,
    JudgedBy,
    Lock,
    Protocol,
    Record,
    Slot,
    Suite,
    Task,
    Worker,
    digest_of,
)
from worksample.results.reattempts.feedback_speakers import KIND
from worksample.runs.endpoints import unreachable
from worksample.runs.limits import limits_of
from worksample.sandboxes import browser
from worksample.workplace import service_programs

from .allowance import allowance
from .seating import no_seat, works
from .ungradable import apart, ungradable

NETWORKS = ("none", "endpoints", "workplace")
INTERFACES = ("terminal", "browser")


@dataclass(frozen=True)
class PlanInputs:
    """What a plan is made of: records only, nothing that depends on where or when."""

    name: str
    agents: tuple[Agent, ...]
    instances: tuple[Instance, ...]
    arms: tuple[Arm, ...] = (Arm(),)
    repeats: int = 1
    seed: int = 0
    chain: Chain | None = None
    """When failed attempts are followed by others, under the arms that have feedback."""
    protocols: tuple[Protocol, ...] = (Protocol.PROGRAM,)
    """Every instance has each; lists and boards go by the first."""
    sandbox: str = "bubblewrap"
    suite: Suite | None = None
    tasks: tuple[Task, ...] = ()
    others: tuple[Instance, ...] = ()
    """Instances that the suite and the tasks name and that are not worked on; they are kept all the same."""
    roles: dict[str, str] = field(default_factory=dict)
    judged_by: JudgedBy | None = None
    """Whose answers make the verdicts unless a report says otherwise."""
    lacking: frozenset[str] = frozenset()
    """Commands that instances ask for and the sandbox of this machine does not have."""
    allow_hosts: tuple[str, ...] = ()
    """What the operator allows to be reached."""
    hosts: HostLists | None = None
    """What the suite leaves of it."""


@dataclass(frozen=True)
class Plan:
    """An experiment with the slots that are planned before the first trial, as it is committed."""

    experiment: Experiment
    slots: tuple[Slot, ...]
    material: PlanInputs
    later: tuple[Slot, ...] = ()
    """Every slot that the chains' rule could come to commit."""

    @property
    def attemptable(self) -> tuple[Slot, ...]:
        """Slots that are run."""
        return tuple(s for s in self.slots if not s.not_attemptable)

    @property
    def records(self) -> tuple[Record, ...]:
        """Everything that a store must hold before the first trial."""
        m = self.material
        suite = (m.suite,) if m.suite else ()
        return (*m.tasks, *m.instances, *m.others, *suite, *m.agents, self.experiment, *self.slots)


def plan(
    material: PlanInputs, *, author: str, at: datetime, versions: dict[str, str], settings: dict[str, Any]
) -> Plan:
    """Slots for agents x instances x arms x repeats. PlanError where nothing is left to plan or names collide.

    Without agents there are no slots, and all work is handed in: rounds, verdicts and figures are those of its kind.

    The experiment's id is its name and a digest of all that decides what is done: agents, instances, arms, repeats,
    seed, roles, protocols, sandbox and what is not attemptable. Author, time, versions and settings are not in it, so
    planning the same again finds the same experiment.
    """
    _refuse(material)
    hosts = allowance(material.allow_hosts, material.hosts)
    reasons = {
        (agent.id, instance.id): why_not(agent, instance, material.lacking)
        or unreachable(agent, instance.work.environment, hosts, sandbox=material.sandbox)
        for agent, instance in product(material.agents, material.instances)
    }
    ids = tuple(i.id for i in material.instances)
    seats = sorted([a.name, i.id, why] for a in material.arms for i in material.instances if (why := no_seat(a, i)))
    lock = Lock(
        suite=material.suite.id if material.suite else digest_of(sorted(ids)),
        instances=ids,
        roles=material.roles,
        protocols=material.protocols,
        sandbox=material.sandbox,
        versions=versions,
        chain=material.chain,
        judged_by=material.judged_by,
        hosts=material.hosts,
    )
    identity = {
        "agents": sorted(a.id for a in material.agents),
        "arms": sorted((a.plain() for a in material.arms), key=lambda a: str(a["name"])),
        "repeats": material.repeats,
        "seed": material.seed,
        "suite": lock.suite,
        "lock": lock.comparable,
        "sandbox": material.sandbox,
        **({"protocols": list(material.protocols)} if len(material.protocols) > 1 else {}),
        **({"chain": material.chain.plain()} if material.chain else {}),
        **({"judged_by": material.judged_by} if material.judged_by else {}),
        "not_attemptable": sorted([*key, reason] for key, reason in reasons.items() if reason),
        **({"seats": seats} if seats else {}),
    }
    experiment = Experiment(
        id=f"{material.name}@{digest_of(identity)[:16]}",
        name=material.name,
        agents=tuple(a.id for a in material.agents),
        arms=material.arms,
        repeats=material.repeats,
        attempts=1 + (material.chain.reattempts if material.chain else 0),
        seed=material.seed,
        lock=lock,
        settings=settings,
        author=author,
        at=at,
    )
    slots = (
        Slot(
            id=Slot.identify(experiment.id, agent.id, instance.id, arm.name, 1, repeat),
            experiment=experiment.id,
            agent=agent.id,
            instance=instance.id,
            arm=arm.name,
            repeat=repeat,
            not_attemptable=no_seat(arm, instance) or reasons[agent.id, instance.id],
        )
        for agent, instance, arm, repeat in product(
            material.agents,
            material.instances,
            [arm for arm in material.arms if arm.continues is None],
            range(1, material.repeats + 1),
        )
        if works(agent, arm)
    )
    strata = strata_of(experiment, material.instances)
    planned = in_order(tuple(slots), material.seed, strata)
    arms = [arm for arm in material.arms if arm.continues is not None]
    firsts = [slot for slot in planned if not slot.not_attemptable]
    later = (s for slot in firsts for arm in arms if arm.continues == slot.arm for s in after(slot, arm, experiment))
    return Plan(experiment, planned, material, tuple(later))


def _refuse(material: PlanInputs) -> None:
    if not material.instances:
        raise PlanError("no instance is left to work on", next="worksample suite show, or a wider --only")
    for what, values in (
        ("agents have one name", [a.name for a in material.agents]),
        ("instances have one name", [i.key for i in material.instances]),
    ):
        twice = sorted({v for v in values if values.count(v) > 1})
        if twice:
            raise PlanError(f"two {what}: {', '.join(twice)}", next="give each its own name")
    for protocol in material.protocols:
        lacking = [i for i in material.instances if protocol not in i.grading]
        if lacking:
            raise ungradable(protocol, lacking, len(material.instances))
    for arm in material.arms:
        _refuse_feedback(arm, material.instances, material.protocols[0])


def _refuse_feedback(arm: Arm, instances: Sequence[Instance], protocol: Protocol) -> None:
    """PlanError where nobody of the kind whose feedback is wanted is asked under the first protocol."""
    kind = KIND.get(arm.feedback)
    whole = protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE)
    if arm.feedback is not Feedback.NONE and protocol is Protocol.PAIRWISE:
        raise PlanError(
            f"pairwise judgments never say that work failed, so the arm {arm.name} would have nothing to do",
            next="put rubric, holistic, checkpoints or program first in protocols",
        )
    for instance in instances if kind else ():
        asked = kinds_of(instance.grading[protocol])
        if kind not in asked and not (whole and kind is EvaluatorKind.JUDGE):
            have = f"{instance.key} is judged under {protocol} by: {', '.join(sorted(asked))}"
            raise PlanError(
                f"the arm {arm.name} wants feedback from a {kind}, but {have}",
                next="set by in its criteria.toml, or another protocol first in the file",
            )


USUAL = (Protocol.PROGRAM, Protocol.CHECKPOINTS, Protocol.RUBRIC, Protocol.HOLISTIC, Protocol.PAIRWISE)
"""The order in which protocols are looked for where nobody asks for any."""


def offered(instances: Sequence[Instance]) -> tuple[Protocol, ...]:
    """The protocol of an experiment that names none: the first that all instances have.

    PlanError where they have none in common; programs where there is no instance, which is refused elsewhere.
    """
    for protocol in USUAL:
        if all(protocol in i.grading for i in instances):
            return (protocol,)
    different = {tuple(sorted(i.grading)): i.key for i in reversed(instances)}
    have = "; ".join(f"{key} has {', '.join(protocols) or 'none'}" for protocols, key in different.items())
    raise PlanError(
        f"the instances have no protocol in common: {have}",
        next=apart(instances) or "leave some out with --only",
    )


def why_not(agent: Agent, instance: Instance, lacking: frozenset[str] = frozenset()) -> str:
    """Why the agent cannot work on the instance, or "" where it can."""
    environment = instance.work.environment
    reasons = []
    missing = sorted(set(environment.requires) - set(agent.capabilities)) if agent.harness != HUMAN else []
    if missing:
        reasons.append(f"requires {', '.join(missing)}, which the agent does not declare")
    if environment.network not in NETWORKS:
        reasons.append(f"needs network {environment.network!r}, which no sandbox gives")
    interfaces = sorted(set(environment.interfaces) - set(INTERFACES))
    if interfaces:
        reasons.append(f"needs the interface {', '.join(interfaces)}")
    if "browser" in environment.interfaces:
        reasons += _no_browser(agent, environment)
    if environment.workplace is None and environment.services:
        reasons.append(f"needs services: {', '.join(environment.services)}")
    elif environment.workplace is not None and (
        line := service_programs.missing_programs_command(environment.services)
    ):
        reasons.append(f"needs programs of a workplace, which this machine has not (type: {line})")
    if environment.image is not None and not works_in_images(agent):
        reasons.append("has an image, in which the agent's program may lack what it was installed without")
    if environment.mcp and not takes_mcp(agent):
        reasons.append(f"brings MCP servers, which the harness {agent.harness} does not take")
    elif any(one.sse for one in environment.mcp) and not takes_sse(agent):
        reasons.append(f"brings an MCP server over SSE, which the harness {agent.harness} does not speak")
    absent = [command for command in commands_of(environment) if command in lacking]
    if absent:
        reasons.append(f"the sandbox of this machine lacks {', '.join(absent)}")
    return "; ".join(reasons)


def _no_browser(agent: Agent, environment: Environment) -> Iterator[str]:
    if line := browser.missing_browser_command():
        yield f"needs a browser, which this machine has not (type: {line})"
    if environment.image is not None:
        yield "needs a browser, which is of this machine's programs, in an image, which has its own"
    if not takes_browser(agent):
        yield f"needs a browser, which the harness {agent.harness} is given none of"


def commands_of(environment: Environment) -> tuple[str, ...]:
    """Commands that this machine's sandbox must have: those of places without an image of their own."""
    own = environment.software if environment.image is None else ()
    theirs = (command for one in environment.served if one.image is None for command in one.software)
    return tuple(dict.fromkeys((*own, *theirs)))


def in_order(slots: Sequence[Slot], seed: int, strata: Mapping[str, str] | None = None) -> tuple[Slot, ...]:
    """Repeats one after the other, shuffled by `seed` within each, so that no instance is always worked on last.

    strata: instance -> stratum; at every place of the order each stratum then has had its share.
    """
    drawn = sorted(slots, key=lambda s: (s.attempt, s.repeat, digest_of([seed, s.id])))
    if not strata:
        return tuple(drawn)
    out: list[Slot] = []
    for _, some in groupby(drawn, key=lambda s: (s.attempt, s.repeat)):
        of: dict[str, list[Slot]] = {}
        for slot in some:
            of.setdefault(strata.get(slot.instance, ""), []).append(slot)
        placed = [
            ((n + 0.5) / len(each), digest_of([seed, s.id]), s) for each in of.values() for n, s in enumerate(each)
        ]
        out += [s for *_, s in sorted(placed, key=lambda p: p[:2])]
    return tuple(out)


def strata_of(experiment: Experiment, instances: Sequence[Instance]) -> dict[str, str]:
    """By category, where arms are to be matched; none for an experiment without chains."""
    return {i.id: i.about.category for i in instances} if experiment.lock.chain else {}


@dataclass(frozen=True)
class Forecast:
    """What a plan may take at most. None is "unknown": some trial has no such limit."""

    trials: int
    not_attemptable: int
    seconds: float | None
    """Of wall-clock time with `parallel` trials at once."""
    cost: float | None
    """US dollars; 0 where no agent calls a model."""
    beyond_budget: float | None = 0.0
    """US dollars more: a budget is looked at after each call, so in each trial the one that reaches it is paid for."""
    reattempts: int = 0
    """Of the trials, those that are only made where the chain's rule asks for them."""
    seats: int = 0
    """Of the trials, those that wait for a person who works."""
    hours: float | None = 0.0
    """What their tasks say that people take for them, in hours; None where one does not say."""


def forecast(planned: Plan, parallel: int, calls_model: Callable[[Agent], bool]) -> Forecast:
    """The most that `planned` can take under its limits."""
    m = planned.material
    agents, instances, arms = ({r.id: r for r in m.agents}, {r.id: r for r in m.instances}, {a.name: a for a in m.arms})
    seconds: float | None = 0.0
    cost: float | None = 0.0
    seats, hours = 0, cast("float | None", 0.0)
    for slot in (*planned.attemptable, *planned.later):
        limits = limits_of(instances[slot.instance], arms[slot.arm], agents[slot.agent])
        if arms[slot.arm].feedback is Feedback.UNCHANGED:
            continue
        if arms[slot.arm].worker is not Worker.AGENT:
            about = instances[slot.instance].about.hours
            seats += 1
            hours = None if hours is None or about is None else hours + about.middle
        if arms[slot.arm].worker is Worker.HUMAN:
            continue
        seconds = None if seconds is None or limits.time is None else seconds + limits.time
        if calls_model(agents[slot.agent]):
            cost = None if cost is None or limits.cost is None else cost + limits.cost
    if seconds is not None:
        seconds /= min(parallel, max(1, len(planned.attemptable)))
    count = len(planned.attemptable)
    later = len(planned.later)
    absent = len(planned.slots) - count
    return Forecast(count + later, absent, seconds, cost, reattempts=later, seats=seats, hours=hours)


def after(slot: Slot, arm: Arm, experiment: Experiment) -> tuple[Slot, ...]:
    """Every attempt that may come after this one in an arm."""
    found: list[Slot] = []
    while slot.attempt < experiment.attempts:
        slot = slot_after(slot, arm)
        found.append(slot)
    return tuple(found)


def slot_after(slot: Slot, arm: Arm) -> Slot:
    """The next attempt of a chain."""
    attempt = slot.attempt + 1
    return Slot(
        id=Slot.identify(slot.experiment, slot.agent, slot.instance, arm.name, attempt, slot.repeat),
        experiment=slot.experiment,
        agent=slot.agent,
        instance=slot.instance,
        arm=arm.name,
        attempt=attempt,
        repeat=slot.repeat,
        after=slot.id,
    )
