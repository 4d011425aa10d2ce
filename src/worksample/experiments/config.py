"""Configuration of an experiment, from its file and the flags of `worksample run`. The reference is
docs/reference/settings.md.
"""

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
    """Limits of each trial. A limit replaces the same limit of the instance; None keeps the instance's limit."""

    time: Seconds | None = Field(default=None, gt=0)
    """Maximum wall-clock time in seconds, or as text such as `30m`."""
    cost: float | None = Field(default=None, gt=0)
    """Maximum cost of all the agent's model calls in US dollars. The model must have a price."""
    tokens: int | None = Field(default=None, gt=0)
    """Maximum number of tokens of all the agent's model calls, including cached tokens."""
    steps: int | None = Field(default=None, gt=0)
    """Maximum number of the agent's model calls. A task's environment calls this limit `turns`."""

    def over(self, other: LimitsConfig) -> LimitsConfig:
        """Merge two sets of limits. A limit of this object takes precedence over the same limit of `other`."""
        return other.replaced(**{k: v for k, v in self if v is not None})

    def record(self) -> Limits | None:
        """Return the limits as part of an arm's record; None if no limit is set."""
        if self == LimitsConfig():
            return None
        return Limits(time=self.time, cost=self.cost, tokens=self.tokens, turns=self.steps)


class AgentConfig(Frozen):
    """Agent of an experiment. A setting that is missing is taken from the agent's preset."""

    name: Name | None = None
    """Name of the agent in reports. The default consists of its harness (or preset) and its model."""
    harness: str | None = None
    """`scripted`, `worker`, `plan-act-reflect`, `command`, `object`, or a name from `worksample agent list`. The
    default is the harness of the preset.
    """
    model: str | None = None
    """Name of the agent's model in Inspect's form, such as `anthropic/claude-sonnet-4-5`."""
    settings: dict[str, Any] = {}
    """Settings of the harness. They are listed in docs/how-to/choose-an-agent.md."""
    preset: str | None = None
    """Preset of a published paper, such as `rli-cli`, `upbench`, `ale` or `tac`. It provides settings and limits of
    that paper.
    """
    script: str | None = None
    """Folder of the agent's scripts, relative to the experiment file. Only for the harness `scripted`."""
    folder: str | None = None
    """Folder (or file) with the agent's program, relative to the experiment file. Only for the harness `command`. Boxes
    mount the folder read-only as `{agent}`.
    """
    files: tuple[str, ...] = ()
    """Single files of the agent's program, relative to the experiment file, instead of `folder`. They appear in
    `{agent}`.
    """
    capabilities: tuple[str, ...] | None = None
    """Capabilities of the agent, such as `vision`. An instance that requires another capability is not attemptable. The
    default is the capabilities of the preset; without a preset, the agent has none.
    """
    release_date: date | None = None
    """Release date of the model, for plots over time."""


class ArmConfig(Frozen):
    """Condition of the work. Every agent works in every arm, except in arms in which only people work."""

    name: Name
    """Name of the arm in reports."""
    limits: LimitsConfig = LimitsConfig()
    """Limits of the trials of this arm. Each replaces the same limit of the experiment."""
    feedback: Feedback = Feedback.NONE
    """Feedback that an agent gets before it works again after a failed attempt: `none` (there are only first attempts),
    `retry` (only that the attempt failed), `generic`, `people`, `judge`, `program`, or `unchanged`. With `unchanged`
    nobody works again, and the earlier work is graded again.
    """
    worker: Worker = Worker.AGENT
    """Who works in this arm: `agent`; `human`, a person who uses the app and works in the kind of box that agents get;
    or `assisted`, an agent and a person in turns. Described in docs/how-to/hand-work-to-people.md.
    """
    shown_rubric: ShownRubric = ShownRubric.NONE
    """Part of the rubric that the worker sees in all attempts: `none`, `criteria`, or `importances` (the criteria and
    their weights).
    """


class ChainConfig(Frozen):
    """Re-attempts after failed attempts, in the arms that have feedback. Each chain has its own budgets of dollars and
    hours.
    """

    reattempts: int = Field(ge=1, le=100)
    """Maximum number of re-attempts after the first attempt."""
    dollars: float | None = Field(default=None, gt=0)
    """Budget of a chain in US dollars. The chain ends when it is spent. Model calls and people's time count, including
    the first attempt and its grading.
    """
    hours: float | None = Field(default=None, gt=0)
    """Budget of a chain in hours of people's time. The chain ends when it is spent. The first grading counts, too."""
    improving: bool = False
    """If True, a chain ends when its latest attempt scored no better than the attempt before."""


class PeopleConfig(Frozen):
    """People who grade work that programs cannot grade, and people who do the work of trials. These settings do not
    change the work itself.
    """

    pay: float | None = Field(default=None, ge=0)
    """US dollars per hour that people are paid for grading and for the work of trials; unknown by default. For a person
    who does the work of a trial, the rate in the person's profile takes precedence.
    """
    seat_days: float = Field(default=14, gt=0, le=365)
    """Number of days after which an assignment is taken back from a person who shows no activity."""
    overlap: int | None = Field(default=None, ge=1, le=100)
    """Number of people who evaluate each submission. The default is three for a submission judged as a whole, two for a
    pair, and one with a rubric.
    """


def _known_box(kind: str) -> str:
    if kind not in installed_kinds():
        raise exact_fault(f"{show_value(kind)} is not allowed", ", ".join(installed_kinds()))
    return kind


Sandbox = Annotated[str, AfterValidator(_known_box)]


def default_author() -> str:
    """Return the value of `$WORKSAMPLE_AUTHOR`, or the name of the operating system's user account if the variable is
    not set.
    """
    import getpass

    try:
        return os.environ.get("WORKSAMPLE_AUTHOR") or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


class ExperimentConfig(Frozen):
    """Configuration of an experiment: agents, instances, arms and repeats."""

    name: Name
    """Name of the experiment. The default is the name of its file; without a file, it is made from the tasks and
    agents.
    """
    store: str | None = None
    """Folder or URL of the store; by default `$WORKSAMPLE_STORE`, else `.worksample` in the working directory."""
    suite: str | None = None
    """Name of a suite that Worksample ships, or path of a suite file."""
    tasks: tuple[str, ...] = ()
    """Folders of the task packages to work on."""
    only: tuple[str, ...] = ()
    """Patterns that select instances, compared with `task` and `task/instance`. An instance is run if one pattern
    matches; `*` matches any text. Without patterns, all instances are run.
    """
    agents: tuple[AgentConfig, ...]
    """Agents that work, one table for each agent. With `[]` no agent runs, and all work is handed in with `worksample
    submit`.
    """
    arms: tuple[ArmConfig, ...] = Field(default=(ArmConfig(name="plain"),), min_length=1)
    """Conditions of the work, one table for each arm."""
    chain: ChainConfig | None = None
    """Rule for re-attempts after failed attempts. Arms with feedback require this table."""
    repeats: int = Field(default=1, ge=1, le=10_000)
    """Number of independent trials for each combination of agent, instance and arm."""
    protocols: tuple[Protocol, ...] = ()
    """How submissions are judged: one or more of `program`, `checkpoints`, `rubric`, `holistic`, `pairwise`. Lists and
    leaderboards use the first protocol. The default is the first protocol in this order that all instances support.
    """
    protocol: Protocol | None = None
    """Protocol of an experiment that has only one: the short form of `protocols`."""
    judges: dict[str, JudgeConfig] = {}
    """Judge models by name, one table for each judge. Described in docs/how-to/judge-with-models.md."""
    people: PeopleConfig = PeopleConfig()
    """Settings for people who grade and people who work."""
    calibration: CalibrationConfig | None = None
    """Random sample of judges' answers that people label, to check the judges. Without this table, no sample is drawn.
    Explained in docs/explanation/uncertainty.md.
    """
    judged_by: JudgedBy | None = None
    """Evaluators whose answers decide the verdicts, unless a report chooses others: `combined` (the default), `people`,
    `judge` or `program`. The lock records this setting.
    """
    limits: LimitsConfig = LimitsConfig()
    """Limits of each trial in all arms."""
    parallel: int = Field(default=8, ge=1, le=1000)
    """Maximum number of trials that run at the same time."""
    graders: int = Field(default=2, ge=1, le=1000)
    """Maximum number of submissions that are graded at the same time, while trials run."""
    tries: int = Field(default=3, ge=1, le=100)
    """Maximum number of tries of a slot. A slot is tried again only if the platform, the sandbox or the model's service
    fails.
    """
    seed: int = 0
    """Random seed that determines the order in which slots run."""
    sandbox: Sandbox = "bubblewrap"
    """Kind of box: `bubblewrap`; `docker`, which uses this machine's Docker daemon; or `none`, which isolates nothing.
    Every report mentions `none`.
    """
    prices: dict[str, Price] = {}
    """Prices in US dollars per million tokens, by model name. A model without an entry has no price."""
    services: dict[str, ServiceConfig] = {}
    """How model services are called and how long a run waits for them. Keys are a model, a provider, or `*` for all
    services. Described in docs/how-to/choose-an-agent.md.
    """
    check_models: bool = True
    """If True, send the model of each agent one short request with a tool before the agent's first trial. Described in
    docs/how-to/choose-an-agent.md.
    """
    roles: dict[str, str] = {}
    """Models of the environment (colleagues, judges), by role. An entry replaces the suite's model for the role. The
    lock records this setting.
    """
    allow_hosts: tuple[Allowed, ...] = ()
    """Hosts that tasks' endpoints may reach: `NAME`, `NAME:PORT`, `*.NAME:PORT` or `*`; the default port is 443."""
    author: str = Field(default_factory=default_author, min_length=1)
    """Author of the experiment. The default is `$WORKSAMPLE_AUTHOR`, or the name of the operating system's user
    account.
    """

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
        """Protocols that the configuration requests; empty if the task packages determine the protocol."""
        return self.protocols or (() if self.protocol is None else (self.protocol,))

    @property
    def hosts(self) -> tuple[HostRule, ...]:
        """Parsed rules of `allow_hosts`."""
        return tuple(read_rule(text) for text in self.allow_hosts)

    def arm_records(self) -> tuple[Arm, ...]:
        """Return the arms in the form that the plan records. Each arm's limits are merged with the experiment's limits.

        An arm with feedback continues the first attempts of an arm without feedback that shows the same part of the
        rubric. If the configuration has no arm of this kind, one is added for all arms with feedback. Raises ValueError
        if the configuration has several.
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
        """Return the rule for re-attempts in the form that the lock records; None if the experiment has no chains."""
        return None if self.chain is None else Chain(pay=self.people.pay, **self.chain.plain())
