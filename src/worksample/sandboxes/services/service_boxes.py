"""The boxes that services stand in: which share one, what it may use, what is mounted."""

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
"""Folder with a folder for each service of the box: what is taken when the trial ends."""
FILES = "/task/service"
"""Folder with what each service is given, read-only."""
SCRATCH = "/task/scratch"


class LoadedService(Protocol):
    """A service that is on its way, in a box of its own, and belongs to whoever was given it."""

    @property
    def service(self) -> TaskService: ...

    async def close(self) -> None:
        """End it, its box and what belongs to it."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceBox:
    """One box, and its services in the order in which they start."""

    name: str
    config: BoxConfig
    services: tuple[ServiceSpec, ...]
    loaded: Callable[[str], Awaitable[LoadedService | None]] | None = None
    """Gives its one service where somebody has loaded that ahead, in a box of this kind; None: it is to be started."""


def service_boxes(served: Sequence[ServiceSpec], folder: Callable[[str], Path], label: str) -> tuple[ServiceBox, ...]:
    """What has to be opened. `folder`: where the files of a manifest lie. Raises ImageError, and what `folder` does."""
    by_box: dict[str, list[ServiceSpec]] = {}
    for one in served:
        by_box.setdefault(one.box, []).append(one)
    return tuple(ServiceBox(name, _config(inside, folder, label), tuple(inside)) for name, inside in by_box.items())


def _config(inside: list[ServiceSpec], folder: Callable[[str], Path], label: str) -> BoxConfig:
    root = image_root(Environment(image=inside[0].image), folder)
    if root is not None:  # what it runs is what the manifest says
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
