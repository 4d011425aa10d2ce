"""What every kind of box has to do, as functions that raise AssertionError: `await CHECKS[name](box)`.

A new kind is registered as an entry point and run against all of them, each in a fresh box of `opened`:

    @pytest.mark.parametrize("name", CHECKS)
    async def test_it_is_a_box(name, tmp_path):
        async with opened("my-kind", tmp_path) as box:
            await CHECKS[name](box)

What a kind contains, and against whom, is not said here: `tests/sandboxes/attacks` tries that.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from worksample.box.config import BoxConfig, Mount, Root
from worksample.box.interface import Box
from worksample.box.registry import open_box

from . import commands, files, sockets, streams

BRIEF = b"Add the numbers."

CHECKS: dict[str, Callable[[Box], Awaitable[None]]] = {
    name: check
    for module in (commands, files, streams, sockets)
    for name, check in vars(module).items()
    if inspect.iscoroutinefunction(check) and check.__module__ == module.__name__ and not name.startswith("_")
}


@asynccontextmanager
async def open_conformance_box(kind: str, folder: Path, root: Root | None = None) -> AsyncIterator[Box]:
    """A box as the checks expect it; `folder` is an empty one of the host's. `root`: of an image with a `python3`."""
    (folder / "brief.md").write_bytes(BRIEF)
    config = BoxConfig(mounts=(Mount(str(folder), "/task/input"),), env=(("COLOUR", "green"),))
    if root is not None:
        config = replace(config, root=root, python="none")
    async with open_box(config, kind=kind) as box:
        yield box
