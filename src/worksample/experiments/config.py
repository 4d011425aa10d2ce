"""Configuration of an experiment, from its file and the flags of `worksample run` (docs/reference/settings.md)."""

from __future__ import annotations

import os
from datetime import date
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from worksample.errors import UsageError
from worksample.files.config_files import exact_fault, show_value
from worksample.models import JudgeConfig, Price
from worksample.models.duration_text import Seconds
from worksample.models.service_config import ServiceConfig
from worksample.records import Arm, Chain, Feedback, Frozen, JudgedBy, Limits, Protocol, ShownRubric, Worker
from worksample.records.task import Name
from worksample.results.calibration.config import CalibrationConfig
from worksample.sandboxes import installed_kinds
from worksample.sandboxes.endpoints import HostRule, read_rule


def _check_hosts(text: str) -> str:
    try:
        return str(read_rule(text))
    except UsageError as error:
        raise ValueError(error.what) from None


Allowed = Annotated[str, AfterValidator(_check_hosts)]


class LimitsConfig(Frozen):
    """Limits of each trial. They replace the instances' limits; None keeps the instance's."""

    time: Seconds | None = Field(default=None, gt=0)
    """Wall-clock time in seconds, or as text such as `30m`."""
    cost: float | None = Field(default=None, gt=0)
    """Cost of all the agent's model calls in US dollars. The model must have a price."""
    tokens: int | None = Field(default=None, gt=0)
    """Tokens of all the agent's model calls, including cached ones."""
    steps: int | None = Field(default=None, gt=0)
    """Number of the agent's model calls (`turns` in a task's environment)."""

    def over(self, other: LimitsConfig) -> LimitsConfig:
        """Merge with `other`, field by field; the fields of this object take precedence."""
        return other.replaced(**{k: v for k, v in self if v is not None})

    def record(self) -> Limits | None:
        """Return the limits as part of an arm's record; None if no limit is set."""
        if self == LimitsConfig():
            return None
        return Limits(time=self.time, cost=self.cost, tokens=self.tokens, turns=self.steps)


class AgentConfig(Frozen):
    """An agent. Missing settings come from its preset."""

    name: Name | None = None
    """Name in reports; by default made of harness (or preset) and model."""
    harness: str | None = None
    """`scripted`, `worker`, `plan-act-reflect`, `command`, `object`, or one of `worksample agent list`; by default the
    preset's.
    """
    model: str | None = None
    """Model name as Inspect takes it, such as `anthropic/claude-sonnet-4-5`."""
    settings: dict[str, Any] = {}
    """Settings of the harness; see docs/how-to/choose-an-agent.md."""
    preset: str | None = None
    """`rli`, `upbench`, `ale` or `tac`: settings and limits of that paper."""
    script: str | None = None
    """For `scripted`: folder of scripts, relative to the experiment file."""
    folder: str | None = None
    """For `command`: folder (or file) with its program, relative to the experiment file. Boxes show it read-only as
    `{agent}`.
    """
    capabilities: tuple[str, ...] | None = None
    """Capabilities such as `vision`. Instances that require others are not attemptable. By default the preset's, or
    none.
    """
    release_date: date | None = None
    """Release date of the model, for plots over time."""


class ArmConfig(Frozen):
    """Condition of the work. Every agent works in every arm, except for arms of people only."""

    name: Name
    """Name in reports."""
    limits: LimitsConfig = LimitsConfig()
    """Limits of this arm. They replace the experiment's."""
    feedback: Feedback = Feedback.NONE
    """Feedback for an agent that works again after a failed attempt: `none` (first attempts only), `retry` (only that
    it failed), `generic`, `people`, `judge`, `program`, or `unchanged`: nobody works, and the same work is graded
    again.
    """
    worker: Worker = Worker.AGENT
    """Who works: `agent`; `human`, a person in the app, in the same kind of box; or `assisted`, an agent and a person
    in turns. See docs/how-to/hand-work-to-people.md.
    """
    shown_rubric: ShownRubric = ShownRubric.NONE
    """Criteria that the worker sees in all attempts: `none`, `criteria`, or `importances` for their weights, too."""


class ChainConfig(Frozen):
    """Re-attempts after failed attempts, in the arms that have feedback. Each chain has its own budgets."""

    reattempts: int = Field(ge=1, le=100)
    """Maximum number of re-attempts after the first attempt."""
    dollars: float | None = Field(default=None, gt=0)
    """US dollars after which a chain ends: model calls and people's time, including the first attempt and its grading.
    """
    hours: float | None = Field(default=None, gt=0)
    """Hours of people's time after which a chain ends, including the first grading."""
    improving: bool = False
    """True if a chain ends when the latest attempt scored no better than the one before."""


class PeopleConfig(Frozen):
    """People who grade what programs cannot, and people who work. These settings do not change the work itself."""

    pay: float | None = Field(default=None, ge=0)
    """US dollars per hour of grading and of people's work; unknown by default. For people who work, the rate in their
    profile takes precedence.
    """
    seat_days: float = Field(default=14, gt=0, le=365)
    """Days after which an assignment is released if its person shows no activity."""
    overlap: int | None = Field(default=None, ge=1, le=100)
    """Evaluations of each submission; by default three for a whole submission, two for a pair, one with a rubric."""


def _known_box(kind: str) -> str:
    if kind not in installed_kinds():
        raise exact_fault(f"{show_value(kind)} is not allowed", ", ".join(installed_kinds()))
    return kind


Sandbox = Annotated[str, AfterValidator(_known_box)]


def default_author() -> str:
    """Return `$WORKSAMPLE_AUTHOR`, else the account's name."""
    import getpass

    try:
        return os.environ.get("WORKSAMPLE_AUTHOR") or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


class ExperimentConfig(Frozen):
    """Experiment as requested: agents x instances x arms x repeats."""

    name: Name
    """Name of the experiment; by default that of its file, or made of what is run."""
    store: str | None = None
    """Folder or URL of the store; by default `$WORKSAMPLE_STORE`, else `.worksample` in the working directory."""
    suite: str | None = None
    """Name of a shipped suite, or a suite file."""
    tasks: tuple[str, ...] = ()
    """Folders of task packages."""
    only: tuple[str, ...] = ()
    """Run only instances whose `task` or `task/instance` matches one of these patterns; `*` matches anything."""
    agents: tuple[AgentConfig, ...]
    """Agents, one table each. `[]`: no agents; all work is handed in (`worksample submit`)."""
    arms: tuple[ArmConfig, ...] = Field(default=(ArmConfig(name="plain"),), min_length=1)
    """Conditions of the work, one table each."""
    chain: ChainConfig | None = None
    """Re-attempts after failed attempts. Arms with feedback need this table."""
    repeats: int = Field(default=1, ge=1, le=10_000)
    """Independent trials per agent, instance and arm."""
    protocols: tuple[Protocol, ...] = ()
    """How submissions are judged: one or more of `program`, `checkpoints`, `rubric`, `holistic`, `pairwise`. Lists and
    leaderboards use the first. By default the first of these that all instances have.
    """
    protocol: Protocol | None = None
    """Short form of `protocols` with one value."""
    judges: dict[str, JudgeConfig] = {}
    """Judge models by name, one table each. See docs/how-to/judge-with-models.md."""
    people: PeopleConfig = PeopleConfig()
    """People who grade."""
    calibration: CalibrationConfig | None = None
    """People's labels for judges' answers; without this table none are drawn. See docs/explanation/uncertainty.md."""
    judged_by: JudgedBy | None = None
    """Whose answers make the verdicts unless a report says otherwise: `combined` (the default), `people`, `judge` or
    `program`. Part of the lock.
    """
    limits: LimitsConfig = LimitsConfig()
    """Limits of each trial."""
    parallel: int = Field(default=8, ge=1, le=1000)
    """Trials at the same time."""
    graders: int = Field(default=2, ge=1, le=1000)
    """Submissions graded at the same time, while trials run."""
    tries: int = Field(default=3, ge=1, le=100)
    """Tries of a slot if the platform, the sandbox or the model's service fails."""
    seed: int = 0
    """Seed of the order in which slots run."""
    sandbox: Sandbox = "bubblewrap"
    """`bubblewrap`; `docker`, with this machine's daemon; or `none`: no isolation, which every report mentions."""
    prices: dict[str, Price] = {}
    """US dollars per million tokens, by model name. Other models have no price."""
    services: dict[str, ServiceConfig] = {}
    """How services are reached and waited for: by model, by provider, or `*` for all. See
    docs/how-to/choose-an-agent.md.
    """
    check_models: bool = True
    """If True, send each agent's model one short request with a tool before its first trial. See
    docs/how-to/choose-an-agent.md.
    """
    roles: dict[str, str] = {}
    """Models of the environment (colleagues, judges), by role. They replace the suite's. Part of the lock."""
    allow_hosts: tuple[Allowed, ...] = ()
    """Hosts that tasks' endpoints may reach: `NAME`, `NAME:PORT`, `*.NAME:PORT` or `*`; the default port is 443."""
    author: str = Field(default_factory=default_author, min_length=1)
    """Author of the experiment; by default `$WORKSAMPLE_AUTHOR`, else the account's name."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.suite and not self.tasks:
            raise ValueError("give a suite or tasks to work on")
        of_trials = (self.arms, self.repeats, self.limits)
        people = any(arm.worker is Worker.HUMAN for arm in self.arms)
        if not self.agents and any(arm.worker is not Worker.HUMAN for arm in self.arms) and people:
            raise ValueError("an arm needs agents, but none are given: give agents, or only arms of people")
        if not self.agents and not people and of_trials != ((ArmConfig(name="plain"),), 1, LimitsConfig()):
            raise ValueError("arms, repeats and limits need agents, but none are given")
        for arm in self.arms:
            if arm.worker is not Worker.AGENT and arm.feedback is not Feedback.NONE:
                raise ValueError(
                    f"the arm {arm.name} is an arm of people with feedback, but only agents receive feedback"
                )
        if self.sandbox == "none" and any(arm.worker is not Worker.AGENT for arm in self.arms):
            raise ValueError("people work in a box: sandbox = 'none' would let them work on this machine itself")
        names = [arm.name for arm in self.arms]
        if len(set(names)) < len(names):
            raise ValueError(f"arms share a name: {', '.join(names)}")
        if self.chain is None and (fed := [arm.name for arm in self.arms if arm.feedback is not Feedback.NONE]):
            raise ValueError(f"the arm {fed[0]} has feedback, but there is no [chain]: give chain.reattempts")
        if self.chain is not None and all(arm.feedback is Feedback.NONE for arm in self.arms):
            raise ValueError("[chain] does nothing without an arm that has feedback: give one with feedback = 'people'")
        self.arm_records()
        if self.protocol is not None and self.protocols:
            raise ValueError("give either protocol or protocols")
        if len(set(self.protocols)) < len(self.protocols):
            raise ValueError(f"a protocol is listed twice: {', '.join(self.protocols)}")
        return self

    @property
    def chosen_protocols(self) -> tuple[Protocol, ...]:
        """The requested protocols; empty if the packages decide."""
        return self.protocols or (() if self.protocol is None else (self.protocol,))

    @property
    def hosts(self) -> tuple[HostRule, ...]:
        """The rules of `allow_hosts`."""
        return tuple(read_rule(text) for text in self.allow_hosts)

    def arm_records(self) -> tuple[Arm, ...]:
        """Return the arms as the plan records them, each with its limits merged over the experiment's.

        An arm with feedback continues the arm without feedback that shows the same part of the rubric. If there is
        none, one is added whose first attempts serve all of them. ValueError if there are several.
        """
        own = {a.name: self._arm(a) for a in self.arms if a.feedback is Feedback.NONE and a.worker is Worker.AGENT}
        people = [self._arm(a) for a in self.arms if a.worker is not Worker.AGENT]
        fed = [a for a in self.arms if a.feedback is not Feedback.NONE and a.worker is Worker.AGENT]
        for shown_rubric in dict.fromkeys(a.shown_rubric for a in fed):
            if all(arm.shown_rubric is not shown_rubric for arm in own.values()):
                name = "first" if shown_rubric is ShownRubric.NONE else f"first-{shown_rubric}"
                if any(a.name == name for a in self.arms):
                    raise ValueError(
                        f"the arm {name} has the name that is reserved for the arm of "
                        "first attempts: give it another name"
                    )
                own[name] = self._arm(ArmConfig(name=name, shown_rubric=shown_rubric))
        continuing = [self._arm(a, self._continued_arm(a, tuple(own.values()))) for a in fed]
        return (*own.values(), *people, *continuing)

    def _continued_arm(self, arm: ArmConfig, own: tuple[Arm, ...]) -> str:
        alike = [one.name for one in own if one.shown_rubric is arm.shown_rubric]
        if len(alike) > 1:
            both = ", ".join(alike)
            raise ValueError(
                f"the arm {arm.name} must continue one arm, but {both} are equally possible: keep only one of them"
            )
        return alike[0]

    def _arm(self, arm: ArmConfig, continues: str | None = None) -> Arm:
        # The experiment's limits hold for agents' trials; people only have those of their arm.
        limits = (arm.limits if arm.worker is Worker.HUMAN else arm.limits.over(self.limits)).record()
        return Arm(
            name=arm.name,
            worker=arm.worker,
            limits=limits,
            feedback=arm.feedback,
            shown_rubric=arm.shown_rubric,
            continues=continues,
        )

    def chain_record(self) -> Chain | None:
        """Return the chains' rule as the lock records it."""
        return None if self.chain is None else Chain(pay=self.people.pay, **self.chain.plain())
