"""The plan of an experiment: its slots, and the lock that pins everything else."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from .base import Frozen, Moment, Record, digest_of, omittable, register
from .task import HostLists, Limits, Name, Protocol
from .verdict import JudgedBy


class Feedback(StrEnum):
    """Feedback that an agent receives when it re-attempts failed work."""

    NONE = "none"
    """Nothing: the arm makes first attempts only."""
    RETRY = "retry"
    """Only the fact that the work was not accepted. Serves as the control group."""
    GENERIC = "generic"
    """Advice that fits any work."""
    PEOPLE = "people"
    JUDGE = "judge"
    PROGRAM = "program"
    """The feedback of this kind of evaluator."""
    UNCHANGED = "unchanged"
    """Nobody works: the same submission is graded again, blind, which measures the noise of grading."""


class ShownRubric(StrEnum):
    """The part of the criteria that the agent sees."""

    NONE = "none"
    CRITERIA = "criteria"
    IMPORTANCES = "importances"
    """The criteria with their importances or points."""


class Worker(StrEnum):
    """Kind of worker in an arm."""

    AGENT = "agent"
    HUMAN = "human"
    """A person, in the same box, with a terminal and files."""
    ASSISTED = "assisted"
    """A person and an agent in turns: the agent begins; the person continues, may ask the agent again, and hands in."""


class Arm(Frozen):
    """A condition under which agents or people work."""

    name: Name = "plain"
    worker: Worker = Worker.AGENT
    feedback: Feedback = Feedback.NONE
    shown_rubric: ShownRubric = ShownRubric.NONE
    limits: Limits | None = None
    """Limits that replace the instance's, field by field."""
    continues: Name | None = omittable(None)
    """Name of the arm whose failed first attempts this one continues. Omitted if the arm makes first attempts itself.
    """


class Chain(Frozen):
    """Rule for re-attempts of failed work (UpBench, Algorithm 1).

    Budgets cover all attempts of a chain, the first one included. A chain ends once it has spent its budget.
    """

    reattempts: int = Field(ge=1, le=100)
    """Maximum number of attempts after the first one."""
    dollars: float | None = Field(default=None, gt=0)
    """Budget in US dollars for model calls of agents and judges, and for people's time."""
    hours: float | None = Field(default=None, gt=0)
    """Budget in hours of people's work."""
    pay: float | None = Field(default=None, ge=0)
    """US dollars per hour of people's work, counted in the budget in dollars."""
    improving: bool = False
    """If True, a chain ends when the latest attempt did not score higher than the one before."""


class Lock(Frozen):
    """Everything that must be equal for results to be comparable, and the versions that produced them."""

    suite: str
    """Suite id (name and digest), or the digest of the instance ids if no suite was named."""
    instances: tuple[str, ...]
    roles: dict[str, str] = {}
    """Models that belong to the environment (colleagues, judges): role -> model name."""
    protocols: tuple[Protocol, ...] = Field(min_length=1)
    """Protocols by which every submission is judged. Lists and leaderboards show the first one."""
    sandbox: str
    """`bubblewrap`, `docker`, or `none` if the operator chose no isolation, which every report states."""
    versions: dict[str, str] = {}
    hosts: HostLists | None = omittable(None)
    """The suite's restriction of the hosts that an operator allows. Omitted if the suite has none."""
    judged_by: JudgedBy | None = omittable(None)
    """Whose answers make the verdicts, unless a report chooses otherwise. Omitted by default: each criterion is decided
    by the kind of evaluator that it names, and work without such criteria by people, else a program, else a judge.
    """

    chain: Chain | None = omittable(None)
    """Rule for re-attempts. Omitted if there are no re-attempts: every slot is then planned before the first trial."""

    @model_validator(mode="before")
    @classmethod
    def _one_or_several(cls, body: Any) -> Any:
        if not isinstance(body, dict) or "protocol" not in body:
            return body
        rest = {name: value for name, value in body.items() if name != "protocol"}
        return {**rest, "protocols": (body["protocol"],)}

    @property
    def protocol(self) -> Protocol:
        """Return the first protocol."""
        return self.protocols[0]

    @property
    def comparable(self) -> str:
        """Return the digest of everything that must agree on one leaderboard."""
        own = {"instances": sorted(self.instances), "roles": self.roles, "protocol": self.protocol}
        return digest_of(own if self.hosts is None else {**own, "hosts": self.hosts.plain()})


@register
class Experiment(Record):
    """A plan: agents, instances, arms and repeats, locked before the first trial."""

    kind: ClassVar[str] = "experiment"
    schema_version: ClassVar[int] = 2
    """Schema 1 had one `protocol` in its lock; it is read as a list with one element."""

    name: Name
    agents: tuple[str, ...]
    arms: tuple[Arm, ...]
    repeats: int = Field(ge=1)
    attempts: int = Field(default=1, ge=1)
    """Maximum number of attempts of a chain: 1 plus the chain's `reattempts`."""
    seed: int = 0
    lock: Lock
    settings: dict[str, Any] = {}
    """The resolved configuration from file and command line."""
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
    """Raise ValueError if an arm with feedback names no arm to continue, a missing one, or one that has feedback
    itself.
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
    """One planned piece of work. `id` is computed from the other parts, so planning is idempotent.

    First attempts are planned before the first trial; re-attempts are added when the chain's rule requires them.
    """

    kind: ClassVar[str] = "slot"

    experiment: str
    agent: str
    instance: str
    arm: Name = "plain"
    attempt: int = Field(default=1, ge=1)
    repeat: int = Field(default=1, ge=1)
    not_attemptable: str = ""
    """What the agent lacks, or "". Such a slot is planned and counted, but never run."""
    after: str | None = omittable(None)
    """Id of the slot whose failed work this one continues. Omitted for a first attempt."""

    @staticmethod
    def identify(experiment: str, agent: str, instance: str, arm: str, attempt: int, repeat: int) -> str:
        return digest_of([experiment, agent, instance, arm, attempt, repeat])[:24]
