"""The warm pool: it loads the programs of one workplace in a box before the workplace is needed.

Most of the time to start a workplace is spent on loading Redmine. If several workplaces are started one after the
other, the programs of the next workplace are loaded while the current workplace is in use. A warm workplace has never
answered a request and contains no company, account or password. It is taken only once and never returns to the pool.

A waiting workplace takes memory but no processor time, because its programs sleep. It is not frozen, because a frozen
process would survive a killed platform.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.errors import SandboxError
from worksample.records import ServiceSpec
from worksample.sandboxes import start_box
from worksample.sandboxes.cancellation_shield import to_the_end
from worksample.sandboxes.host_state import BoxFolder
from worksample.sandboxes.services.task_service import TaskService
from worksample.tasks.workplace_settings import PORTS

from .services_box import SEED, SETUP, SUPERVISOR, box_config, warm_spec

OFF = "WORKSAMPLE_SPARE_WORKPLACE"
"""Name of an environment variable. The value 0 disables the warm pool, so that every workplace is started from
scratch.
"""
SLOW = "tracker"
"""Name of the service whose programs take seconds to load. A workplace without this service gains nothing from the warm
pool.
"""
LABEL = "spare workplace"
HINT = f"export {OFF}=0"


@dataclass(frozen=True, slots=True)
class WarmWorkplace:
    """A workplace whose programs are loaded and that waits to be used. After `begin`, it is an ordinary running
    workplace.
    """

    service: TaskService
    names: frozenset[str]
    kind: str
    folder: BoxFolder
    """Folder on the host that is mounted read-only in the workplace's box. Through it the box receives files."""

    async def begin(self, spec: ServiceSpec, given: Mapping[str, Path]) -> None:
        """Continue as if the workplace had been started with `spec`. `given` contains folders by their path in the box.
        Raises SandboxError.
        """
        await asyncio.to_thread(self._fill_folders, given)
        self.service.spec = spec
        said = {"argv": spec.argv[len(SUPERVISOR) :], "env": dict(spec.env)}
        try:
            await self.service.write_line(json.dumps(said).encode() + b"\n")
        except BrokenPipeError:
            raise SandboxError("the preloaded programs of the warm pool have ended", where=LABEL, next=HINT) from None

    def _fill_folders(self, given: Mapping[str, Path]) -> None:
        try:
            for place, source in given.items():
                link_tree(source, self.folder.path / Path(place).name)
        except OSError as error:
            raise SandboxError(
                f"{error.filename} cannot be copied into the warm pool's box: {error.strerror}", where=LABEL, next=HINT
            ) from None

    async def close(self) -> None:
        """End the workplace and its box."""
        await self.service.close()
        await self.service.box.close()
        await asyncio.to_thread(self.folder.remove)


@dataclass
class WarmPool:
    """The warm workplaces for a piece of work that starts several workplaces."""

    expected: int
    note: Callable[[str], None]
    load: Callable[[str, frozenset[str]], Coroutine[Any, Any, WarmWorkplace]]
    _next: asyncio.Task[WarmWorkplace] | None = None
    _names: frozenset[str] = frozenset()
    """Names of the services that any workplace has needed so far. A warm workplace loads the programs of all of
    them.
    """
    _left: list[asyncio.Task[WarmWorkplace]] = field(default_factory=list)
    """Workplaces that are still being loaded although their takers no longer wait for them."""
    _given_up: bool = False

    async def take(
        self, kind: str, names: frozenset[str], spec: ServiceSpec, given: Mapping[str, Path]
    ) -> WarmWorkplace | None:
        """Return a warm workplace that has begun with `spec`, or None if the caller must start a workplace from
        scratch.
        """
        self.expected -= 1
        self._names |= names
        loading, self._next = self._next, None
        if self.expected > 0:
            # In a context of its own, since it does not belong to the current workplace's work.
            self._next = asyncio.create_task(self.load(kind, self._names), context=contextvars.Context())
        spare = await self._wait_for(loading) if loading is not None else None
        if spare is None:
            return None
        begun = False
        try:
            if spare.service.ended.done():
                raise SandboxError(spare.service.ended.result().how, where=LABEL, next=HINT)
            if spare.kind == kind and spare.names >= names:
                await spare.begin(spec, given)
                begun = True
        except SandboxError as error:
            self._give_up(error)
        finally:
            if not begun:
                await to_the_end(spare.close())
        return spare if begun else None

    async def _wait_for(self, loading: asyncio.Task[WarmWorkplace]) -> WarmWorkplace | None:
        """Wait until a workplace is loaded and return it. This takes no longer than a start from scratch, because the
        loading began earlier.
        """
        try:
            await asyncio.wait({loading})
        except asyncio.CancelledError:
            self._left.append(loading)
            raise
        try:
            return loading.result()
        except SandboxError as error:
            self._give_up(error)
            return None

    def _give_up(self, error: SandboxError) -> None:
        if not self._given_up:
            self._given_up, self.expected = True, 0
            self.note(f"workplaces are started from scratch from now on: {error}")

    async def close(self) -> None:
        """Close the warm workplaces that nobody has taken."""
        ending = [*self._left, *([self._next] if self._next is not None else [])]
        self._next, self._left = None, []
        for task in ending:
            task.cancel()
        for one in await asyncio.gather(*ending, return_exceptions=True):
            if isinstance(one, WarmWorkplace):
                await one.close()


_SPARES: contextvars.ContextVar[WarmPool | None] = contextvars.ContextVar("spare workplaces", default=None)


@contextlib.asynccontextmanager
async def warm_pool(expected: int, note: Callable[[str], None] = lambda text: None) -> AsyncIterator[WarmPool | None]:
    """Yield a warm pool during the `async with` block. It loads the programs of the next workplace while `expected`
    workplaces are started. `note` is called if the loading fails.

    Yield None if only one workplace is expected, if the pool is disabled, or if another warm pool is already open and
    does the loading.
    """
    if expected < 2 or os.environ.get(OFF) == "0" or _SPARES.get() is not None:
        yield None
        return
    kept = WarmPool(expected, note, load_workplace)
    token = _SPARES.set(kept)
    try:
        yield kept
    finally:
        _SPARES.reset(token)
        await to_the_end(kept.close())


def current_pool() -> WarmPool | None:
    """Return the warm pool in which the caller runs, or None."""
    return _SPARES.get()


async def load_workplace(kind: str, names: frozenset[str]) -> WarmWorkplace:
    """Start a workplace that loads the programs of these services, and return without waiting for the loading. Raises
    SandboxError.
    """
    folder = await asyncio.to_thread(_folder)
    box, done = None, False
    try:
        given = {place: folder.path / Path(place).name for place in (SEED, SETUP)}
        ordered = tuple(name for name in PORTS if name in names)
        box = await start_box(box_config(ordered, given, LABEL), kind)
        spare = WarmWorkplace(await TaskService.begin(warm_spec(ordered), box), names, kind, folder)
        done = True
    finally:
        if not done:
            if box is not None:
                await to_the_end(box.close())
            await asyncio.to_thread(folder.remove)
    return spare


def _folder() -> BoxFolder:
    folder = BoxFolder(LABEL)
    for place in (SEED, SETUP):
        (folder.path / Path(place).name).mkdir()
        (folder.path / Path(place).name).chmod(0o755)  # whatever our umask: the box runs as another user
    return folder


def link_tree(source: Path, target: Path) -> None:
    """Copy a folder, with hard links if both folders are on one disk. The box can only read the files. Raises
    OSError.
    """
    with os.scandir(source) as entries:
        for entry in entries:
            to = target / entry.name
            if entry.is_dir(follow_symlinks=False):
                to.mkdir()
                to.chmod(0o755)
                link_tree(Path(entry.path), to)
            elif entry.is_file(follow_symlinks=False):
                try:
                    os.link(entry.path, to)
                except OSError:  # another disk, or another account's file
                    to.write_bytes(Path(entry.path).read_bytes())
                    to.chmod(0o755 if entry.stat().st_mode & 0o100 else 0o644)
