"""The plan: what is compared with what, every slot of it, and the lock that pins the rest."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from .base import Frozen, Moment, Record, digest_of, omittable, register
from .task import HostLists, Limits, Name, Protocol
from .verdict import JudgedBy


class Feedback(StrEnum):
    """What an agent gets that works again on what failed."""

    NONE = "none"
    """It does not work again: first attempts."""
    RETRY = "retry"
    """That it was not accepted, and nothing else: the control."""
    GENERIC = "generic"
    """Advice that fits any work."""
    PEOPLE = "people"
    JUDGE = "judge"
    PROGRAM = "program"
    """What this kind of evaluator said of it."""
    UNCHANGED = "unchanged"
    """Nobody works: the same work is graded again, blind, which shows what noise alone gives."""


class ShownRubric(StrEnum):
    """What of the criteria the agent sees."""

    NONE = "none"
    CRITERIA = "criteria"
    IMPORTANCES = "importances"
    """The criteria with their importances or points."""


class Worker(StrEnum):
    """Who does the work of an arm."""

    AGENT = "agent"
    HUMAN = "human"
    """A person, in the same box, by terminal and files."""
    ASSISTED = "assisted"
    """A person and an agent in turns: the agent begins, the person goes on, asks it again, and hands in."""


class Arm(Frozen):
    """The condition of the work."""

    name: Name = "plain"
    worker: Worker = Worker.AGENT
    feedback: Feedback = Feedback.NONE
    shown_rubric: ShownRubric = ShownRubric.NONE
    limits: Limits | None = None
    """Overrides the instance's own where set, field by field."""
    continues: Name | None = omittable(None)
    """The arm whose failed first attempts this one works on again. None, and then not written: it has its own."""


class Chain(Frozen):
    """When a failed attempt is followed by another (UpBench, Algorithm 1). Budgets are of one chain of attempts, its
    first one included; a chain ends once it has spent that much.
    """

    reattempts: int = Field(ge=1, le=100)
    """How many may follow the first attempt, at most."""
    dollars: float | None = Field(default=None, gt=0)
    """US dollars: model calls of agents and judges, and people's time."""
    hours: float | None = Field(default=None, gt=0)
    """Hours of people."""
    pay: float | None = Field(default=None, ge=0)
    """US dollars per hour of people, which the budget in dollars counts with."""
    improving: bool = False
    """End a chain whose latest attempt scored no more than the one before."""


class Lock(Frozen):
    """What must be equal for two results to be comparable, and what was there when they were made."""

    suite: str
    """Suite id (name and digest) or the digest over the instance ids where none was named."""
    instances: tuple[str, ...]
    roles: dict[str, str] = {}
    """Models that belong to the environment (colleagues, judges): role -> model name."""
    protocols: tuple[Protocol, ...] = Field(min_length=1)
    """Under which every submission is judged. What it comes to in lists and on boards is said by the first one."""
    sandbox: str
    """`bubblewrap`, `docker`, or `none` where the operator asked to run unsandboxed: every report prints it."""
    versions: dict[str, str] = {}
    hosts: HostLists | None = omittable(None)
    """What the suite lets be reached of what an operator allows. None, and then not written: all of it."""
    judged_by: JudgedBy | None = omittable(None)
    """Whose answers make the verdicts unless a report says otherwise. None, and then not written: each criterion by its
    own kind of evaluator; what has none by people, else a program, else a judge.
    """

    chain: Chain | None = omittable(None)
    """None, and then not written: every slot is planned before the first trial."""

    @model_validator(mode="before")
    @classmethod
    def _one_or_several(cls, body: Any) -> Any:
        if not isinstance(body, dict) or "protocol" not in body:
            return body
        rest = {name: value for name, value in body.items() if name != "protocol"}
        return {**rest, "protocols": (body["protocol"],)}

    @property
    def protocol(self) -> Protocol:
        """The first one."""
        return self.protocols[0]

    @property
    def comparable(self) -> str:
        """Digest of what a leaderboard refuses to mix."""
        own = {"instances": sorted(self.instances), "roles": self.roles, "protocol": self.protocol}
        return digest_of(own if self.hosts is None else {**own, "hosts": self.hosts.plain()})


@register
class Experiment(Record):
    """A plan: agents, instances, arms and repeats, locked before the first trial."""

    kind: ClassVar[str] = "experiment"
    schema_version: ClassVar[int] = 2
    """Schema 1 had one `protocol` in its lock, which is read as the only one."""

    name: Name
    agents: tuple[str, ...]
    arms: tuple[Arm, ...]
    repeats: int = Field(ge=1)
    attempts: int = Field(default=1, ge=1)
    """The most that a chain may come to: 1 and the chain's `reattempts`."""
    seed: int = 0
    lock: Lock
    settings: dict[str, Any] = {}
    """The resolved configuration, as given by file and command line."""
    author: str
    at: Moment

    @model_validator(mode="after")
    def _sound_chain(self) -> Self:
        check_arms(self.arms)
        if self.lock.chain is not None and self.attempts != 1 + self.lock.chain.reattempts:
            raise ValueError(f"{self.attempts} attempts, and its chain comes to {1 + self.lock.chain.reattempts}")
        return self


def check_arms(arms: Sequence[Arm]) -> None:
    """ValueError where an arm with feedback continues none, or one that is not there or has feedback itself."""
    own = {arm.name for arm in arms if arm.feedback is Feedback.NONE and arm.worker is Worker.AGENT}
    for arm in arms:
        if arm.feedback is not Feedback.NONE and arm.worker is not Worker.AGENT:
            raise ValueError(f"the arm {arm.name} has feedback, which only agents are given")
        if arm.feedback is Feedback.NONE and arm.continues is not None:
            raise ValueError(f"the arm {arm.name} has no feedback and continues {arm.continues}")
        if arm.feedback is not Feedback.NONE and arm.continues not in own:
            raise ValueError(f"the arm {arm.name} continues no arm that makes first attempts")


@register
class Slot(Record):
    """One planned piece of work. `id` is made of its parts, so planning twice plans the same.

    First attempts are planned before the first trial; a later one is committed when the rule of the chain asks for it.
    """

    kind: ClassVar[str] = "slot"

    experiment: str
    agent: str
    instance: str
    arm: Name = "plain"
    attempt: int = Field(default=1, ge=1)
    repeat: int = Field(default=1, ge=1)
    not_attemptable: str = ""
    """What the agent lacks; such a slot is planned, counted and never run."""
    after: str | None = omittable(None)
    """The slot whose failed work this one continues. None, and then not written: a first attempt."""

    @staticmethod
    def identify(experiment: str, agent: str, instance: str, arm: str, attempt: int, repeat: int) -> str:
        return digest_of([experiment, agent, instance, arm, attempt, repeat])[:24]
