"""Boxes by the name of their kind: each implementation is an entry point of the group `worksample.boxes`."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import EntryPoint, entry_points

from worksample.errors import SandboxError

from .config import BoxConfig
from .interface import Box

GROUP = "worksample.boxes"
"""An entry point's name is a kind of box; what it loads is a `Start`."""

Start = Callable[[BoxConfig], Awaitable[Box]]
"""A running box; raises SandboxError, SandboxUnavailable (with the line to type) when this machine gives none."""


@functools.cache
def _registered_kinds() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def installed_kinds() -> tuple[str, ...]:
    """The kinds of boxes that are installed."""
    return tuple(sorted(_registered_kinds()))


def open_box(config: BoxConfig, *, kind: str = "bubblewrap") -> AbstractAsyncContextManager[Box]:
    """A box for the length of an `async with`.

    `kind` is one of `kinds()`: "bubblewrap", or "none" for plain subprocesses without any protection. Raises
    SandboxError for a config that cannot be had, SandboxUnavailable (with the line to type) when there is no box here.
    """
    config.check()
    _entry_point(kind)
    return _open(config, kind)


@asynccontextmanager
async def _open(config: BoxConfig, kind: str) -> AsyncIterator[Box]:
    box = await start_box(config, kind)
    try:
        yield box
    finally:
        await box.close()


async def start_box(config: BoxConfig, kind: str = "bubblewrap") -> Box:
    """A box that the caller closes."""
    config.check()
    start: Start = _entry_point(kind).load()
    return await start(config)


def _entry_point(kind: str) -> EntryPoint:
    found = _registered_kinds()
    if kind not in found:
        known = ", ".join(sorted(found)) or "none: the package is not installed whole"
        raise SandboxError(f'"{kind}" is not a kind of box; there are {known}', where="box", next='use "bubblewrap"')
    return found[kind]
