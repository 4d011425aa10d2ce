"""Functions that build views, of one file or of all files of a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from worksample.errors import CaptureError, UsageError
from worksample.models.judge_exhibit import Visibility
from worksample.records import Entry, EntryKind, Manifest
from worksample.store import put_canonical
from worksample.viewing import converter_requirements as needs
from worksample.viewing.box_converter import BATCH, ConversionResult, Converter
from worksample.viewing.in_box.blind_copy import KEEPS, SCRUBBERS
from worksample.viewing.view_cache import ViewCache, key
from worksample.viewing.views import View, card, resolve_beside, with_blame
from worksample.viewing.views_in_progress import ALONE, InProgress

if TYPE_CHECKING:
    from worksample.store import Store

NAMED = 10
"""Maximum files that an error suggests for a wrong path."""
BESIDE = 500
"""Maximum other files to which a view may refer."""
_LEAKS = {"leaks": ["what it says of its maker was not removed"]}


async def view(store: Store, manifest: Manifest, path: str, *, converter: Converter | None = None) -> View:
    """Return the view of the file at a quoted path, from the cache or newly made.

    The content of a file raises no error; if it cannot be shown, the view is a card with a problem. Raises UsageError
    if the manifest lacks the path; SandboxUnavailable if this machine cannot start a box; StoreError if the store
    fails.
    """
    entry = manifest.find(path)
    if entry is None:
        names = ", ".join(one.path for one in manifest.files[:NAMED])
        raise UsageError(f"the manifest has no {path!r}", next=f"one of {names}" if names else "it holds no file")
    work = _ViewBuild(converter or Converter(store, manifest))
    return (await work.run([entry], turn=asyncio.Semaphore(1), on_done=lambda path, view: None))[path]


def find_view(store: Store, manifest: Manifest, digest: str, path: str) -> View | None:
    """Return the view if it can be found without starting a box. Return None if it must be made, or if the manifest
    lacks the path.

    `digest` is the digest of the manifest, which is slow to compute. Raises StoreError.
    """
    entry = manifest.find(path)
    return None if entry is None else _without_content(entry) or ViewCache(store).find(key(digest, entry))


async def prepare(
    store: Store,
    manifest: Manifest,
    *,
    parallel: int = 2,
    on_done: Callable[[str, View], None] | None = None,
    converter: Converter | None = None,
    only: Collection[str] | None = None,
    turn: AbstractAsyncContextManager[None] | None = None,
    watch: InProgress = ALONE,
) -> dict[str, View]:
    """Return the views of all entries by quoted path, with at most `parallel` boxes at once. Raises what `view` raises.

    `only`: these paths. `turn`: context entered for each box, in place of `parallel`. `watch`: skips paths that it does
    not let begin.
    """
    work = _ViewBuild(converter or Converter(store, manifest), watch=watch)
    entries = manifest.entries if only is None else [e for e in manifest.entries if e.path in only]
    turn = turn or asyncio.Semaphore(max(1, parallel))
    return await work.run(entries, turn=turn, on_done=on_done or (lambda path, view: None))


@dataclass
class _ViewBuild:
    converter: Converter
    done: dict[str, View] = field(default_factory=dict)
    watch: InProgress = ALONE

    @property
    def store(self) -> Store:
        return self.converter.store

    @property
    def manifest(self) -> Manifest:
        return self.converter.manifest

    @cached_property
    def digest(self) -> str:
        return self.manifest.digest

    @cached_property
    def files(self) -> frozenset[str]:
        """Quoted paths of the captured files."""
        return frozenset(e.path for e in self.manifest.files if e.blob is not None)

    async def run(
        self,
        entries: Sequence[Entry],
        *,
        turn: AbstractAsyncContextManager[None],
        on_done: Callable[[str, View], None],
    ) -> dict[str, View]:
        cache = ViewCache(self.store)
        open_ = await asyncio.to_thread(self._fill_from_cache, cache, entries)
        for path, found in self.done.copy().items():
            on_done(path, found)
        if not open_:
            return self.done
        try:
            config = await asyncio.to_thread(self.converter.config)
        except CaptureError as error:
            return self.done | {
                e.path: card(f"the folder cannot be laid out: {error.what}", Visibility.CRASHED) for e in open_
            }

        async def keep(entry: Entry, raw: ConversionResult) -> None:
            shown, by, seconds = self._view_of_result(entry, raw)
            if seconds != 0:
                await asyncio.to_thread(cache.put, key(self.digest, entry), shown, by, seconds)
            self.done[entry.path] = shown
            self.watch.end(entry.path, shown)
            on_done(entry.path, shown)

        async def single(entry: Entry, family: str) -> None:
            async with turn:
                if not self.watch.begin(entry.path):
                    return
                raw = await self.converter.convert_file(config, entry, family)
                # The blind copy may have caused the crash: try without it.
                if raw.fault and raw.again:
                    raw = await self.converter.convert_file(config, entry, family, plain=not raw.lost)
                await keep(entry, raw)

        async def batch(some: Sequence[Entry]) -> None:
            async with turn:
                some = [entry for entry in some if self.watch.begin(entry.path)]
                found = await self.converter.convert_light_files(config, some) if some else {}
                later = {}
                for number, entry in enumerate(some):
                    raw = found.get(number)
                    if raw is None or set(raw.plain or {}) == {"family"}:
                        later[entry] = raw.family if raw is not None else _likely_family(entry)
                        self.watch.end(entry.path, None)
                    else:
                        await keep(entry, raw)
            await _gather(single(entry, family) for entry, family in later.items())

        await _gather(batch(open_[i : i + BATCH]) for i in range(0, len(open_), BATCH))
        return self.done

    def _fill_from_cache(self, cache: ViewCache, entries: Sequence[Entry]) -> list[Entry]:
        """Fill `done` with views that need no box. Return the remaining entries."""
        left = []
        for entry in entries:
            found = _without_content(entry) or cache.find(key(self.digest, entry))
            if found is None:
                left.append(entry)
            else:
                self.done[entry.path] = found
        return left

    def _view_of_result(self, entry: Entry, raw: ConversionResult) -> tuple[View, str, float | None]:
        """Build the view of a conversion. Also return its maker and the seconds that it is cached (None: no limit)."""
        plain = raw.plain or {}
        about: dict[str, Any] = {"size": entry.size, "sha256": entry.blob, "type": raw.family}
        if raw.family in SCRUBBERS or raw.family in KEEPS:
            about |= _LEAKS
        if "missing" in plain:
            name = str(plain["missing"])
            need = needs.NEEDS.get(name)
            if need is not None and not needs.missing((name,)):
                said = f"its converter says that {need.title} is missing, which is on this server"
                return card(said, Visibility.CRASHED, source=entry.blob, meta=about), "", 0.0
            line = f"; to see it: {need.line}" if need else ""
            problem = f"{need.title if need else name[:60]} is missing on the server{line}"
            return card(problem, Visibility.MISSING, source=entry.blob, meta=about | {"missing": name[:60]}), "", 0.0
        if {"unreadable", "broken"} & set(plain) or raw.fault or not plain:
            said = str(plain.get("unreadable") or plain.get("broken") or raw.fault or "its converter said nothing")
            head = {"head": str(plain["head"])[:512]} if "head" in plain else {}
            blame = Visibility.FILE if "unreadable" in plain else raw.blame
            kept = 0.0 if blame.is_our_fault else raw.kept
            return card(said, blame, source=entry.blob, meta=about | head), "", kept
        try:
            made = self._converted_view(entry, raw, plain)
            return made, str(plain.get("by", "")), 0.0 if made.visibility.is_our_fault else None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # A malicious file may have taken over the converter, so check its answer.
            said = f"its converter's answer is not a view: {str(error)[:200]}"
            return card(said, Visibility.FILE, source=entry.blob, meta=about), "", None

    def _converted_view(self, entry: Entry, raw: ConversionResult, plain: dict[str, Any]) -> View:
        files = {"source": entry.blob} if entry.blob else {}
        for name, place in plain["files"].items():
            files[str(name)] = raw.files[str(place)]
        meta = dict(plain["meta"])
        by = str(plain["by"])
        if raw.manifest.entries:
            files["unpacked"] = put_canonical(self.store.blobs, raw.manifest.plain())
        wanted = list(dict.fromkeys(str(n) for n in plain["beside"]))[:BESIDE]
        if wanted:
            found = {name: resolve_beside(self.files, entry.path, name) for name in wanted}
            meta["beside"] = {name: place for name, place in found.items() if place}
            meta["absent"] = [name for name, place in found.items() if not place]
        blame = Visibility(plain["lacks"] or ("shown" if plain["inspectable"] else "file"))
        return View.from_plain(
            {
                "kind": plain["kind"],
                "badge": _badge(str(plain["badge"]), by),
                "files": files,
                "meta": meta,
                "problem": with_blame(str(plain["problem"]), blame),
                "inspectable": plain["inspectable"],
                "visibility": blame,
            }
        )


async def _gather(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all coroutines at once. The first exception cancels the others and is raised unchanged."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _badge(badge: str, by: str) -> str:
    if badge in ("native", "thumbnail only", "card"):
        return badge
    return f"converted ({needs.name_with_version(by)})" if by in needs.NEEDS else "native"


def _likely_family(entry: Entry) -> str:
    """Return the likely family of a file whose batch failed before detection: text, as most files are."""
    return "text" if entry.size < 4 << 20 else ""


def _without_content(entry: Entry) -> View | None:
    """Return the view of an entry that is not a file or was not captured. Return None for other entries."""
    if entry.kind is EntryKind.LINK:
        return card(
            "a link, which is not followed",
            Visibility.FILE,
            meta={"type": "link", "target": (entry.target or "")[:1000]},
        )
    if entry.kind is EntryKind.FOLDER:
        return card("a folder", Visibility.FILE, meta={"type": "folder"})
    if entry.kind is EntryKind.OTHER:
        return card("no file: a device, a socket or a pipe", Visibility.FILE, meta={"type": "other"})
    if entry.blob is None:
        return card(
            f"its content was not taken in: {entry.note}", Visibility.FILE, meta={"type": "file", "size": entry.size}
        )
    return None


@dataclass(frozen=True, slots=True)
class Rendering:
    """Preview of how a file will be shown, for `worksample task check`.

    `path` is quoted as in the manifest. `inspectable` is false if evaluators see too little of the file. `visibility`
    names the party to blame for that.
    """

    path: str
    kind: str
    badge: str
    problem: str
    inspectable: bool
    visibility: Visibility = Visibility.SHOWN

    @property
    def description(self) -> str:
        """Description in one line."""
        badge = "" if self.badge == self.kind else f", {self.badge}"
        return f"{self.path}: shown as {self.kind}{badge}" + (f" ({self.problem})" if self.problem else "")


async def renderings_of(store: Store, manifest: Manifest, *, parallel: int = 2) -> tuple[Rendering, ...]:
    """Make the views of all files and describe them, sorted by path.

    Raises what `prepare` raises.
    """
    views = await prepare(store, manifest, parallel=parallel)
    files = {e.path for e in manifest.entries if e.kind is not EntryKind.FOLDER}
    return tuple(
        Rendering(path, v.kind, v.badge, v.problem, v.inspectable, v.visibility)
        for path, v in sorted(views.items())
        if path in files
    )
