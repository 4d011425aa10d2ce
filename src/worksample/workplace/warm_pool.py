"""The warm pool: a workplace's programs, loaded in a box before a start needs them, one at a time.

Loading Redmine is most of a start. If several workplaces are started one after the other, the next one's programs are
loaded while the current one is in use. A warm workplace has never answered anybody and knows no company, account or
password; it is taken once and ends with the workplace that took it. While it waits it takes memory but no processor
time, since its programs sleep. It is not frozen, because a frozen process would survive a killed platform.
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
"""Environment variable; 0 disables the warm pool, so that every workplace is started from scratch."""
SLOW = "tracker"
"""Service whose programs take seconds to load; workplaces without it start as fast from scratch."""
LABEL = "spare workplace"
HINT = f"export {OFF}=0"


@dataclass(frozen=True, slots=True)
class WarmWorkplace:
    """A waiting workplace, and later the one that it became."""

    service: TaskService
    names: frozenset[str]
    kind: str
    folder: BoxFolder
    """Folder on the host through which its box receives files, read-only."""

    async def begin(self, spec: ServiceSpec, given: Mapping[str, Path]) -> None:
        """Continue as if started by `spec`. `given`: folders by their path in the box. Raises SandboxError."""
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
        """See LoadedService."""
        await self.service.close()
        await self.service.box.close()
        await asyncio.to_thread(self.folder.remove)


@dataclass
class WarmPool:
    """The warm workplaces of a piece of work that still has to start so many."""

    expected: int
    note: Callable[[str], None]
    load: Callable[[str, frozenset[str]], Coroutine[Any, Any, WarmWorkplace]]
    _next: asyncio.Task[WarmWorkplace] | None = None
    _names: frozenset[str] = frozenset()
    """Services that some workplace needed so far; a warm one loads the programs of all of them."""
    _left: list[asyncio.Task[WarmWorkplace]] = field(default_factory=list)
    """Workplaces whose takers gave up while they were loaded."""
    _given_up: bool = False

    async def take(
        self, kind: str, names: frozenset[str], spec: ServiceSpec, given: Mapping[str, Path]
    ) -> WarmWorkplace | None:
        """Return a workplace that has begun as `spec` says; None if one must be started from scratch."""
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
        """Return the loading workplace; that takes no longer than a start from scratch, since it was begun earlier."""
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
        """Close the workplaces that nobody took."""
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
    """Load the next workplace's programs ahead while so many are started. `note`: called if that fails.

    Yields None if only one is expected, if disabled, or within another warm pool, which then does the loading.
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
    """Return the warm pool of the caller's work."""
    return _SPARES.get()


async def load_workplace(kind: str, names: frozenset[str]) -> WarmWorkplace:
    """Start a workplace with the programs of these services; it goes on loading by itself. Raises SandboxError."""
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
    """Copy a folder, by hard links if both lie on one disk; the box sees the files read-only. Raises OSError."""
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
