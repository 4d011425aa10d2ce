"""The tables `[[environment.service]]` of `task.toml`: programs that the task brings, which run behind endpoints in
separate boxes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from worksample.files.config_files import AllowedText, Flag, Size, nearest, value_fault
from worksample.records import Frozen, ImageSource, ServiceLimits, ServiceSpec, SourceFiles

from .image_names import Image
from .package_files import Folder
from .workplace_settings import PORTS

Word = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$"), AllowedText("lower case letters, digits, _ and -")]
Command = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"), AllowedText("the name of a command")]
Port = Annotated[int, Field(ge=1, le=65535, strict=True), AllowedText("a number from 1 to 65535")]
_PLAIN = ServiceLimits()
_BEHIND = re.compile(r"service:([a-z0-9][a-z0-9_-]*)(?::([1-9][0-9]{0,4}))?")


def target(to: str) -> str:
    """Return the target of an endpoint if its form is valid: `model`, `host`, `service:NAME` or `service:NAME:PORT`."""
    if to not in ("model", "host") and not _BEHIND.fullmatch(to):
        raise value_fault()
    return to


def _check_readiness(text: str) -> str:
    if text != "tcp" and not re.fullmatch(r"/[!-~]{0,500}", text):
        raise value_fault()
    return text


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise value_fault("cannot be the name of a variable")
    return name


def _text(text: str) -> str:
    if "\0" in text:
        raise value_fault("holds a null character")
    return text


Text = Annotated[str, AfterValidator(_text), AllowedText("text")]
Variable = Annotated[str, AfterValidator(_variable)]


class ServiceLimitsTable(ServiceLimits):
    """The table `limits` of a service. Sizes may be texts with a unit, such as `512MiB`."""

    model_config = ConfigDict(strict=True)
    memory: Size = _PLAIN.memory
    disk: Size = _PLAIN.disk


class ServiceTable(Frozen):
    """The table `[[environment.service]]` of `task.toml`."""

    name: Word
    box: Word | None = None
    """Name of the service's box. Services with the same name here share a box and its loopback interface. By default
    each service has its own box.
    """
    argv: Annotated[tuple[Text, ...], Field(min_length=1), AllowedText("a list: a program and its arguments")]
    env: dict[Variable, Text] = {}
    ports: Annotated[
        tuple[Port, ...], Field(min_length=1, max_length=16), AllowedText("a list of numbers, at least one")
    ]
    ready: Annotated[str, AfterValidator(_check_readiness), AllowedText("'tcp', or a path such as '/health'")] = "tcp"
    wait: Annotated[float, Field(gt=0, le=3600), AllowedText("seconds, at most 3600")] = 60.0
    files: Folder | None = None
    software: Annotated[tuple[Command, ...], AllowedText("a list of commands")] = ()
    image: Image | None = None
    export: Flag = True
    """True if the service's state is stored when a trial ends."""
    limits: ServiceLimitsTable = ServiceLimitsTable()

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if len(set(self.ports)) < len(self.ports):
            raise ValueError("a port appears twice")
        return self

    def record(self) -> ServiceSpec:
        """Return the table as a `ServiceSpec` record."""
        return ServiceSpec(
            name=self.name,
            box=self.box or self.name,
            argv=self.argv,
            env=dict(self.env),
            ports=self.ports,
            ready=self.ready,
            wait=self.wait,
            files=SourceFiles(name=self.files) if self.files else None,
            software=tuple(dict.fromkeys(self.software)),
            image=ImageSource(name=self.image) if self.image else None,
            limits=ServiceLimits(**self.limits.plain()),
        )


def check_services(
    services: Sequence[ServiceTable], targets: Sequence[str], expected: Sequence[str], workplace: str = ""
) -> None:
    """Raise ValueError if the services of a task contradict each other, or if an endpoint leads to an unknown service
    or port.

    targets: the targets of the task's endpoints. expected: names of the workplace's services. workplace: the name of
    the service that runs the workplace.
    """
    by_name = {one.name: one for one in services}
    if len(by_name) < len(services):
        raise ValueError("two services have the same name")
    if twice := sorted(set(by_name) & set(expected)):
        raise ValueError(f"the service {twice[0]!r} is defined by the task and also expected from a workplace")
    boxes: dict[str, list[ServiceTable]] = {}
    for one in services:
        boxes.setdefault(one.box or one.name, []).append(one)
    for box, inside in boxes.items():
        if len({one.image for one in inside}) > 1:
            raise ValueError(f"services of the box {box!r} have different images")
        ports = [port for one in inside for port in one.ports]
        if len(set(ports)) < len(ports):
            raise ValueError(f"two services of the box {box!r} have the same port")
    for to in targets:
        if (found := _BEHIND.fullmatch(to)) is None or found[1] in expected:
            continue
        if workplace and found[1] == workplace:
            ports = [PORTS[name] for name in expected if name in PORTS]
            if found[2] is None or int(found[2]) not in ports:
                raise ValueError(f"{to!r} names no port of the workplace; its ports are: {', '.join(map(str, ports))}")
            continue
        if found[1] not in by_name:
            raise ValueError(
                f"{to!r} names the service {found[1]!r}, which does not exist{nearest(found[1], [*by_name, *expected])}"
            )
        ports = list(by_name[found[1]].ports)
        if found[2] is None and len(ports) > 1:
            raise ValueError(f"{to!r} must end in one of the service's ports: {', '.join(map(str, ports))}")
        if found[2] is not None and int(found[2]) not in ports:
            raise ValueError(f"{to!r} names a port that the service lacks; its ports are: {', '.join(map(str, ports))}")
