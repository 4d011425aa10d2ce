"""Views made in the background, each once: first those that somebody waits for, then those that open rounds will
show.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from worksample.app.prerendering.box_limit import BoxGate
from worksample.errors import RecordMissing, SandboxUnavailable, StoreFull, UsageError, WorksampleError
from worksample.models import Visibility
from worksample.people.judging.item import panes_of
from worksample.people.judging.withdrawn_items import WITHDRAWN
from worksample.people.rounds.queues import CLOSED, all_queues
from worksample.records import Instance, Round, digest_of
from worksample.results.grading_in_force import as_graded
from worksample.store.lease_owner import new_owner
from worksample.store.lease_renewal import renew_lease
from worksample.store.people_tables import items
from worksample.viewing import Converter, QueryResult, View, find_view, prepare, query

if TYPE_CHECKING:
    from worksample.app.config import AppConfig
    from worksample.records import Manifest
    from worksample.store import Store

LEASE_SECONDS = 60.0
AGAIN_SECONDS = 120.0
"""Seconds between two searches of open rounds for new items; failed folders are then tried again."""
REMEMBERED, REMEMBERED_SECONDS = 500, 60.0
OURS_SECONDS = 10.0
"""Seconds for which a view that failed by our fault is served before it is tried again."""
TRIES = 5
"""How often a folder is tried if its views fail by our fault."""
AT_ONCE = 64
"""Most views requested and not made yet."""
FAULTS = 50
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ViewPending:
    """A view that has been in the making for this many seconds."""

    seconds: float


@dataclass
class _Folder:
    """A manifest in the queue. `depth`: 1 for the content of a delivered archive."""

    digest: str
    depth: int = 0
    files: int = 0
    done: int = 0
    since: float = 0.0
    converter: Converter | None = None


class ViewPreparer:
    """Maker of views in a server process. At most `config.convert_parallel` boxes work in the background, and one more
    makes views that somebody waits for. Processes of one store do not make the same view twice.
    """

    def __init__(
        self, store: Store, config: AppConfig, *, converter: Callable[[Store, Manifest], Converter] | None = None
    ) -> None:
        """Create a preparer. `converter`: builds the converter of background work."""
        self._store = store
        self._converter = converter or partial(Converter, background=True)
        self._workers = max(1, config.convert_parallel)
        self._gate = BoxGate(self._workers)
        self._owner = new_owner()
        self._busy: Busy = {}
        self._asked: dict[Key, tuple[float, asyncio.Task[View]]] = {}
        self._recent: OrderedDict[Key, tuple[float, View]] = OrderedDict()
        self._queue: OrderedDict[str, _Folder] = OrderedDict()
        self._running: dict[str, _Folder] = {}
        self._finished: set[str] = set()
        self._items: set[str] = set()
        self._failed: dict[str, None] = {}
        self._tried: dict[str, int] = {}
        self._faults: deque[dict[str, Any]] = deque(maxlen=FAULTS)
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped = False

    # -- for the server

    async def start(self) -> None:
        """Start the background tasks."""
        self._stopped = False
        for work in (self._refill(), *(self._run_worker() for _ in range(self._workers))):
            self._tasks.add(asyncio.create_task(work))

    async def stop(self) -> None:
        """Stop all work; afterwards none of its boxes is left."""
        self._stopped = True
        tasks = [*self._tasks, *(task for _, task in self._asked.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()
        self._asked.clear()

    # -- views that somebody waits for

    async def view(self, manifest: str, path: str, *, wait: float = 1.0) -> View | ViewPending:
        """Return the view at a quoted path of a manifest (by digest), or ViewPending after `wait` seconds.

        The work continues after that. Requests for the same view share it. Raises UsageError if the manifest lacks the
        path, SandboxUnavailable, StoreError.
        """
        key = (manifest, path)
        found = self._find_recent(key) or await asyncio.to_thread(self._find_cached, key)
        if found is not None:
            return found
        if key not in self._asked:
            if self._stopped or len(self._asked) >= AT_ONCE:
                return ViewPending(0.0)
            self._asked[key] = (time.monotonic(), asyncio.create_task(self._make(key)))
            self._asked[key][1].add_done_callback(lambda task: self._record_result(key, task))
        since, task = self._asked[key]
        await asyncio.wait({task}, timeout=wait)
        if not task.done() or task.cancelled():
            return ViewPending(time.monotonic() - since)
        return task.result()

    async def query(self, manifest: str, path: str, sql: str) -> QueryResult:
        """Run one SELECT on a delivered database, when the gate admits it. Raises what `viewing.query` raises."""
        async with self._gate.urgent:
            return await query(self._store, await asyncio.to_thread(self._store.manifest, manifest), path, sql)

    def _find_recent(self, key: Key) -> View | None:
        at, view = self._recent.get(key, (0.0, None))
        seconds = OURS_SECONDS if view is not None and view.visibility.is_our_fault else REMEMBERED_SECONDS
        return view if view is not None and time.monotonic() - at < seconds else None

    def _remember(self, key: Key, view: View) -> None:
        """Cache a view in memory, even if it is not stored, so that repeated requests do not make it again."""
        self._recent[key] = (time.monotonic(), view)
        self._recent.move_to_end(key)
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    def _find_cached(self, key: Key) -> View | None:
        manifest = self._store.manifest(key[0])
        if manifest.find(key[1]) is None:
            raise UsageError(f"the submission has no file {key[1]!r}", next="choose one of the list of files")
        return find_view(self._store, manifest, *key)

    def _record_result(self, key: Key, task: asyncio.Task[View]) -> None:
        self._asked.pop(key, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._remember(key, task.result())
        else:
            self._note(error)

    async def _make(self, key: Key) -> View:
        manifest = await asyncio.to_thread(self._store.manifest, key[0])
        while True:
            if key in self._busy:
                await self._hurry(key)
                found = await asyncio.shield(self._busy[key])
                if found is not None:
                    return found
                continue
            async with self._exclusive_lease(f"view {digest_of(key)}") as alone:
                found = await asyncio.to_thread(self._find_cached, key)
                if found is not None:
                    return found
                if alone:
                    watch = BusyPaths(self._busy, key[0])
                    try:
                        turn = self._gate.urgent
                        made = await prepare(self._store, manifest, only={key[1]}, turn=turn, watch=watch)
                    finally:
                        watch.close()
                    if key[1] in made:
                        return made[key[1]]
            if not alone:
                await asyncio.sleep(0.5)

    async def _hurry(self, key: Key) -> None:
        """Give priority to a view in the background that somebody now waits for."""
        folder = self._running.get(key[0])
        if folder is not None and folder.converter is not None:
            await folder.converter.hurry(key[1])

    # -- views that open rounds will show

    def refresh(self) -> None:
        """Look for new items soon. Call this when a round has been opened."""
        self._wake.set()

    def add(self, manifests: Iterable[str], *, depth: int = 0) -> None:
        """Queue these manifests for background work."""
        for digest in manifests:
            if digest not in self._finished and digest not in self._running:
                self._queue.setdefault(digest, _Folder(digest, depth))

    def progress(self) -> dict[str, Any]:
        """Return counts of folders (`done`, `waiting`, `running`), of views that somebody waits for, and the last
        failures.
        """
        now = time.monotonic()
        running = [
            {"files": f.files, "done": f.done, "seconds": round(now - f.since, 1)} for f in self._running.values()
        ]
        return {
            "folders": len(self._finished) + len(self._queue) + len(self._running) + len(self._failed),
            "done": len(self._finished), "waiting": len(self._queue), "failed": len(self._failed),
            "running": running, "asked": len(self._asked), "boxes": self._gate.used, "faults": list(self._faults),
        }  # fmt: skip

    async def _refill(self) -> None:
        while True:
            found = await self._run_guarded(asyncio.to_thread(manifests_to_prepare, self._store, self._items))
            again, self._failed = list(self._failed), {}
            self.add([*(found or ()), *again])
            self._wake.clear()
            try:
                async with asyncio.timeout(AGAIN_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _run_worker(self) -> None:
        while True:
            if not self._queue:
                await asyncio.sleep(0.5)
                continue
            digest, folder = self._queue.popitem(last=False)
            folder.since = time.monotonic()
            self._running[digest] = folder
            try:
                done = await self._run_guarded(self._prepare(folder))
            finally:
                del self._running[digest]
            if done:
                self._finished.add(digest)
            else:
                self._failed[digest] = None

    async def _prepare(self, folder: _Folder) -> bool:
        """Make all views of a folder. Return False to try again later: another process makes them, or the platform
        failed.
        """
        async with self._exclusive_lease(f"prepare {folder.digest}") as alone:
            if not alone:
                return False
            manifest = await asyncio.to_thread(self._store.manifest, folder.digest)
            folder.files = len(manifest.entries)
            folder.converter = self._converter(self._store, manifest)
            watch, unpacked, ours = BusyPaths(self._busy, folder.digest), list[str](), list[str]()

            def note(path: str, view: View) -> None:
                folder.done += 1
                if view.visibility in (Visibility.STARVED, Visibility.CRASHED):
                    ours.append(path)
                if view.kind == "archive" and "unpacked" in view.files:
                    unpacked.append(view.files["unpacked"])

            try:
                turn, converter = self._gate.patient, folder.converter
                await prepare(self._store, manifest, turn=turn, watch=watch, on_done=note, converter=converter)
            finally:
                watch.close()
        if folder.depth == 0:
            # Nested archives are unpacked only when opened: nesting could be endless.
            self.add(unpacked, depth=1)
        tries = self._tried[folder.digest] = self._tried.get(folder.digest, 0) + 1
        return not ours or tries >= TRIES

    # -- both

    async def _run_guarded(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Return the result of the work; on failure record the error and return None, so that the worker goes on."""
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        error = task.exception()
        if error is None:
            return task.result()
        self._note(error)
        if isinstance(error, StoreFull | SandboxUnavailable):
            # The next folder would fail the same way.
            self._failed.update(dict.fromkeys(self._queue))
            self._queue.clear()
        return None

    def _note(self, error: BaseException) -> None:
        known = isinstance(error, WorksampleError)
        what = error.what if isinstance(error, WorksampleError) else f"{type(error).__name__}: {error}"
        _log.log(logging.WARNING if known else logging.ERROR, "preparing: %s", what, exc_info=None if known else error)
        missing = isinstance(error, RecordMissing)
        next = error.next if isinstance(error, WorksampleError) else ""
        self._faults.append({"what": what, "next": next, "at": time.time_ns() // 1000, "missing": missing})

    @asynccontextmanager
    async def _exclusive_lease(self, name: str) -> AsyncIterator[bool]:
        """Take a lease on this name. Yields whether this process got it."""
        lease = await asyncio.to_thread(self._store.take, name, self._owner, LEASE_SECONDS)
        if lease is None:
            yield False
            return
        renewing = asyncio.create_task(renew_lease(self._store, LEASE_SECONDS, lease))
        try:
            yield True
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await asyncio.to_thread(self._store.release, name, self._owner)


Key = tuple[str, str]
"""Manifest digest and quoted path."""
Busy = dict[Key, asyncio.Future[View | None]]
"""Views in the making. The future yields the view, or None if the file needs a box of its own later."""


@dataclass
class BusyPaths:
    """The paths of one manifest that a box is converting, so that other requests wait for its result."""

    busy: Busy
    manifest: str
    mine: set[Key] = field(default_factory=set)

    def begin(self, path: str) -> bool:
        key = (self.manifest, path)
        if key in self.busy:
            return False
        self.busy[key] = asyncio.get_running_loop().create_future()
        self.mine.add(key)
        return True

    def end(self, path: str, view: View | None) -> None:
        key = (self.manifest, path)
        self.mine.discard(key)
        self.busy.pop(key).set_result(view)

    def close(self) -> None:
        for _, path in list(self.mine):
            self.end(path, None)


def manifests_to_prepare(store: Store, known: set[str]) -> list[str]:
    """List the manifest digests of items not in `known`, in the order in which items are claimed.

    Adds the ids of these items to `known`. Raises StoreError.
    """
    out: dict[str, None] = {}
    with store.database.reading() as connection:
        queues = [queue for queue in all_queues(connection) if queue.state != CLOSED]
        rows = {
            queue.round: connection.execute(
                select(items).where(items.c.queue == queue.round, ~WITHDRAWN).order_by(items.c.place)
            ).all()
            for queue in queues
        }
    for queue in queues:
        for row in rows[queue.round]:
            if row.id in known:
                continue
            # Missing records are reported when the item is opened.
            with suppress(RecordMissing):
                instance = as_graded(store, store.get(Round, row.round), store.get(Instance, row.instance))
                panes = panes_of(store, queue, row, False, instance)
                out.update(dict.fromkeys(pane.manifest for pane in panes if pane.manifest))
            known.add(row.id)
    return list(out)
