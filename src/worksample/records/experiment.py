"""The plan: what is compared with what, every slot of it, and the lock that pins the rest."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, model_validator

from .base import Frozen, Moment, Record, digest_of, register
from .task import HostLists, Limits, Name, Protocol
from .verdict import JudgedBy


class Arm(Frozen):
    """The condition of the work."""

    name: Name = "plain"
    worker: str = "agent"
    feedback: str = "none"
    shown_rubric: str = "none"
    limits: Limits | None = None
    """Overrides the instance's own where set, field by field."""


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
    """`bubblewrap`, or `none` where the operator asked to run unsandboxed: every report prints it."""
    versions: dict[str, str] = {}
    hosts: HostLists | None = Field(default=None, exclude_if=lambda hosts: hosts is None)
    """What the suite lets be reached of what an operator allows. None, and then not written: all of it."""
    judged_by: JudgedBy | None = Field(default=None, exclude_if=lambda by: by is None)
    """Whose answers make the verdicts unless a report says otherwise. None, and then not written: each criterion by its
    own kind of evaluator; what has none by people, else a program, else a judge.
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
        """The first one."""
        return self.protocols[0]

    @property
    def comparable(self) -> str:
        """Digest of what a leaderboard refuses to mix."""
        own = {"instances": sorted(self.instances), "roles": self.roles, "protocol": self.protocol}
        return digest_of(own if self.hosts is None else {**own, "hosts": self.hosts.plain()})


@register
class Experiment(Record):
    kind: ClassVar[str] = "experiment"
    schema_version: ClassVar[int] = 2
    """Schema 1 had one `protocol` in its lock, which is read as the only one."""

    name: Name
    agents: tuple[str, ...]
    arms: tuple[Arm, ...]
    repeats: int = Field(ge=1)
    attempts: int = Field(default=1, ge=1)
    seed: int = 0
    lock: Lock
    settings: dict[str, Any] = {}
    """The resolved configuration, as given by file and command line."""
    author: str
    at: Moment


@register
class Slot(Record):
    """One planned piece of work. `id` is made of its parts, so planning twice plans the same."""

    kind: ClassVar[str] = "slot"

    experiment: str
    agent: str
    instance: str
    arm: Name = "plain"
    attempt: int = Field(default=1, ge=1)
    repeat: int = Field(default=1, ge=1)
    not_attemptable: str = ""
    """What the agent lacks; such a slot is planned, counted and never run."""

    @staticmethod
    def identify(experiment: str, agent: str, instance: str, arm: str, attempt: int, repeat: int) -> str:
        return digest_of([experiment, agent, instance, arm, attempt, repeat])[:24]
