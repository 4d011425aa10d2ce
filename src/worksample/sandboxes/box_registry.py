"""The registry of box kinds: each implementation is an entry point of the group `worksample.boxes`."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import EntryPoint, entry_points

from worksample.box.config import BoxConfig
from worksample.box.interface import Box
from worksample.errors import SandboxError

GROUP = "worksample.boxes"
"""Group of Python entry points for boxes: the name of an entry point is a kind of box, and the entry point loads a
`Start` function.
"""

Start = Callable[[BoxConfig], Awaitable[Box]]
"""Type of the async function that starts a box. Raises SandboxUnavailable, with the command to type, if this machine
cannot start a box of this kind; SandboxError for other failures.
"""


@functools.cache
def _registered_kinds() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def installed_kinds() -> tuple[str, ...]:
    """Return the kinds of boxes that are installed."""
    return tuple(sorted(_registered_kinds()))


def open_box(config: BoxConfig, *, kind: str = "bubblewrap") -> AbstractAsyncContextManager[Box]:
    """Return an async context manager that starts a box and closes it at the end of the `async with` block.

    `kind` is one of `installed_kinds()`: "bubblewrap", "docker", or "none" for plain subprocesses without protection.
    Raises SandboxError for an invalid config; SandboxUnavailable, with the command to type, if this machine cannot
    start a box.
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
    """Start a box. The caller must close the box. Raises the same errors as `open_box`."""
    config.check()
    start: Start = _entry_point(kind).load()
    return await start(config)


def _entry_point(kind: str) -> EntryPoint:
    found = _registered_kinds()
    if kind not in found:
        known = ", ".join(sorted(found)) or "none (the installation is incomplete)"
        raise SandboxError(f'"{kind}" is not a kind of box; there are {known}', where="box", next='use "bubblewrap"')
    return found[kind]
