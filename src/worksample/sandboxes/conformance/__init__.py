"""Checks that every kind of box must pass. Each check is a function that raises AssertionError: `await
CHECKS[name](box)`.

A new kind is registered as an entry point and then tested with all checks, each in a new box:

    @pytest.mark.parametrize("name", CHECKS)
    async def test_box_fulfils_the_interface(name, tmp_path):
        async with open_conformance_box("my-kind", tmp_path) as box:
            await CHECKS[name](box)

The checks do not test isolation; the tests in `tests/sandboxes/attacks` do.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from worksample.box.config import BoxConfig, Mount, Root
from worksample.box.interface import Box
from worksample.sandboxes.box_registry import open_box

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
    """Open a box with the settings that the checks expect. `folder` is an empty folder of the host. `root` is the root
    of an image that contains `python3`.
    """
    (folder / "brief.md").write_bytes(BRIEF)
    config = BoxConfig(mounts=(Mount(str(folder), "/task/input"),), env=(("COLOUR", "green"),))
    if root is not None:
        config = replace(config, root=root, python="none")
    async with open_box(config, kind=kind) as box:
        yield box
