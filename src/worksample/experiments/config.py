"""What an experiment file or the flags of `worksample run` say, checked. Keys and defaults: docs/settings.md."""

from __future__ import annotations

import os
from datetime import date
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from worksample.box import installed_kinds
from worksample.errors import UsageError
from worksample.files.config_files import shown, told
from worksample.models import JudgeConfig, Price
from worksample.models.durations import Seconds
from worksample.models.service_config import ServiceConfig
from worksample.records import Arm, Chain, Feedback, Frozen, JudgedBy, Limits, Protocol, ShownRubric, Worker
from worksample.records.task import Name
from worksample.results.calibration.config import CalibrationConfig
from worksample.sandboxes.endpoints import HostRule, read_rule


def _allowed(text: str) -> str:
    try:
        return str(read_rule(text))
    except UsageError as error:
        raise ValueError(error.what) from None


Allowed = Annotated[str, AfterValidator(_allowed)]


class LimitsConfig(Frozen):
    """Ceilings of each trial, over the instances' own; None leaves the instance's own in force."""

    time: Seconds | None = Field(default=None, gt=0)
    """Seconds of wall-clock time, or text such as `30m`."""
    cost: float | None = Field(default=None, gt=0)
    """US dollars over all of the agent's model calls. The model must have a price."""
    tokens: int | None = Field(default=None, gt=0)
    """Tokens over all of the agent's model calls, cached ones included."""
    steps: int | None = Field(default=None, gt=0)
    """Model calls of the agent (`turns` in a task's environment)."""

    def over(self, other: LimitsConfig) -> LimitsConfig:
        """Field by field this one's value, else the other's."""
        return other.replaced(**{k: v for k, v in self if v is not None})

    def record(self) -> Limits | None:
        """As an arm carries it; None where nothing is set."""
        if self == LimitsConfig():
            return None
        return Limits(time=self.time, cost=self.cost, tokens=self.tokens, turns=self.steps)


class AgentConfig(Frozen):
    """Who works. A preset fills what is not given here."""

    name: Name | None = None
    """How reports call it; by default made of harness (or preset) and model."""
    harness: str | None = None
    """`scripted`, `worker`, `plan-act-reflect`, `command`, `object`, or one of `worksample agent list`; by default the
    preset's."""
    model: str | None = None
    """A model name as Inspect takes it, such as `anthropic/claude-sonnet-4-5`."""
    settings: dict[str, Any] = {}
    """Settings of the harness; see docs/agents.md."""
    preset: str | None = None
    """`rli`, `upbench`, `ale` or `tac`: the settings and limits of that paper."""
    script: str | None = None
    """For `scripted`: the folder of scripts, relative to the experiment file."""
    folder: str | None = None
    """For `command`: the folder (or file) with its program, relative to the experiment file. Sandboxes show it
    read-only as `{agent}`."""
    capabilities: tuple[str, ...] | None = None
    """What it can do, such as `vision`; what requires more is not attemptable. By default the preset's, or none."""
    release_date: date | None = None
    """When the model was released, for plots over time."""


class ArmConfig(Frozen):
    """A condition of the work; every agent works under every arm, but for those of people alone."""

    name: Name
    """How reports call it."""
    limits: LimitsConfig = LimitsConfig()
    """Limits of this arm, over the experiment's."""
    feedback: Feedback = Feedback.NONE
    """What an agent gets that works again on what failed: `none` (first attempts only), `retry` (nothing but that it
    failed), `generic`, `people`, `judge`, `program`, or `unchanged`: nobody works, and the same work is graded again.
    """
    worker: Worker = Worker.AGENT
    """Who works: `agent`; `human`, a person in the app, in the same box; or `assisted`, an agent and a person in turns.
    See docs/workers.md."""
    shown_rubric: ShownRubric = ShownRubric.NONE
    """What of the criteria the worker sees, in all its attempts: `none`, `criteria`, or `importances` as well."""


class ChainConfig(Frozen):
    """Attempts that follow failed ones, in the arms that have feedback. Budgets are of one chain."""

    reattempts: int = Field(ge=1, le=100)
    """How many may follow the first attempt, at most."""
    dollars: float | None = Field(default=None, gt=0)
    """US dollars after which a chain ends: model calls and people's time, the first attempt and its grading too."""
    hours: float | None = Field(default=None, gt=0)
    """Hours of people after which a chain ends, the first grading included."""
    improving: bool = False
    """Whether a chain ends when the latest attempt scored no more than the one before."""


class PeopleConfig(Frozen):
    """The people who judge what no program does, and those who work. It decides nothing of the work."""

    pay: float | None = Field(default=None, ge=0)
    """US dollars per hour, for what a plan's judging and people's work cost; by default that is unknown. Of who works,
    the profile's own rate comes first."""
    seat_days: float = Field(default=14, gt=0, le=365)
    """Days for which a place is kept for the person who took it and gives no sign of life."""
    overlap: int | None = Field(default=None, ge=1, le=100)
    """Evaluations of each submission; by default three votes on the whole, two on a pair, one of a rubric."""


def _known_box(kind: str) -> str:
    if kind not in installed_kinds():
        raise told(f"{shown(kind)} is not allowed", ", ".join(installed_kinds()))
    return kind


Sandbox = Annotated[str, AfterValidator(_known_box)]


def default_author() -> str:
    """`$WORKSAMPLE_AUTHOR`, else the name of the account."""
    import getpass

    try:
        return os.environ.get("WORKSAMPLE_AUTHOR") or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


class ExperimentConfig(Frozen):
    """An experiment as it was asked for: agents x instances x arms x repeats."""

    name: Name
    """How the experiment is called; by default the file's name, or made of what is run."""
    store: str | None = None
    """Folder or URL of the store; by default `$WORKSAMPLE_STORE`, else `.worksample` here."""
    suite: str | None = None
    """A shipped suite's name or a suite file."""
    tasks: tuple[str, ...] = ()
    """Folders of task packages."""
    only: tuple[str, ...] = ()
    """Keeps the instances `task` or `task/instance` that match one of these; `*` matches anything."""
    agents: tuple[AgentConfig, ...]
    """Who works; a table per agent. `[]`: nobody of this platform, all work is handed in (`worksample submit`)."""
    arms: tuple[ArmConfig, ...] = Field(default=(ArmConfig(name="plain"),), min_length=1)
    """Conditions of the work; a table per arm."""
    chain: ChainConfig | None = None
    """Attempts that follow failed ones; arms with feedback need it."""
    repeats: int = Field(default=1, ge=1, le=10_000)
    """Independent trials per agent, instance and arm."""
    protocols: tuple[Protocol, ...] = ()
    """`program`, `checkpoints`, `rubric`, `holistic`, `pairwise`: how submissions are judged as trials close, one or
    several. Lists and boards go by the first. By default the first of these that all instances have.
    """
    protocol: Protocol | None = None
    """Short for `protocols` with one."""
    judges: dict[str, JudgeConfig] = {}
    """Models that judge, by name: a table each. See docs/judges.md."""
    people: PeopleConfig = PeopleConfig()
    """The people who judge."""
    calibration: CalibrationConfig | None = None
    """People's labels of what judges say; without it none are drawn. See docs/calibration.md."""
    judged_by: JudgedBy | None = None
    """Whose answers make the verdicts where a report does not say: `combined`, `people`, `judge` or `program`; by
    default combined. Part of the lock.
    """
    limits: LimitsConfig = LimitsConfig()
    """Ceilings of each trial."""
    parallel: int = Field(default=8, ge=1, le=1000)
    """Trials at once."""
    graders: int = Field(default=2, ge=1, le=1000)
    """Submissions graded at once, beside the trials."""
    tries: int = Field(default=3, ge=1, le=100)
    """How often a slot is tried where the platform, the sandbox or the model's service failed."""
    seed: int = 0
    """Decides the order in which slots run."""
    sandbox: Sandbox = "bubblewrap"
    """`bubblewrap`; `docker`, by this machine's daemon; or `none`: no isolation at all, which every report prints."""
    prices: dict[str, Price] = {}
    """US dollars per million tokens by model name; what is not given here has no price."""
    services: dict[str, ServiceConfig] = {}
    """How services are reached and waited for: by model, by provider, or `*` for all. See docs/providers.md."""
    check_models: bool = True
    """Ask each agent's model once, with one short call that offers a tool, before its first trial; see
    docs/providers.md."""
    roles: dict[str, str] = {}
    """Models that belong to the environment (colleagues, judges), by role; over the suite's. Part of the lock."""
    allow_hosts: tuple[Allowed, ...] = ()
    """Hosts that tasks' endpoints may reach: `NAME`, `NAME:PORT`, `*.NAME:PORT` or `*`; the port is 443 by default."""
    author: str = Field(default_factory=default_author, min_length=1)
    """Who runs it; by default `$WORKSAMPLE_AUTHOR`, else the account's name."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.suite and not self.tasks:
            raise ValueError("give a suite or tasks to work on")
        of_trials = (self.arms, self.repeats, self.limits)
        people = any(arm.worker is Worker.HUMAN for arm in self.arms)
        if not self.agents and any(arm.worker is not Worker.HUMAN for arm in self.arms) and people:
            raise ValueError("no agent is to work, and an arm asks for one: give agents, or arms of people alone")
        if not self.agents and not people and of_trials != ((ArmConfig(name="plain"),), 1, LimitsConfig()):
            raise ValueError("arms, repeats and limits are of agents' trials, and no agent is to work")
        for arm in self.arms:
            if arm.worker is not Worker.AGENT and arm.feedback is not Feedback.NONE:
                raise ValueError(f"the arm {arm.name} has feedback, which only agents are given")
        if self.sandbox == "none" and any(arm.worker is not Worker.AGENT for arm in self.arms):
            raise ValueError("people work in a box: sandbox = 'none' would give them this machine")
        names = [arm.name for arm in self.arms]
        if len(set(names)) < len(names):
            raise ValueError(f"two arms have one name: {', '.join(names)}")
        if self.chain is None and (fed := [arm.name for arm in self.arms if arm.feedback is not Feedback.NONE]):
            raise ValueError(f"the arm {fed[0]} has feedback, and there is no [chain]: give chain.reattempts")
        if self.chain is not None and all(arm.feedback is Feedback.NONE for arm in self.arms):
            raise ValueError("[chain] does nothing without an arm that has feedback: give one with feedback = 'people'")
        self.arm_records()
        if self.protocol is not None and self.protocols:
            raise ValueError("give protocol or protocols, one of them")
        if len(set(self.protocols)) < len(self.protocols):
            raise ValueError(f"a protocol stands twice: {', '.join(self.protocols)}")
        return self

    @property
    def asked(self) -> tuple[Protocol, ...]:
        """The protocols that were asked for; empty where the packages decide."""
        return self.protocols or (() if self.protocol is None else (self.protocol,))

    @property
    def hosts(self) -> tuple[HostRule, ...]:
        """The rules that `allow_hosts` gives."""
        return tuple(read_rule(text) for text in self.allow_hosts)

    def arm_records(self) -> tuple[Arm, ...]:
        """Arms as the plan keeps them, each with its own limits over the experiment's.

        Arms with feedback continue the one without that shows the same of the rubric; where there is none, one comes in
        that makes the first attempts for all of them. ValueError where there are several.
        """
        own = {a.name: self._arm(a) for a in self.arms if a.feedback is Feedback.NONE and a.worker is Worker.AGENT}
        people = [self._arm(a) for a in self.arms if a.worker is not Worker.AGENT]
        fed = [a for a in self.arms if a.feedback is not Feedback.NONE and a.worker is Worker.AGENT]
        for shown_rubric in dict.fromkeys(a.shown_rubric for a in fed):
            if all(arm.shown_rubric is not shown_rubric for arm in own.values()):
                name = "first" if shown_rubric is ShownRubric.NONE else f"first-{shown_rubric}"
                if any(a.name == name for a in self.arms):
                    raise ValueError(
                        f"the arm {name} has the name of the one that makes first attempts: name it otherwise"
                    )
                own[name] = self._arm(ArmConfig(name=name, shown_rubric=shown_rubric))
        continuing = [self._arm(a, self._continued(a, tuple(own.values()))) for a in fed]
        return (*own.values(), *people, *continuing)

    def _continued(self, arm: ArmConfig, own: tuple[Arm, ...]) -> str:
        alike = [one.name for one in own if one.shown_rubric is arm.shown_rubric]
        if len(alike) > 1:
            both = ", ".join(alike)
            raise ValueError(
                f"the arm {arm.name} could continue each of {both}, which show the same: leave one of them"
            )
        return alike[0]

    def _arm(self, arm: ArmConfig, continues: str | None = None) -> Arm:
        # The experiment's ceilings are of agents' trials: a person has those of the arm alone.
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
        """The rule as the lock keeps it."""
        return None if self.chain is None else Chain(pay=self.people.pay, **self.chain.plain())
