"""Tasks, their instances, and suites of instances.

Each instance has four digests, so that a change invalidates only the results that it affects. *work* covers what the
agent receives. *capture* covers what is stored when the work ends. *grading* exists for each protocol. *about* covers
facts about the work. Trials store the digests of work and capture, and evaluations store the digest of grading.
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
    """Method by which submissions are judged."""

    PROGRAM = "program"
    CHECKPOINTS = "checkpoints"
    RUBRIC = "rubric"
    HOLISTIC = "holistic"
    PAIRWISE = "pairwise"


class Limits(Frozen):
    """Upper limits of a trial. None means that a limit is not set. The limits of the box (memory, processes, disk) are
    always set.
    """

    time: float | None = Field(default=None, gt=0)
    """Maximum elapsed time of the trial in seconds."""
    cost: float | None = Field(default=None, gt=0)
    """Maximum cost of all model calls of the agent, in US dollars."""
    tokens: int | None = Field(default=None, gt=0)
    turns: int | None = Field(default=None, gt=0)
    """Maximum number of model calls of the agent. The papers call them steps."""
    memory: int = Field(default=2 << 30, gt=0)
    """Maximum memory of all processes in the box together, in bytes."""
    processes: int = Field(default=256, gt=0)
    disk: int = Field(default=1 << 30, gt=0)
    """Maximum size of all writable folders together, in bytes."""


class Paths(Frozen):
    """Paths of the folders in the boxes of the agent and the grader. Imported tasks may need other paths than the
    defaults.
    """

    input: str = "/task/input"
    software: str = "/task/software"
    output: str = "/task/output"
    reference: str = "/task/reference"
    """Path of the reference. The folder exists in the grader's box only."""


class EndpointSpec(Frozen):
    """A host name and port that programs in the agent's box can connect to, and the service that answers."""

    name: str
    """A host name, or `*.NAME` for all host names below NAME."""
    port: int
    to: str
    """Target of the connections: `model`, `host`, `service:NAME`, or `service:NAME:PORT`."""


class SourceFiles(Frozen):
    """A folder of the task package, with the digest of its content."""

    name: str
    files: Digest | None = None
    """Digest of the folder's manifest. None before the package is stored."""


class ImageSource(Frozen):
    """The image in which the agent works: a root file system that replaces the programs of this machine."""

    name: str
    """Name of the image: `docker://NAME@sha256:...`, or a path in the task package."""
    files: Digest | None = None
    """Digest of the manifest of the image's files, if the image is a path in the package. None for an image in a
    registry.
    """


class ServiceLimits(Frozen):
    """Limits of a service. Services that run in the same box share the sum of their limits."""

    memory: int = Field(default=512 << 20, gt=0)
    processes: int = Field(default=128, gt=0)
    disk: int = Field(default=256 << 20, gt=0)


class ServiceSpec(Frozen):
    """A service that the task brings: a program that answers at endpoints, in a box separate from the agent's box."""

    name: Name
    box: Name
    """Name of the service's box. Services in the same box share the loopback interface. They cannot reach services of
    other boxes.
    """
    argv: tuple[str, ...]
    """The command that starts the service. `{files}` and `{state}` stand for the service's folders."""
    env: dict[str, str] = {}
    ports: tuple[int, ...]
    ready: str = "tcp"
    """Condition under which the service counts as ready. `tcp`: the service accepts connections. A path: an HTTP
    request for this path to the first port returns a status from 200 to 399.
    """
    wait: float = 60.0
    """Maximum time until the service is ready, in seconds."""
    files: SourceFiles | None = None
    software: tuple[str, ...] = ()
    """Commands that must exist on this machine. Used if the service has no image."""
    image: ImageSource | None = None
    limits: ServiceLimits = ServiceLimits()


class McpSpec(Frozen):
    """A tool server for the agent that speaks the Model Context Protocol (MCP). It is a program in the agent's box, or
    a server behind an endpoint.
    """

    name: Name
    argv: tuple[str, ...] = ()
    """Command of a program that speaks MCP on standard input and output. `{input}`, `{software}`, `{output}` and
    `{scratch}` stand for the folders of the agent's box.
    """
    env: dict[str, str] = {}
    url: str = ""
    """Address of an MCP server over HTTP, with streamable HTTP by default, or with server-sent events if `sse` is
    true.
    """
    sse: bool = omittable(False)
    """True if the server uses server-sent events, an older transport of MCP. Omitted if false."""


class HealthSpec(Frozen):
    """A health check of the agent's box, similar to Docker's HEALTHCHECK. The agent begins after the check has
    succeeded. All times are in seconds.
    """

    command: str = Field(min_length=1)
    """A shell command. The exit code 0 means that the box is healthy."""
    interval: float = Field(default=5.0, ge=0)
    """Time between two checks, in seconds."""
    timeout: float = Field(default=30.0, ge=1)
    """Maximum time of one check, in seconds."""
    start_period: float = Field(default=0.0, ge=0)
    """Time after the start in which failed checks are not counted, in seconds."""
    start_interval: float = Field(default=5.0, ge=0)
    """Time between two checks during the start period, in seconds."""
    retries: int = Field(default=3, ge=1)
    """Number of consecutive failed checks after which the box counts as unhealthy."""


class StepSpec(Frozen):
    """A step of the work, with its own instruction. The agent continues in the same box from one step to the next."""

    name: Name
    brief: str = ""
    files: SourceFiles | None = None
    """Files that are copied into the image's working folder before the step. If they contain `setup.sh`, this script is
    run in the same folder.
    """
    time: float | None = Field(default=None, gt=0)
    """Maximum time of the step in seconds; None for no limit."""
    health: HealthSpec | None = None


class WorkplaceSource(Frozen):
    """The simulated company in whose services the agent works."""

    company: SourceFiles
    """The folder that describes the company."""
    setup: SourceFiles | None = None
    """A folder with `setup.py`. This script runs before the agent begins, and can use the services."""
    live: SourceFiles | None = omittable(None)
    """A folder with `live.py`. This script checks the services after the agent is done. Omitted if the task has no such
    script.
    """
    dialects: tuple[str, ...] = omittable(())
    """Names of other products whose APIs the services also offer. Omitted if empty."""
    silent: bool = omittable(False)
    """True if nobody in the company answers, because the company has no simulated colleagues. Omitted if false."""


class StartSpec(Frozen):
    """The task's program that prepares the agent's box before the agent begins. It runs in a box of its own."""

    entry: str
    """Path of the file in the package that has the function `start`."""
    files: Digest | None = None
    """Digest of the manifest that contains this file. None before the package is stored."""
    settings: dict[str, Any] = {}
    """Settings of the instance, which the program is given."""


Observation = Literal["tree", "dom", "screenshot", "marks", "visible", "interactable", "viewport", "tabs"]


class BrowserSpec(Frozen):
    """Settings of the agent's browser: the size of its pages, and what the agent sees of a page."""

    observe: tuple[Observation, ...] = ()
    """What the agent sees of a page. If empty, the agent's settings decide. Without such settings, the agent sees the
    accessibility tree and the tabs, and a screenshot if it has the capability `vision`.
    """
    width: int = Field(default=1280, ge=320, le=3840)
    height: int = Field(default=720, ge=240, le=2160)
    signed_in: bool = omittable(False)
    """Whether the browser signs in with the environment's accounts before its first action. Omitted if False."""


class AccountSpec(Frozen):
    """An account in the task's services. The agent is told its password, or finds its browser signed in, or both."""

    name: str
    password: str
    url: str
    """Address of the page at which the account signs in."""
    service: str
    """Name of the product or service for texts, such as `GitLab`."""
    shown: bool = omittable(True)
    """Whether the agent is told the account. If not, only its browser uses the account. Omitted if True."""


class DesktopSpec(Frozen):
    """Settings of the agent's desktop: the size of its screen, and what it begins with."""

    width: int = Field(default=1366, ge=320, le=3840)
    height: int = Field(default=768, ge=240, le=2160)
    programs: tuple[str, ...] = omittable(())
    """Commands of a shell that start with the desktop, in the agent's box."""
    clipboard: str = omittable("")
    """Text on the clipboard when the work begins."""
    locale: str = omittable("")
    """Locale of the programs, such as `de_DE.UTF-8`; empty for `C.UTF-8`."""
    fonts: tuple[str, ...] = omittable(())
    """Folders in the box with fonts for the programs, such as `/task/software/fonts`."""


class Environment(Frozen):
    interfaces: tuple[str, ...] = ("terminal",)
    network: str = "none"
    """What the box can connect to: `none`, `endpoints`, or `workplace`, which means the services of a company and the
    endpoints.
    """
    endpoints: tuple[EndpointSpec, ...] = omittable(())
    """Endpoints that programs in the box can connect to. Omitted if empty, so that older instances keep their
    digests.
    """
    image: ImageSource | None = omittable(None)
    """The image in which the agent works. Omitted if the task uses the programs of this machine."""
    services: tuple[str, ...] = ()
    """Names of the workplace's services that the task needs."""
    served: tuple[ServiceSpec, ...] = omittable(())
    """Services that the task itself brings. Omitted if empty."""
    workplace: WorkplaceSource | None = omittable(None)
    """The company to whose services the field `services` refers. Omitted if the task has no workplace."""
    mcp: tuple[McpSpec, ...] = omittable(())
    """Tool servers (MCP) that the agent can use. Omitted if empty."""
    browser: BrowserSpec | None = omittable(None)
    """Settings of the agent's browser. Omitted if the task has no interface `browser`."""
    desktop: DesktopSpec | None = omittable(None)
    """Settings of the agent's desktop. Omitted if the task has no interface `desktop`."""
    accounts: tuple[AccountSpec, ...] = omittable(())
    """Accounts in the services for the agent. Omitted if empty."""
    copied_inputs: bool = omittable(False)
    """Whether the output folder begins with a writable copy of the input files. Omitted if False."""
    health: HealthSpec | None = omittable(None)
    """Health check of the box that must succeed before the agent begins. Omitted if the task has no such check."""
    skills: str = omittable("")
    """Folder in the box that contains skills. Each skill is a folder with a file SKILL.md. Omitted if empty."""
    steps: tuple[StepSpec, ...] = omittable(())
    """Steps of the work. The agent gets the instruction of each step after the step before is done. Omitted if the work
    has no steps.
    """
    software: tuple[str, ...] = ()
    """Commands that must exist in the box, such as `sqlite3`."""
    requires: tuple[str, ...] = ()
    """Capabilities that an agent must declare, such as `vision`. An agent that lacks one cannot attempt the
    instance.
    """
    limits: Limits = Limits()
    paths: Paths = Paths()
    os: str = omittable("linux")
    """Operating system that the work needs. Omitted if `linux`, the only one that sandboxes provide."""
    cores: int = omittable(0, ge=0)
    """Number of processors that the machine must have. Omitted if 0, for any number."""
    memory: int = omittable(0, ge=0)
    """Bytes of memory that the machine must have. Omitted if 0. `limits.memory` says how much of it the box may use."""
    gpu: str = omittable("")
    """The graphics processor that the work needs, such as `any` or `cuda`. Omitted if the work needs none."""
    start: StartSpec | None = omittable(None)
    """Program that prepares the box before the agent begins. Omitted if the task has none."""


class Deliverable(Frozen):
    name: str
    format: str
    required: bool = True
    about: str = ""


class TaskWork(Frozen):
    """The part of an instance that the agent receives."""

    brief: str
    inputs: Digest
    """Digest of the manifest of `inputs/`."""
    software: Digest
    environment: Environment = Environment()
    deliverables: tuple[Deliverable, ...] = ()
    shown_rubric: str = ""
    """The criteria in the form in which the agent sees them. Only older packages use this field. In newer packages, the
    arm of the experiment decides what the agent sees.
    """


class CollectSpec(Frozen):
    """A shell command that runs in the agent's box when the agent is done, before the root file system is captured."""

    command: str = Field(min_length=1)
    timeout: float = Field(default=60.0, ge=1)
    """Maximum time of the command in seconds."""
    step: str = ""
    """Name of the step after which the command runs. If empty, the command runs after every step."""


class Capture(Frozen):
    """List of the data that is stored at the end of a trial, in addition to the folder `output/`."""

    probes: Digest
    """Digest of the manifest of `probes/`."""
    probe_names: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    """Names of the services whose state is stored."""
    root: bool = omittable(False)
    """True if the agent's changes to the root file system of its image are stored. Omitted if false."""
    collect: tuple[CollectSpec, ...] = omittable(())
    """Commands that write the state of running programs to files before the box is stopped. Omitted if empty."""


class Grading(Frozen):
    """The part of an instance that determines a grade under one protocol: grader, criteria and settings."""

    protocol: Protocol
    criteria: Criteria = Criteria()
    reference: Digest
    grader: Digest
    """Digest of the manifest of the grader's code: `grade.py`, `task.py` and the modules beside them."""
    entry: str = "grade.py"
    settings: dict[str, Any] = {}
    instance_settings: dict[str, Any] = {}
    notes: str = ""
    kit: str = ""
    """Version of `worksample.kit` for which the grader was written; empty if unknown."""

    @property
    def names_evaluators(self) -> bool:
        """Return whether the criteria say which kind of evaluator decides each of them.

        A criterion names `program` by default, but rubrics are not graded by programs. If all criteria of a rubric name
        `program`, this default is ignored and the result is false.
        """
        return self.protocol is not Protocol.RUBRIC or bool(self.criteria.kinds - {By.PROGRAM.value})

    def asked_of(self, by: str) -> Criteria:
        """Return the criteria that the kind of evaluator `by` decides. Return all criteria if the criteria name no
        evaluators.
        """
        return self.criteria.asked_of(by) if self.names_evaluators else self.criteria


class About(Frozen):
    """Facts about the work, such as value and occupation. Neither the agent nor the grader sees them."""

    category: str = ""
    """Category of the work: `upwork:category/subcategory`, `ale:domain/subdomain` or `tac:department` (see
    `worksample.tasks.taxonomy`).
    """
    occupation: str = ""
    """Code of the occupation in the SOC 2018 classification, such as `13-2011`."""
    value: Value | None = None
    hours: Hours | None = None
    tier: str = ""
    licence: str = ""
    provenance: str = ""
    tags: tuple[str, ...] = ()
    job: Job | None = omittable(None)
    """The job posting from which the task was made. Omitted if the task was not made from a posting."""


@register
class Instance(Record):
    """A named case of a task, on which agents work. `id` is `task/name@` and the first 16 characters of a digest of the
    four digests.
    """

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
    """Digest of the manifest of the files of the reference that people see while they judge. Omitted if people see the
    whole reference.
    """

    @property
    def key(self) -> str:
        """Return `task/name`, which is equal for all versions of the instance."""
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
        """Return the id of an instance. `parts` is `{"work": ..., "capture": ..., "grading": ..., "about": ...}` in
        plain JSON types.

        `parts` also has the key `"people"` if people see only a part of the reference.
        """
        return f"{task}/{name}@{digest_of(parts)[:16]}"


@register
class Task(Record):
    """A task package in the store. `id` is `name@` and the first 16 characters of the digest of the package."""

    kind: ClassVar[str] = "task"

    name: Name
    title: str
    version: str
    canary: str
    package: Digest
    """Digest of the manifest of the whole task folder."""
    instances: tuple[str, ...]
    ingested: Moment


class HostLists(Frozen):
    """Hosts on the network that a suite allows or blocks. A host is reachable only if both the operator and the suite
    allow it.
    """

    allow: tuple[str, ...] = ()
    """Allowed hosts, as `NAME[:PORT]` or `*.NAME[:PORT]`. If the list is not empty, agents can reach only these
    hosts.
    """
    block: tuple[str, ...] = ()
    """Blocked hosts, as `NAME` or `*.NAME`, with or without a port. Agents can never reach these hosts."""


class Tier(Frozen):
    name: str
    instances: tuple[str, ...]


@register
class Suite(Record):
    """A named list of instances, each fixed by its digest. `id` is `name@` and the first 16 characters of the digest of
    the other fields.
    """

    kind: ClassVar[str] = "suite"

    name: Name
    title: str
    version: str
    visibility: str = "public"
    """`public`, or `private` for a held-out suite, of which reports show only aggregates."""
    tiers: tuple[Tier, ...] = ()
    instances: tuple[str, ...]
    """Ids of the instances in the suite."""
    roles: dict[str, str] = {}
    """Model names by role, for models that belong to the environment (colleagues, judges)."""
    hosts: HostLists | None = omittable(None)
    """Hosts that the suite allows or blocks. Omitted if the suite has no such lists, so that older suites keep their
    ids.
    """
