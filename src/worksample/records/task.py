"""Tasks, their instances, and suites of instances.

Each instance has four digests, so that a change reruns only what it affects: *work* (what the agent gets), *capture*
(what is captured at the end), *grading* per protocol, and *about*. Trials pin work and capture, evaluations pin
grading.
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
    """Method by which a submission is judged."""

    PROGRAM = "program"
    CHECKPOINTS = "checkpoints"
    RUBRIC = "rubric"
    HOLISTIC = "holistic"
    PAIRWISE = "pairwise"


class Limits(Frozen):
    """Upper limits of a trial; None means no limit. The box's limits (memory, processes, disk) always apply."""

    time: float | None = Field(default=None, gt=0)
    """Wall-clock time in seconds."""
    cost: float | None = Field(default=None, gt=0)
    """US dollars for all model calls of the agent."""
    tokens: int | None = Field(default=None, gt=0)
    turns: int | None = Field(default=None, gt=0)
    """Number of model calls of the agent, called steps in the papers."""
    memory: int = Field(default=2 << 30, gt=0)
    """Bytes of all processes of the box together."""
    processes: int = Field(default=256, gt=0)
    disk: int = Field(default=1 << 30, gt=0)
    """Bytes of all writable folders together."""


class Paths(Frozen):
    """Paths in the boxes of the agent and the grader. Imported tasks may require other paths."""

    input: str = "/task/input"
    software: str = "/task/software"
    output: str = "/task/output"
    reference: str = "/task/reference"
    """Exists only in the grader's box."""


class EndpointSpec(Frozen):
    """A host name and port that the agent's programs can connect to, and the target behind it."""

    name: str
    """A host name, or `*.NAME` for all names below it."""
    port: int
    to: str
    """`model`, `host`, `service:NAME`, or `service:NAME:PORT`."""


class SourceFiles(Frozen):
    """A folder of the package."""

    name: str
    files: Digest | None = None
    """Digest of the folder's manifest."""


class ImageSource(Frozen):
    """The root file system in which the agent works, instead of this machine's programs."""

    name: str
    """`docker://NAME@sha256:...`, or a path in the package."""
    files: Digest | None = None
    """Digest of the manifest of the files at a path; None for a registry reference."""


class ServiceLimits(Frozen):
    """Limits of a service. The services of one box share the sum of their limits."""

    memory: int = Field(default=512 << 20, gt=0)
    processes: int = Field(default=128, gt=0)
    disk: int = Field(default=256 << 20, gt=0)


class ServiceSpec(Frozen):
    """A program of the task behind endpoints, in a box separate from the agent's."""

    name: Name
    box: Name
    """Name of the box. Services of one box share its loopback, and cannot reach services of other boxes."""
    argv: tuple[str, ...]
    """The command. `{files}` and `{state}` stand for the service's folders."""
    env: dict[str, str] = {}
    ports: tuple[int, ...]
    ready: str = "tcp"
    """Condition of readiness. `tcp`: the service accepts connections. A path: an HTTP request to the first port returns
    200 to 399.
    """
    wait: float = 60.0
    """Maximum seconds until the service is ready."""
    files: SourceFiles | None = None
    software: tuple[str, ...] = ()
    """Commands that must exist on the machine if the service has no image."""
    image: ImageSource | None = None
    limits: ServiceLimits = ServiceLimits()


class McpSpec(Frozen):
    """A tool server that speaks the Model Context Protocol: a program in the agent's box, or behind an endpoint."""

    name: Name
    argv: tuple[str, ...] = ()
    """Command of a program that speaks MCP on standard input and output. `{input}`, `{software}`, `{output}` and
    `{scratch}` stand for folders.
    """
    env: dict[str, str] = {}
    url: str = ""
    """Address of an MCP server over HTTP: streamable, or server-sent events if `sse`."""
    sse: bool = omittable(False)
    """True if the server uses server-sent events, the older form of the protocol. Omitted if false."""


class HealthSpec(Frozen):
    """A health check of the agent's box before the agent begins, like Docker's HEALTHCHECK. Times are in seconds."""

    command: str = Field(min_length=1)
    """A shell command; exit status 0 means healthy."""
    interval: float = Field(default=5.0, ge=0)
    """Time between two checks."""
    timeout: float = Field(default=30.0, ge=1)
    """Maximum time of one check."""
    start_period: float = Field(default=0.0, ge=0)
    """Time after the start during which failed checks do not count."""
    start_interval: float = Field(default=5.0, ge=0)
    """Time between two checks during the start period."""
    retries: int = Field(default=3, ge=1)
    """Consecutive failed checks after which the box counts as unhealthy."""


class StepSpec(Frozen):
    """A step of the work with its own instruction. The box is kept from one step to the next."""

    name: Name
    brief: str = ""
    files: SourceFiles | None = None
    """Files that are copied into the image's working folder before the step; if they include `setup.sh`, it is run
    there.
    """
    time: float | None = Field(default=None, gt=0)
    """Maximum seconds of the step."""
    health: HealthSpec | None = None


class WorkplaceSource(Frozen):
    """The company in whose services the agent works."""

    company: SourceFiles
    """The company's folder."""
    setup: SourceFiles | None = None
    """A folder with `setup.py`, which runs with access to the services before the agent begins."""
    live: SourceFiles | None = omittable(None)
    """A folder with `live.py`, which checks the services after the agent is done. Omitted if the task has none."""
    dialects: tuple[str, ...] = omittable(())
    """APIs of other products that the services also offer. Omitted if empty."""


Observation = Literal["tree", "dom", "screenshot", "marks", "visible", "interactable", "viewport", "tabs"]


class BrowserSpec(Frozen):
    """Size of the browser's pages, and what the agent sees of them."""

    observe: tuple[Observation, ...] = ()
    """If empty, the agent's settings decide; by default the agent sees the tree and the tabs, and a screenshot if it
    has `vision`.
    """
    width: int = Field(default=1280, ge=320, le=3840)
    height: int = Field(default=720, ge=240, le=2160)


class Environment(Frozen):
    interfaces: tuple[str, ...] = ("terminal",)
    network: str = "none"
    """`none`, `endpoints`, or `workplace`: the endpoints of a company's services and any others."""
    endpoints: tuple[EndpointSpec, ...] = omittable(())
    """Omitted if empty, so that older instances keep their digests."""
    image: ImageSource | None = omittable(None)
    """Omitted if the task has none."""
    services: tuple[str, ...] = ()
    """Names of services that the task expects in a workplace."""
    served: tuple[ServiceSpec, ...] = omittable(())
    """Services that the task brings. Omitted if empty."""
    workplace: WorkplaceSource | None = omittable(None)
    """The company whose services `services` names. Omitted if the task has none."""
    mcp: tuple[McpSpec, ...] = omittable(())
    """Tool servers for the agent. Omitted if empty."""
    browser: BrowserSpec | None = omittable(None)
    """Settings of the interface `browser`. Omitted if the task does not have it."""
    health: HealthSpec | None = omittable(None)
    """A health check that must succeed before the agent begins. Omitted if the task has none."""
    skills: str = omittable("")
    """Folder in the box with skills, each a folder with a SKILL.md. Omitted if empty."""
    steps: tuple[StepSpec, ...] = omittable(())
    """Instructions that the agent gets one after the other. Omitted if the work has no steps."""
    software: tuple[str, ...] = ()
    """Commands that must exist inside the box, such as `sqlite3`."""
    requires: tuple[str, ...] = ()
    """Capabilities that an agent must declare, such as `vision`. An agent without them cannot attempt the instance."""
    limits: Limits = Limits()
    paths: Paths = Paths()


class Deliverable(Frozen):
    name: str
    format: str
    required: bool = True
    about: str = ""


class TaskWork(Frozen):
    """Everything that the agent receives."""

    brief: str
    inputs: Digest
    """Digest of the manifest of `inputs/`."""
    software: Digest
    environment: Environment = Environment()
    deliverables: tuple[Deliverable, ...] = ()
    shown_rubric: str = ""
    """The criteria as the agent sees them. Only older packages have this field; now the arm decides what is shown."""


class CollectSpec(Frozen):
    """A shell command that runs in the agent's box after the agent is done, before its root is captured."""

    command: str = Field(min_length=1)
    timeout: float = Field(default=60.0, ge=1)
    """Maximum seconds of the command."""
    step: str = ""
    """Name of the step after which the command runs; if empty, it runs after every step."""


class Capture(Frozen):
    """What is captured at the end of a trial in addition to `output/`."""

    probes: Digest
    """Digest of the manifest of `probes/`."""
    probe_names: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    """Services whose state is captured."""
    root: bool = omittable(False)
    """True if the agent's changes to the root of its image are captured. Omitted if false."""
    collect: tuple[CollectSpec, ...] = omittable(())
    """Commands that write the state of running programs to files. Omitted if empty."""


class Grading(Frozen):
    """Everything that determines a grade under one protocol."""

    protocol: Protocol
    criteria: Criteria = Criteria()
    reference: Digest
    grader: Digest
    """Digest of the manifest of the grader's code (`grade.py`, `task.py` and the modules next to them)."""
    entry: str = "grade.py"
    settings: dict[str, Any] = {}
    instance_settings: dict[str, Any] = {}
    notes: str = ""
    kit: str = ""
    """Version of `worksample.kit` for which the grader was written."""

    @property
    def names_evaluators(self) -> bool:
        """Return whether the criteria say which kind of evaluator decides them.

        A criterion names `program` by default, and a rubric has no program. So a rubric whose criteria all name
        `program` names no evaluators.
        """
        return self.protocol is not Protocol.RUBRIC or bool(self.criteria.kinds - {By.PROGRAM.value})

    def asked_of(self, by: str) -> Criteria:
        """Return the criteria for one kind of evaluator; all criteria if they name no evaluators."""
        return self.criteria.asked_of(by) if self.names_evaluators else self.criteria


class About(Frozen):
    """Facts about the work. Neither the agent nor the grader sees them."""

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
    """The job posting, if the task comes from a marketplace or a list of jobs. Omitted if the task has none."""


@register
class Instance(Record):
    """One runnable, named case of a task. `id` is `task/name@` and 16 characters of the digest of its four digests."""

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
    """Digest of the manifest of the part of the reference that people see. Omitted if they see all of it."""

    @property
    def key(self) -> str:
        """Return `task/name`, the same for all versions."""
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
        """Return the id for `parts` = `{"work": ..., "capture": ..., "grading": ..., "about": ...}` in plain JSON
        types.

        `parts` also has `"people"` if people see only a part of the reference.
        """
        return f"{task}/{name}@{digest_of(parts)[:16]}"


@register
class Task(Record):
    """A task package in the store. `id` is `name@` and 16 characters of the package's digest."""

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
    """A suite's restriction of the hosts that an operator allows. If both have a rule, the narrower one applies."""

    allow: tuple[str, ...] = ()
    """`NAME[:PORT]` or `*.NAME[:PORT]`. If not empty, agents reach only these hosts."""
    block: tuple[str, ...] = ()
    """`NAME` or `*.NAME`, with or without a port; agents never reach these hosts."""


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
    """Omitted if the suite has none, so that older suites keep their ids."""
