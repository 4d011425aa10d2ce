"""The boxes of a task's services: which services share a box, and the limits and mounts of each box."""

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
"""Path in a box of the folder that contains one state folder for each service. It is exported when the trial ends."""
FILES = "/task/service"
"""Path in a box of the read-only folder that contains the files of each service."""
SCRATCH = "/task/scratch"


class LoadedService(Protocol):
    """A service that was started before it was needed, in a box of its own. After a caller has taken it, the caller
    must close it.
    """

    @property
    def service(self) -> TaskService: ...

    async def close(self) -> None:
        """End the service together with its box."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceBox:
    """A box with its services, in the order in which the services start."""

    name: str
    config: BoxConfig
    services: tuple[ServiceSpec, ...]
    loaded: Callable[[str], Awaitable[LoadedService | None]] | None = None
    """Function that returns the only service of the box if this service was started earlier in a box of the given kind,
    or None if the service must be started now.
    """


def service_boxes(served: Sequence[ServiceSpec], folder: Callable[[str], Path], label: str) -> tuple[ServiceBox, ...]:
    """Return the boxes that the services need. `folder` returns the path of a manifest's files. Raises ImageError, and
    the errors of `folder`.
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
