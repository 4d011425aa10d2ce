"""Plan of an experiment: the slots of its agents, instances, arms and repeats. The same inputs always give the same
plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from typing import Any

from worksample.errors import PlanError
from worksample.grading.evaluator_kinds import evaluator_kinds
from worksample.records import (
    Agent,
    Arm,
    Chain,
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
    digest_of,
)
from worksample.results.reattempts.feedback_sources import KIND
from worksample.runs.trial_endpoints import why_unreachable
from worksample.sandboxes.endpoints import HostAllowance, read_rule

from .agent_compatibility import reason_identity, why_incompatible, why_no_person, works_under
from .protocol_choice import ungradable_error
from .slot_order import later_slots, order_slots, strata_of


@dataclass(frozen=True)
class PlanInputs:
    """Inputs of a plan. They consist of records only and do not depend on the machine or the time."""

    name: str
    agents: tuple[Agent, ...]
    instances: tuple[Instance, ...]
    arms: tuple[Arm, ...] = (Arm(),)
    repeats: int = 1
    seed: int = 0
    chain: Chain | None = None
    """Rule for re-attempts after failed attempts, in the arms that have feedback."""
    protocols: tuple[Protocol, ...] = (Protocol.PROGRAM,)
    """Protocols that every instance has. Lists and leaderboards use the first."""
    sandbox: str = "bubblewrap"
    suite: Suite | None = None
    tasks: tuple[Task, ...] = ()
    others: tuple[Instance, ...] = ()
    """Instances that the suite and the tasks contain but that were not selected. They are stored, too."""
    roles: dict[str, str] = field(default_factory=dict)
    judged_by: JudgedBy | None = None
    """Evaluators whose answers decide the verdicts, unless a report chooses others."""
    lacking: frozenset[str] = frozenset()
    """Commands that instances need and this machine's sandbox lacks."""
    allow_hosts: tuple[str, ...] = ()
    """Hosts that the operator allows tasks' endpoints to reach."""
    hosts: HostLists | None = None
    """Hosts that the suite allows or blocks for tasks' endpoints; None if the suite has no lists."""


@dataclass(frozen=True)
class Plan:
    """Plan: an experiment with the slots that exist before the first trial."""

    experiment: Experiment
    slots: tuple[Slot, ...]
    inputs: PlanInputs
    later: tuple[Slot, ...] = ()
    """Re-attempts that the chains' rule may add after failed attempts."""

    @property
    def attemptable(self) -> tuple[Slot, ...]:
        """Slots that will run; slots that are not attemptable are left out."""
        return tuple(s for s in self.slots if not s.not_attemptable)

    @property
    def records(self) -> tuple[Record, ...]:
        """Records that the store must have before the first trial."""
        m = self.inputs
        suite = (m.suite,) if m.suite else ()
        return (*m.tasks, *m.instances, *m.others, *suite, *m.agents, self.experiment, *self.slots)


def plan(
    material: PlanInputs, *, author: str, at: datetime, versions: dict[str, str], settings: dict[str, Any]
) -> Plan:
    """Plan a slot for each combination of agent, instance, arm and repeat.

    The experiment's id consists of its name and a digest of everything that determines the work: agents, instances,
    arms, repeats, seed, roles, protocols, sandbox and incompatible slots. The author, the time, the versions and the
    settings do not change the id, so a repeated plan finds the existing experiment. Without agents the plan has no
    slots, and all work is handed in. Raises PlanError if agents are given and no slot can run, or if two names are
    equal.
    """
    _refuse(material)
    hosts = allowed_hosts(material.allow_hosts, material.hosts)
    reasons = {
        (agent.id, instance.id): why_incompatible(agent, instance, material.lacking)
        or why_unreachable(agent, instance.work.environment, hosts, sandbox=material.sandbox)
        for agent, instance in product(material.agents, material.instances)
    }
    ids = tuple(i.id for i in material.instances)
    seats = sorted(
        [a.name, i.id, reason_identity(why)]
        for a in material.arms
        for i in material.instances
        if (why := why_no_person(a, i))
    )
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
        "not_attemptable": sorted([*key, reason_identity(reason)] for key, reason in reasons.items() if reason),
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
            not_attemptable=why_no_person(arm, instance) or reasons[agent.id, instance.id],
        )
        for agent, instance, arm, repeat in product(
            material.agents,
            material.instances,
            [arm for arm in material.arms if arm.continues is None],
            range(1, material.repeats + 1),
        )
        if works_under(agent, arm)
    )
    strata = strata_of(experiment, material.instances)
    planned = order_slots(tuple(slots), material.seed, strata)
    arms = [arm for arm in material.arms if arm.continues is not None]
    firsts = [slot for slot in planned if not slot.not_attemptable]
    later = (
        s for slot in firsts for arm in arms if arm.continues == slot.arm for s in later_slots(slot, arm, experiment)
    )
    return Plan(experiment, planned, material, tuple(later))


def _refuse(material: PlanInputs) -> None:
    if not material.instances:
        raise PlanError("no instance is selected", next="worksample suite show, or a wider --only")
    for what, values in (
        ("agents share a name", [a.name for a in material.agents]),
        ("instances share a name", [i.key for i in material.instances]),
    ):
        twice = sorted({v for v in values if values.count(v) > 1})
        if twice:
            raise PlanError(f"several {what}: {', '.join(twice)}", next="give each its own name")
    for protocol in material.protocols:
        lacking = [i for i in material.instances if protocol not in i.grading]
        if lacking:
            raise ungradable_error(protocol, lacking, len(material.instances))
    for arm in material.arms:
        _refuse_feedback(arm, material.instances, material.protocols[0])


def _refuse_feedback(arm: Arm, instances: Sequence[Instance], protocol: Protocol) -> None:
    """Raise PlanError if the arm's feedback comes from a kind of evaluator that does not evaluate under the first
    protocol.
    """
    kind = KIND.get(arm.feedback)
    whole = protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE)
    if arm.feedback is not Feedback.NONE and protocol is Protocol.PAIRWISE:
        raise PlanError(
            f"pairwise judgments never fail a submission, so the arm {arm.name} would have nothing to repeat",
            next="put rubric, holistic, checkpoints or program first in protocols",
        )
    for instance in instances if kind else ():
        asked = evaluator_kinds(instance.grading[protocol])
        if kind not in asked and not (whole and kind is EvaluatorKind.JUDGE):
            have = f"{instance.key} is judged under {protocol} by: {', '.join(sorted(asked))}"
            raise PlanError(
                f"the arm {arm.name} needs feedback from a {kind}, but {have}",
                next="set `by` in its criteria.toml, or put another protocol first in the file",
            )


def allowed_hosts(operator: Iterable[str], suite: HostLists | None) -> HostAllowance:
    """Parse the rules for hosts that the operator and the suite give. Raises UsageError if a rule is invalid."""
    lists = suite or HostLists()
    return HostAllowance(
        operator=tuple(read_rule(text) for text in operator),
        suite=tuple(read_rule(text) for text in lists.allow),
        blocked=tuple(read_rule(text, port=0) for text in lists.block),
    )
