"""The boxes of services: which services share one, its limits and its mounts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from worksample.box import BoxConfig, BoxLimits, Mount
from worksample.records import Environment, ServiceSpec
from worksample.sandboxes.images import image_root

if TYPE_CHECKING:
    from .task_service import TaskService

STATE = "/task/state"
"""Folder with a state folder for each service of the box; exported when the trial ends."""
FILES = "/task/service"
"""Read-only folder with each service's files."""
SCRATCH = "/task/scratch"


class LoadedService(Protocol):
    """A service that was loaded ahead in a box of its own; it belongs to the caller that took it."""

    @property
    def service(self) -> TaskService: ...

    async def close(self) -> None:
        """End the service with its box and everything that belongs to it."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceBox:
    """A box with its services in the order in which they start."""

    name: str
    config: BoxConfig
    services: tuple[ServiceSpec, ...]
    loaded: Callable[[str], Awaitable[LoadedService | None]] | None = None
    """Returns the box's only service if it was loaded ahead in a box of this kind; None if it must be started."""


def service_boxes(served: Sequence[ServiceSpec], folder: Callable[[str], Path], label: str) -> tuple[ServiceBox, ...]:
    """Return the boxes that the services need. `folder`: returns the path of a manifest's files. Raises ImageError, and
    the
    errors of `folder`.
    """
    by_box: dict[str, list[ServiceSpec]] = {}
    for one in served:
        by_box.setdefault(one.box, []).append(one)
    return tuple(ServiceBox(name, _config(inside, folder, label), tuple(inside)) for name, inside in by_box.items())


def _config(inside: list[ServiceSpec], folder: Callable[[str], Path], label: str) -> BoxConfig:
    root = image_root(Environment(image=inside[0].image), folder)
    if root is not None:  # the manifest says what to run
        root = replace(root, workdir="", entrypoint=())
    return BoxConfig(
        mounts=tuple(
            Mount(str(folder(one.files.files)), f"{FILES}/{one.name}")
            for one in inside
            if one.files is not None and one.files.files is not None
        ),
        output=STATE,
        scratch=SCRATCH,
        root=root,
        python="toolbox" if root is None else "none",
        limits=BoxLimits(
            memory=sum(one.limits.memory for one in inside),
            processes=sum(one.limits.processes for one in inside),
            disk=sum(one.limits.disk for one in inside),
        ),
        label=label,
    )
