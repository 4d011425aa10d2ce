"""The tables `[environment]` and `[deliverables]` of `task.toml`: where the work is done, and which files it must
produce.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from worksample.box import is_host_name
from worksample.files.config_files import AllowedText, Flag, Line, Size, exact_fault, value_fault
from worksample.records import (
    AccountSpec,
    BrowserSpec,
    Deliverable,
    DesktopSpec,
    EndpointSpec,
    Environment,
    Frozen,
    HealthSpec,
    ImageSource,
    Limits,
    Paths,
    StartSpec,
)

from .image_names import Image
from .mcp_servers import McpTable, check_mcp
from .package_files import Folder, PythonFile, SharedFolder
from .task_services import Command, ServiceTable, Word, check_services, target
from .work_steps import StepTable, check_steps
from .workplace_settings import WORKPLACE, check_workplace, endpoints_of_workplace, source_of

OURS = (
    "/task/grader",
    "/task/probes",
    "/task/trajectory",
    "/task/exports",
    "/task/scratch",
    "/task/result",
    "/task/delivered",
    "/task/browsed",
    "/task/desktop",
)
"""Folders of a box that the platform uses, so that no task can set them as paths."""
_PLAIN = Limits()
BROWSER_MEMORY, BROWSER_PROCESSES = 4 << 30, 512
"""Default limits of a box with a browser or a desktop: memory in bytes, and number of processes."""


def _check_place(path: str) -> str:
    plain = path.startswith("/") and posixpath.normpath("/" + path.lstrip("/")) == path
    if not plain or path == "/" or not path.isprintable():
        raise value_fault()
    if any(path == ours or path.startswith(ours + "/") for ours in OURS):
        raise value_fault("is a path that the platform uses")
    return path


def _check_absolute(path: str) -> str:
    if not path.startswith("/") or posixpath.normpath("/" + path.lstrip("/")) != path or not path.isprintable():
        raise value_fault()
    return path


AnyPlace = Annotated[str, AfterValidator(_check_absolute), AllowedText("a plain absolute path")]
Place = Annotated[str, AfterValidator(_check_place), AllowedText("a plain absolute path such as '/task/output'")]


class LimitsTable(Limits):
    """The table `limits` of `task.toml`. Sizes may be texts with a unit, such as `2GiB`."""

    model_config = ConfigDict(strict=True)
    memory: Size = _PLAIN.memory
    disk: Size = _PLAIN.disk

    def merged_over(self, other: Limits) -> Limits:
        """Return the limits that the table sets, completed by those of `other`."""
        return other.replaced(**{name: getattr(self, name) for name in self.model_fields_set})


class PathsTable(Paths):
    """The table `paths` of `task.toml`."""

    input: Place = Paths().input
    software: Place = Paths().software
    output: Place = Paths().output
    reference: Place = Paths().reference

    def merged_over(self, other: Paths) -> Paths:
        """Return the paths that the table sets, completed by those of `other`. Raises ValueError if two paths are
        equal.
        """
        found = other.replaced(**{name: getattr(self, name) for name in self.model_fields_set})
        if len(set(found.plain().values())) < len(found.plain()):
            raise ValueError("input, software, output and reference must each have a path of their own")
        return found


def _check_host(name: str) -> str:
    if name != "*" and (not is_host_name(name.removeprefix("*.")) or (name.startswith("*.") and name.count(".") < 2)):
        raise value_fault()
    if name.endswith(".internal"):
        raise value_fault("is a name that the platform uses")
    return name


class EndpointTable(EndpointSpec):
    """The table `[[environment.endpoint]]` of `task.toml`."""

    name: Annotated[
        str, AfterValidator(_check_host), AllowedText("a host's name in lower case, '*.' and one, or '*'; no address")
    ]
    port: Annotated[int, Field(ge=1, le=65535, strict=True), AllowedText("a number from 1 to 65535")] = 443
    to: Annotated[str, AfterValidator(target), AllowedText("'model', 'host', 'service:NAME' or 'service:NAME:PORT'")]

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if self.name.startswith("*") and self.to != "host":
            raise ValueError('a wildcard name is allowed only with to = "host"')
        return self


class DesktopTable(DesktopSpec):
    """The table `[environment.desktop]` of `task.toml`."""

    programs: Annotated[tuple[Line, ...], Field(max_length=20), AllowedText("a list of at most 20 commands")] = ()
    clipboard: Annotated[str, Field(max_length=100_000), AllowedText("a text of at most 100000 characters")] = ""
    locale: Annotated[
        str, Field(pattern=r"^$|^[A-Za-z]{1,3}(_[A-Z]{2})?(\.[A-Za-z0-9-]+)?(@[a-z]+)?$"),
        AllowedText("a locale's name such as 'de_DE.UTF-8'"),
    ] = ""  # fmt: skip
    fonts: Annotated[tuple[AnyPlace, ...], Field(max_length=20), AllowedText("a list of absolute paths")] = ()

    def record(self) -> DesktopSpec:
        """Return the table as a record."""
        return DesktopSpec.model_validate(dict(self))


class AccountTable(AccountSpec):
    """The table `[[environment.account]]` of `task.toml`."""

    name: Annotated[str, Field(min_length=1, max_length=200), AllowedText("a name")]
    password: Annotated[str, Field(min_length=1, max_length=200), AllowedText("a password")]
    url: Annotated[str, Field(pattern=r"^https?://[!-~]{1,500}$"), AllowedText("an address with http:// or https://")]
    service: Line
    shown: Flag = True

    def record(self) -> AccountSpec:
        """Return the table as a record."""
        return AccountSpec(**dict(self))


class EnvironmentTable(Frozen):
    """The table `[environment]` of `task.toml`. An interface or network that no sandbox offers is a fault."""

    interfaces: tuple[Literal["terminal", "browser", "desktop"], ...] = ("terminal",)
    browser: BrowserSpec | None = None
    desktop: DesktopTable | None = None
    network: Literal["none", "endpoints", "workplace"] = "none"
    endpoint: Annotated[tuple[EndpointTable, ...], Field(max_length=100), AllowedText("tables, at most 100")] = ()
    service: Annotated[tuple[ServiceTable, ...], Field(max_length=32), AllowedText("tables, at most 32")] = ()
    mcp: Annotated[tuple[McpTable, ...], Field(max_length=16), AllowedText("tables, at most 16")] = ()
    health: HealthSpec | None = None
    skills: Place | None = None
    image: Image | None = None
    step: Annotated[tuple[StepTable, ...], Field(max_length=100), AllowedText("tables, at most 100")] = ()
    company: SharedFolder | None = None
    """The folder of the simulated company. The key `services` lists the company's services."""
    setup: Folder | None = None
    live: Folder | None = None
    dialects: Annotated[tuple[Word, ...], AllowedText("a list of names")] = ()
    """Names of other products whose APIs the workplace's services also offer."""
    services: Annotated[tuple[Word, ...], AllowedText("a list of names")] = ()
    software: Annotated[tuple[Command, ...], AllowedText("a list of commands")] = ()
    requires: Annotated[tuple[Word, ...], AllowedText("a list of capabilities")] = ()
    account: Annotated[tuple[AccountTable, ...], Field(max_length=32), AllowedText("tables, at most 32")] = ()
    copied_inputs: Flag = False
    """Whether the output folder begins with a writable copy of the input files."""
    limits: LimitsTable = LimitsTable()
    paths: PathsTable = PathsTable()
    os: Literal["linux", "windows", "macos"] = "linux"
    cores: Annotated[int, Field(ge=1, le=4096, strict=True), AllowedText("a number from 1 to 4096")] | None = None
    memory: Size | None = None
    gpu: Annotated[Word, AllowedText("'any', or a kind in lower case such as 'cuda'")] | None = None
    start: PythonFile | None = None
    """The file whose function `start` prepares the agent's box."""

    @model_validator(mode="after")
    def _check_combinations(self) -> Self:
        self.paths.merged_over(Paths())
        check_workplace(self.network, self.company, self.setup or self.live, self.services, self.dialects)
        if bool(self.endpoint) != (self.network == "endpoints") and self.network != "workplace":
            raise ValueError(
                'network = "endpoints" needs tables [[environment.endpoint]], and these need network = "endpoints"'
            )
        if self.browser is not None and "browser" not in self.interfaces:
            raise ValueError('browser needs interfaces = ["terminal", "browser"]')
        if self.desktop is not None and "desktop" not in self.interfaces:
            raise ValueError('[environment.desktop] needs interfaces = ["terminal", "desktop"]')
        if self.browser is not None and self.browser.signed_in and not self.account:
            raise ValueError("browser.signed_in needs tables [[environment.account]]")
        places = [(one.name, one.port) for one in self._endpoints()]
        if len(set(places)) < len(places):
            raise ValueError("two endpoints have the same name and port")
        check_mcp(self.mcp, places)
        check_steps(self.step, image=self.image is not None)
        own = WORKPLACE if self.network == "workplace" else ""
        check_services(self.service, [one.to for one in self.endpoint], self.services, own)
        return self

    def _endpoints(self) -> tuple[EndpointSpec, ...]:
        """Return the task's own endpoints, followed by those of the workplace's services."""
        own = tuple(EndpointSpec(name=one.name, port=one.port, to=one.to) for one in self.endpoint)
        return (*own, *endpoints_of_workplace(self.services, self.dialects)) if self.network == "workplace" else own

    def record(self) -> Environment:
        """Return the table as a record. Repeated names in a list are removed."""
        lists = {name: tuple(dict.fromkeys(getattr(self, name))) for name in _LISTS}
        browser = (self.browser or BrowserSpec()) if "browser" in self.interfaces else None
        desktop = (self.desktop or DesktopTable()).record() if "desktop" in self.interfaces else None
        usual = (
            Limits()
            if browser is None and desktop is None
            else Limits(memory=BROWSER_MEMORY, processes=BROWSER_PROCESSES)
        )
        return Environment(
            **lists,
            network=self.network,
            endpoints=self._endpoints(),
            served=tuple(one.record() for one in self.service),
            mcp=tuple(one.record() for one in self.mcp),
            workplace=source_of(self.company, self.setup, self.live, self.dialects),
            image=ImageSource(name=self.image) if self.image else None,
            browser=browser,
            desktop=desktop,
            accounts=tuple(one.record() for one in self.account),
            copied_inputs=self.copied_inputs,
            health=self.health,
            skills=self.skills or "",
            steps=tuple(one.record() for one in self.step),
            limits=self.limits.merged_over(usual),
            paths=self.paths.merged_over(Paths()),
            os=self.os,
            cores=self.cores or 0,
            memory=self.memory or 0,
            gpu=self.gpu or "",
            start=StartSpec(entry=self.start) if self.start else None,
        )


_LISTS = ("interfaces", "services", "software", "requires")


def _check_deliverable_name(name: str) -> str:
    steps = name.removesuffix("/").split("/")
    if name.startswith("/") or any(s in ("", ".", "..") for s in steps) or not name.isprintable():
        raise exact_fault("is not a name inside the output folder", "a relative path without '..'")
    return name


class DeliverableTable(Frozen):
    """Entry of `[deliverables]` in `task.toml`: format and description of a file that the agent must deliver."""

    format: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]*$"), AllowedText("a short word such as 'csv'")]
    required: Flag = True
    about: str = ""


Deliverables = dict[Annotated[str, AfterValidator(_check_deliverable_name)], DeliverableTable]
"""The table `[deliverables]`, by file name. A name that ends in `/` is a folder. A name with `*` stands for several
files.
"""


def deliverables_of(*tables: Mapping[str, DeliverableTable]) -> tuple[Deliverable, ...]:
    """Combine several tables of deliverables. If a name occurs in several tables, the last table counts."""
    merged = {name: given for table in tables for name, given in table.items()}
    return tuple(Deliverable(name=name, **dict(given)) for name, given in merged.items())
