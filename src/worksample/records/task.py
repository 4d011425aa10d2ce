"""The work: a task's package, its instances, and suites of them.

Per instance there are four digests, so that a change reruns only what it touches: *work* (what the agent gets),
*capture* (what is taken when it ends), *grading* per protocol, and *about*. Trials pin work and capture, evaluations
pin grading.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints

from .base import Frozen, Moment, Record, digest_of, omittable, register
from .criteria import Criteria
from .grade_tree import By
from .job import Job
from .value_and_hours import Hours, Value

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Protocol(StrEnum):
    """How a submission is judged."""

    PROGRAM = "program"
    CHECKPOINTS = "checkpoints"
    RUBRIC = "rubric"
    HOLISTIC = "holistic"
    PAIRWISE = "pairwise"


class Limits(Frozen):
    """Ceilings of a trial; None sets none. The box's own (memory, processes, disk) always hold."""

    time: float | None = Field(default=None, gt=0)
    """Seconds of wall-clock time."""
    cost: float | None = Field(default=None, gt=0)
    """US dollars over all of the agent's model calls."""
    tokens: int | None = Field(default=None, gt=0)
    turns: int | None = Field(default=None, gt=0)
    """Model calls of the agent: the papers' steps."""
    memory: int = Field(default=2 << 30, gt=0)
    """Bytes, all processes of the box together."""
    processes: int = Field(default=256, gt=0)
    disk: int = Field(default=1 << 30, gt=0)
    """Bytes of all writable places together."""


class Paths(Frozen):
    """Where the agent and the grader find things; imported tasks expect their own places."""

    input: str = "/task/input"
    software: str = "/task/software"
    output: str = "/task/output"
    reference: str = "/task/reference"
    """In the grader's box only."""


class EndpointSpec(Frozen):
    """A name and port that the agent's programs can connect to, and what stands behind it."""

    name: str
    """A host's name, or `*.` and a name for all below it."""
    port: int
    to: str
    """`model`, `host`, `service:NAME`, or `service:NAME:PORT`."""


class SourceFiles(Frozen):
    """A folder of the package that is given to somebody."""

    name: str
    files: Digest | None = None
    """Digest of the manifest of what lies there."""


class ImageSource(Frozen):
    """The root file system that the work is done in, instead of this machine's programs."""

    name: str
    """`docker://NAME@sha256:...`, or a path in the package."""
    files: Digest | None = None
    """Digest of the manifest of what lies at the path, a file by its name; None for a reference."""


class ServiceLimits(Frozen):
    """What a service may use; services of one box have their sum together."""

    memory: int = Field(default=512 << 20, gt=0)
    processes: int = Field(default=128, gt=0)
    disk: int = Field(default=256 << 20, gt=0)


class ServiceSpec(Frozen):
    """A program that the task brings and that stands behind endpoints, in another box than the agent's."""

    name: Name
    box: Name
    """Services of one box share its loopback; of another's nothing is reached."""
    argv: tuple[str, ...]
    """May hold `{files}` and `{state}`, the service's folders."""
    env: dict[str, str] = {}
    ports: tuple[int, ...]
    ready: str = "tcp"
    """`tcp`: once it takes connections. A path: once HTTP at the first port answers it with 200 to 399."""
    wait: float = 60.0
    """Seconds that this may take."""
    files: SourceFiles | None = None
    software: tuple[str, ...] = ()
    """Commands that must exist where it has no image."""
    image: ImageSource | None = None
    limits: ServiceLimits = ServiceLimits()


class McpSpec(Frozen):
    """A server of tools, by the Model Context Protocol: a program in the agent's box, or behind an endpoint."""

    name: Name
    argv: tuple[str, ...] = ()
    """What speaks MCP on standard input and output. May hold `{input}`, `{software}`, `{output}`, `{scratch}`."""
    env: dict[str, str] = {}
    url: str = ""
    """Where it speaks MCP over HTTP: in the streamable manner, or by `sse`."""
    sse: bool = omittable(False)
    """By server-sent events, the protocol's older manner. Not written where it is not, likewise."""


class HealthSpec(Frozen):
    """A look at the agent's box before the agent begins, as Docker's HEALTHCHECK does it. Times in seconds."""

    command: str = Field(min_length=1)
    """A line of shell; exit status 0 means healthy."""
    interval: float = Field(default=5.0, ge=0)
    """Between two looks."""
    timeout: float = Field(default=30.0, ge=1)
    """That one look may take."""
    start_period: float = Field(default=0.0, ge=0)
    """In which looks that fail are not counted."""
    start_interval: float = Field(default=5.0, ge=0)
    """Between two looks in that time."""
    retries: int = Field(default=3, ge=1)
    """Looks in a row that fail before the box counts as not healthy."""


class StepSpec(Frozen):
    """A stretch of the work with an instruction of its own; the box stays as it is from one to the next."""

    name: Name
    brief: str = ""
    files: SourceFiles | None = None
    """What is laid into the image's working folder before it begins; a `setup.sh` among it is run there."""
    time: float | None = Field(default=None, gt=0)
    """Seconds that the agent has for it."""
    health: HealthSpec | None = None


class WorkplaceSource(Frozen):
    """A company whose services the work is done in."""

    company: SourceFiles
    """The folder that describes it."""
    setup: SourceFiles | None = None
    """A folder with `setup.py`, which runs beside the services before the agent begins."""
    live: SourceFiles | None = omittable(None)
    """A folder with `live.py`, which looks at them when it is done. Not written where there is none."""
    dialects: tuple[str, ...] = omittable(())
    """Ways of other products in which services can be asked besides. Not written where there are none."""


Observation = Literal["tree", "dom", "screenshot", "marks", "visible", "interactable", "viewport", "tabs"]


class BrowserSpec(Frozen):
    """What an agent is shown of its browser's pages, and how large they are."""

    observe: tuple[Observation, ...] = ()
    """Empty: as the agent's settings say, else the tree and the tabs, and the screenshot for one with `vision`."""
    width: int = Field(default=1280, ge=320, le=3840)
    height: int = Field(default=720, ge=240, le=2160)


class Environment(Frozen):
    interfaces: tuple[str, ...] = ("terminal",)
    network: str = "none"
    """`none`, `endpoints`, or `workplace`: those of a company's services, and others."""
    endpoints: tuple[EndpointSpec, ...] = omittable(())
    """Not written where there are none: older instances keep their digests."""
    image: ImageSource | None = omittable(None)
    """Not written where there is none, likewise."""
    services: tuple[str, ...] = ()
    """Names of services that the task expects of a workplace."""
    served: tuple[ServiceSpec, ...] = omittable(())
    """Services that it brings itself. Not written where there are none, likewise."""
    workplace: WorkplaceSource | None = omittable(None)
    """The company whose services `services` names. Not written where there is none, likewise."""
    mcp: tuple[McpSpec, ...] = omittable(())
    """Servers whose tools the agent is given. Not written where there are none, likewise."""
    browser: BrowserSpec | None = omittable(None)
    """Of the interface `browser`. Not written where it is not among them, likewise."""
    health: HealthSpec | None = omittable(None)
    """What has to hold in the box before the agent begins. Not written where nothing has to, likewise."""
    skills: str = omittable("")
    """Folder of the box with skills, each a folder with a SKILL.md. Not written where there is none, likewise."""
    steps: tuple[StepSpec, ...] = omittable(())
    """What the agent is told one after the other. Not written where the work is one whole, likewise."""
    software: tuple[str, ...] = ()
    """Commands that must exist inside the box, such as `sqlite3`."""
    requires: tuple[str, ...] = ()
    """Capabilities an agent must declare, such as `vision`; without them the instance is not attemptable."""
    limits: Limits = Limits()
    paths: Paths = Paths()


class Deliverable(Frozen):
    name: str
    format: str
    required: bool = True
    about: str = ""


class TaskWork(Frozen):
    """What the agent gets."""

    brief: str
    inputs: Digest
    """Digest of the manifest of `inputs/`."""
    software: Digest
    environment: Environment = Environment()
    deliverables: tuple[Deliverable, ...] = ()
    shown_rubric: str = ""
    """The criteria as the agent sees them. Written by packages of old; now an arm says what is shown."""


class CollectSpec(Frozen):
    """A line of shell that is run in the agent's box before its root is taken in, once the agent is done."""

    command: str = Field(min_length=1)
    timeout: float = Field(default=60.0, ge=1)
    """Seconds."""
    step: str = ""
    """Only after this step; else after every one."""


class Capture(Frozen):
    """What is taken when a trial ends, besides `output/`."""

    probes: Digest
    """Digest of the manifest of `probes/`."""
    probe_names: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    """Services whose state is taken."""
    root: bool = omittable(False)
    """What the agent changed in the root of its image. Not written where it is not taken, likewise."""
    collect: tuple[CollectSpec, ...] = omittable(())
    """What brings into files what only runs. Not written where there is none, likewise."""


class Grading(Frozen):
    """All that decides a grade under one protocol."""

    protocol: Protocol
    criteria: Criteria = Criteria()
    reference: Digest
    grader: Digest
    """Digest of the manifest of the grader's code (`grade.py`, `task.py` and the modules beside them)."""
    entry: str = "grade.py"
    settings: dict[str, Any] = {}
    instance_settings: dict[str, Any] = {}
    notes: str = ""
    kit: str = ""
    """Version of `worksample.kit` that the grader was written against."""

    @property
    def names_evaluators(self) -> bool:
        """Whether its criteria say who decides them.

        By a program is what a criterion says by itself, and a rubric has no program of its own: one whose criteria all
        say so names nobody.
        """
        return self.protocol is not Protocol.RUBRIC or bool(self.criteria.kinds - {By.PROGRAM.value})

    def asked_of(self, by: str) -> Criteria:
        """The criteria that one kind of evaluator is asked; all of them where they name nobody."""
        return self.criteria.asked_of(by) if self.names_evaluators else self.criteria


class About(Frozen):
    """What is known of the work as work; none of it reaches agent or grader."""

    category: str = ""
    """`upwork:category/subcategory`, `ale:domain/subdomain` or `tac:department`; see `worksample.tasks.taxonomy`."""
    occupation: str = ""
    """SOC 2018 code such as `13-2011`."""
    value: Value | None = None
    hours: Hours | None = None
    tier: str = ""
    licence: str = ""
    provenance: str = ""
    tags: tuple[str, ...] = ()
    job: Job | None = omittable(None)
    """The posting, where it comes from a marketplace or a list of jobs. Not written where there is none."""


@register
class Instance(Record):
    """One runnable, named case of a task. `id` is `task/name@` and 16 characters of the four digests' digest."""

    kind: ClassVar[str] = "instance"

    task: Name
    name: Name
    title: str
    version: str
    canary: str
    work: TaskWork
    capture: Capture
    grading: dict[Protocol, Grading]
    about: About
    shown_reference: Digest | None = omittable(None)
    """Digest of the manifest of what people see of the reference. None, and then not written: all of it."""

    @property
    def key(self) -> str:
        """`task/name`: the same over all versions."""
        return f"{self.task}/{self.name}"

    @property
    def work_digest(self) -> str:
        return self.work.digest

    @property
    def capture_digest(self) -> str:
        return self.capture.digest

    def grading_digest(self, protocol: Protocol) -> str:
        return self.grading[protocol].digest

    @staticmethod
    def identify(task: str, name: str, parts: dict[str, Any]) -> str:
        """The id for `parts` = `{"work": ..., "capture": ..., "grading": ..., "about": ...}` in plain JSON types.

        And `"people"` where people see a part of the reference only.
        """
        return f"{task}/{name}@{digest_of(parts)[:16]}"


@register
class Task(Record):
    """A package as it was ingested. `id` is `name@` and 16 characters of the package's digest."""

    kind: ClassVar[str] = "task"

    name: Name
    title: str
    version: str
    canary: str
    package: Digest
    """Digest of the manifest of the whole folder."""
    instances: tuple[str, ...]
    ingested: Moment


class HostLists(Frozen):
    """Which hosts a suite lets its agents reach, of those that an operator allows: the narrower rule wins."""

    allow: tuple[str, ...] = ()
    """`NAME[:PORT]` or `*.NAME[:PORT]`. Where there are any, nothing else is reached."""
    block: tuple[str, ...] = ()
    """`NAME`, `*.NAME` or with a port; never reached."""


class Tier(Frozen):
    name: str
    instances: tuple[str, ...]


@register
class Suite(Record):
    """A named list of instances with pinned digests. `id` is `name@` and 16 characters of the digest of the rest."""

    kind: ClassVar[str] = "suite"

    name: Name
    title: str
    version: str
    visibility: str = "public"
    """`public` or `private` (held out: reports show aggregates only)."""
    tiers: tuple[Tier, ...] = ()
    instances: tuple[str, ...]
    """Instance ids."""
    roles: dict[str, str] = {}
    """Models that belong to the environment: role -> model name."""
    hosts: HostLists | None = omittable(None)
    """Not written where there are none: older suites keep their ids."""
