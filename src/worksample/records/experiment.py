"""The plan of an experiment: its slots, and the lock that fixes all versions and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from .base import Frozen, Moment, Record, digest_of, omittable, register
from .task import HostLists, Limits, Name, Protocol
from .verdict import JudgedBy


class Feedback(StrEnum):
    """Feedback that an agent receives before it attempts failed work again."""

    NONE = "none"
    """The agent receives no feedback, because the arm only makes first attempts."""
    RETRY = "retry"
    """The agent only learns that its work was not accepted. Such an arm is the control group."""
    GENERIC = "generic"
    """The agent receives general advice that fits any work."""
    PEOPLE = "people"
    JUDGE = "judge"
    PROGRAM = "program"
    """The agent receives the feedback of the grading program."""
    UNCHANGED = "unchanged"
    """Nobody works. The unchanged submission is graded again, and evaluators do not know that. This measures the noise
    of grading.
    """


class ShownRubric(StrEnum):
    """The part of the criteria that the agent sees before it works."""

    NONE = "none"
    CRITERIA = "criteria"
    IMPORTANCES = "importances"
    """The agent sees the criteria with their importances or points."""


class Worker(StrEnum):
    """Worker in an arm: an agent, a person, or both."""

    AGENT = "agent"
    HUMAN = "human"
    """A person works in the same kind of box as an agent, with a terminal and files."""
    ASSISTED = "assisted"
    """A person and an agent work in turns. The agent begins. The person continues, may ask the agent again, and hands
    in the work.
    """


class Arm(Frozen):
    """A condition under which the slots of an experiment are worked on, such as limits, feedback or kind of worker."""

    name: Name = "plain"
    worker: Worker = Worker.AGENT
    feedback: Feedback = Feedback.NONE
    shown_rubric: ShownRubric = ShownRubric.NONE
    limits: Limits | None = None
    """Limits for this arm. Each limit that is set replaces the same limit of the instance."""
    continues: Name | None = omittable(None)
    """Name of the arm whose failed first attempts this arm continues. Omitted if this arm makes first attempts
    itself.
    """


class Chain(Frozen):
    """Rule for re-attempts of failed work (UpBench, Algorithm 1).

    A chain is a first attempt with its re-attempts. Budgets cover all attempts of a chain, with the first one. A chain
    stops when it has spent a budget.
    """

    reattempts: int = Field(ge=1, le=100)
    """Maximum number of attempts after the first attempt."""
    dollars: float | None = Field(default=None, gt=0)
    """Budget of one chain in US dollars. It covers the model calls of agents and judges, and people's time."""
    hours: float | None = Field(default=None, gt=0)
    """Budget of one chain in hours of people's work."""
    pay: float | None = Field(default=None, ge=0)
    """Pay in US dollars per hour of people's work. It counts towards the budget in dollars."""
    improving: bool = False
    """If true, a chain stops when an attempt did not score higher than the attempt before."""


class Lock(Frozen):
    """The conditions that must be equal if results are compared, and the versions of the software that produced the
    results.
    """

    suite: str
    """Id of the suite (name and digest). If no suite was named, the digest of the instance ids."""
    instances: tuple[str, ...]
    roles: dict[str, str] = {}
    """Model names by role, for models that belong to the environment (colleagues, judges)."""
    protocols: tuple[Protocol, ...] = Field(min_length=1)
    """Protocols by which every submission is judged. Lists and leaderboards show the results of the first protocol."""
    sandbox: str
    """Kind of sandbox: `bubblewrap`, `docker`, or `none` if the operator chose to run without isolation. Every report
    states the value `none`.
    """
    versions: dict[str, str] = {}
    hosts: HostLists | None = omittable(None)
    """Hosts on the network that the suite allows or blocks, within the hosts that the operator allows. Omitted if the
    suite has no such lists.
    """
    judged_by: JudgedBy | None = omittable(None)
    """Kind of evaluator whose answers decide verdicts, unless a report chooses another kind. If omitted, each criterion
    is decided by the kind of evaluator that it names. Work without such criteria is then decided by people,
    otherwise by a program, otherwise by a judge.
    """

    chain: Chain | None = omittable(None)
    """Rule for re-attempts of failed work. Omitted if there are no re-attempts. Every slot is then planned before the
    first trial.
    """

    @model_validator(mode="before")
    @classmethod
    def _one_or_several(cls, body: Any) -> Any:
        if not isinstance(body, dict) or "protocol" not in body:
            return body
        rest = {name: value for name, value in body.items() if name != "protocol"}
        return {**rest, "protocols": (body["protocol"],)}

    @property
    def protocol(self) -> Protocol:
        """Return the first protocol, whose results lists and leaderboards show."""
        return self.protocols[0]

    @property
    def comparable(self) -> str:
        """Return a digest of everything that must be equal for results on the same leaderboard: instances, roles, first
        protocol, hosts.
        """
        own = {"instances": sorted(self.instances), "roles": self.roles, "protocol": self.protocol}
        return digest_of(own if self.hosts is None else {**own, "hosts": self.hosts.plain()})


@register
class Experiment(Record):
    """The plan of an experiment: agents, instances, arms and repeats. The plan is locked before the first trial."""

    kind: ClassVar[str] = "experiment"
    schema_version: ClassVar[int] = 2
    """Current schema version of experiments. Schema 1 had a single `protocol` in its lock, which is read as a list with
    one item.
    """

    name: Name
    agents: tuple[str, ...]
    arms: tuple[Arm, ...]
    repeats: int = Field(ge=1)
    attempts: int = Field(default=1, ge=1)
    """Maximum number of attempts in a chain: 1 plus `reattempts` of the chain."""
    seed: int = 0
    lock: Lock
    settings: dict[str, Any] = {}
    """The settings of the experiment, after the configuration file and the command line were combined."""
    author: str
    at: Moment

    @model_validator(mode="after")
    def _sound_chain(self) -> Self:
        check_arms(self.arms)
        if self.lock.chain is not None and self.attempts != 1 + self.lock.chain.reattempts:
            raise ValueError(
                f"the experiment has {self.attempts} attempts, but its chain allows {1 + self.lock.chain.reattempts}"
            )
        return self


def check_arms(arms: Sequence[Arm]) -> None:
    """Raise ValueError if the arms of an experiment contradict each other.

    An arm with feedback must continue an arm of agents without feedback, and only agents receive feedback. An arm
    without feedback must not continue another arm.
    """
    own = {arm.name for arm in arms if arm.feedback is Feedback.NONE and arm.worker is Worker.AGENT}
    for arm in arms:
        if arm.feedback is not Feedback.NONE and arm.worker is not Worker.AGENT:
            raise ValueError(f"the arm {arm.name} is an arm of people with feedback, but only agents receive feedback")
        if arm.feedback is Feedback.NONE and arm.continues is not None:
            raise ValueError(
                f"the arm {arm.name} continues the arm {arm.continues} without feedback: only arms with "
                "feedback continue another"
            )
        if arm.feedback is not Feedback.NONE and arm.continues not in own:
            raise ValueError(f"the arm {arm.name} has feedback, so it must continue an arm that makes first attempts")


@register
class Slot(Record):
    """A planned piece of work of an experiment. `id` is computed from the other fields, so that planning twice gives
    the same slots.

    First attempts are planned before the first trial. A re-attempt is added when the rule of the chain requires it.
    """

    kind: ClassVar[str] = "slot"

    experiment: str
    agent: str
    instance: str
    arm: Name = "plain"
    attempt: int = Field(default=1, ge=1)
    repeat: int = Field(default=1, ge=1)
    not_attemptable: str = ""
    """The capability or software that is missing for this slot; empty if nothing is missing. A slot with a missing
    capability is planned and counted, but never run.
    """
    after: str | None = omittable(None)
    """Id of the slot whose failed work this slot continues. Omitted for a first attempt."""

    @staticmethod
    def identify(experiment: str, agent: str, instance: str, arm: str, attempt: int, repeat: int) -> str:
        return digest_of([experiment, agent, instance, arm, attempt, repeat])[:24]
