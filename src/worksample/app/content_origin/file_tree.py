"""A manifest with agents' names removed from its paths, and the mapping back to the real paths."""

from __future__ import annotations

import gzip
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from worksample.people.judging.blinding import scrub
from worksample.records import Entry, EntryKind, Manifest

if TYPE_CHECKING:
    from worksample.store import Store

TREES = 64
"""Most trees kept in memory."""


@dataclass(frozen=True)
class FileTree:
    """A manifest's entries under the paths that readers see. `given`: real path -> shown path, if different; `real`:
    inverse.
    """

    digest: str
    manifest: Manifest
    hidden: tuple[str, ...]
    entries: dict[str, Entry]
    given: dict[str, str]
    real: dict[str, str]

    def find(self, path: str) -> Entry | None:
        """Find the entry at a quoted path, real or shown."""
        return self.entries.get(path) or self.entries.get(self.real.get(path, ""))

    def name(self, path: str) -> str:
        """Return the path under which readers see this real path."""
        return self.given.get(path, path)

    def folder(self, path: str) -> str | None:
        """Return the real path of a folder given by its real or shown path, "" for the root; None if there is none."""
        real = self.real.get(path, path)
        return real if real in self.folders else None

    @cached_property
    def folders(self) -> frozenset[str]:
        """Paths of folders with an entry, and of folders known only from paths of files."""
        out = {""} | {path for path, entry in self.entries.items() if entry.kind is EntryKind.FOLDER}
        for path in self.entries:
            while (path := path.rpartition("/")[0]) and path not in out:
                out.add(path)
        return frozenset(out)

    @cached_property
    def sites(self) -> tuple[str, ...]:
        """Folders that have an index page, outer folders first."""
        found = {
            p.rpartition("/")[0] for p in self.entries if p.rpartition("/")[2].lower() in ("index.html", "index.htm")
        }
        return tuple(sorted(found, key=lambda p: (p.count("/") + bool(p), p)))

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(path for path, entry in self.entries.items() if entry.blob is not None)

    @cached_property
    def gzipped_list(self) -> bytes:
        """Gzipped JSON of `/.worksample/files`."""
        rows = [
            {"path": self.name(e.path), "kind": e.kind.value, "size": e.size, "note": scrub(e.note, self.hidden)}
            for e in self.manifest.entries
        ]
        return gzip_json({"entries": rows, "total": len(rows), "bytes": self.manifest.size})


def gzip_json(plain: Any) -> bytes:
    return gzip.compress(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode(), 5, mtime=0)


class FileTreeCache:
    """The most recently used trees. Safe to use from several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[tuple[str, tuple[str, ...]], FileTree] = OrderedDict()
        self._lock = threading.Lock()

    def find_cached(self, digest: str, hidden: tuple[str, ...]) -> FileTree | None:
        with self._lock:
            return self._known.get((digest, hidden))

    def find(self, digest: str, hidden: tuple[str, ...]) -> FileTree:
        """Load the tree of a manifest digest. Raises RecordMissing, CaptureError."""
        found = self.find_cached(digest, hidden)
        if found is None:
            found = build(digest, self._store.manifest(digest), hidden)
            with self._lock:
                self._known[digest, hidden] = found
                while len(self._known) > TREES:
                    self._known.popitem(last=False)
        return found


def build(digest: str, manifest: Manifest, hidden: tuple[str, ...]) -> FileTree:
    entries = {entry.path: entry for entry in manifest.entries}
    given = scrub_paths(list(entries), hidden)
    return FileTree(digest, manifest, hidden, entries, given, {shown: path for path, shown in given.items()})


def scrub_paths(paths: list[str], hidden: tuple[str, ...]) -> dict[str, str]:
    """Return real path -> path without the hidden words, for each path and each of its folders that contains one.

    The result depends only on the paths and words. Names that become equal within a folder are numbered.
    """
    joined = "\n/\n".join(paths)
    if not hidden or scrub(joined, hidden) == joined:
        return {}
    steps: dict[str, str] = {}
    within: dict[str, dict[str, None]] = {}
    for path in sorted(paths):
        parent = ""
        for step in path.split("/"):
            within.setdefault(parent, {})[step] = None
            if step not in steps:
                steps[step] = scrub(step, hidden)
            parent = f"{parent}/{step}" if parent else step
    shown = {"": ""}
    for parent in sorted(within, key=lambda p: (p.count("/") + bool(p), p)):
        # Unchanged names keep priority over renamed ones.
        taken = {step for step in within[parent] if steps[step] == step}
        for step in within[parent]:
            name = step if steps[step] == step else _free(steps[step], taken)
            taken.add(name)
            real = f"{parent}/{step}" if parent else step
            shown[real] = f"{shown[parent]}/{name}" if parent else name
    return {real: name for real, name in shown.items() if real != name}


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    start, dot, ending = name.rpartition(".")
    stem, ending = (start, dot + ending) if start else (name, "")
    number = 2
    while f"{stem} ({number}){ending}" in taken:
        number += 1
    return f"{stem} ({number}){ending}"
