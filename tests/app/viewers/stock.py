"""One store for a whole test run: its processes share it, and each view is made by the first that needs it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from running.profiles import is_quick_run
from running.sharing import alone
from viewing import material
from worksample.app.content_origin.capability_hosts import Capabilities
from worksample.people import People
from worksample.people.clock import now_in_microseconds
from worksample.records import Entry, Manifest
from worksample.store import Store, put_canonical
from worksample.viewing import prepare

Making = Callable[[Path], Mapping[str, bytes | str]]
"""Files by quoted path; the folder is for what programs need while they make them."""


DEAR = ("cad", "media", "office")
"""Each of these files takes its converter seconds, and the quick profile shows few of them."""


@dataclass(frozen=True)
class Folder:
    """A folder of samples in the store, and the label that opens it to a person who is signed in."""

    stock: Stock
    manifest: Manifest
    label: str
    together: bool = True
    """The views of one folder of samples are made together, which is quicker than one by one."""
    _ready: set[str] = field(default_factory=set, init=False)

    def ready(self, path: str) -> None:
        """Its view is in the store afterwards, so no test waits for a converter."""
        top = path.partition("/")[0]
        start = f"{top}/" if self.together and "/" in path and not (is_quick_run() and top in DEAR) else path
        if start in self._ready or self.manifest.find(path) is None:
            return
        only = {e.path for e in self.manifest.entries if e.path == path or (start != path and e.path.startswith(start))}
        with alone(self.stock.place / "lock"), ThreadPoolExecutor(1) as thread:
            # In a thread of its own: this one may have a loop already.
            thread.submit(lambda: asyncio.run(prepare(self.stock.store, self.manifest, only=only))).result()
        self._ready.add(start)

    def source(self, path: str) -> bytes:
        """A file as it was taken in."""
        entry = self.manifest.find(path)
        assert isinstance(entry, Entry) and entry.blob is not None, path
        return self.stock.store.blobs.read(entry.blob)


@dataclass(frozen=True)
class Stock:
    """A store in a folder that processes share."""

    place: Path
    store: Store
    token: str
    account: str

    @classmethod
    @contextmanager
    def opened(cls, place: Path) -> Iterator[Stock]:
        place.mkdir(exist_ok=True)
        with alone(place / "lock"):
            store = Store.open(place / "store", create=not (place / "store").exists())
        people = People(store)
        name = f"Ada {os.getpid()}"
        account = people.accounts.create(name, ["evaluator"])
        yield cls(place, store, people.accounts.redeem(people.accounts.one_time_link(name)), account.id)
        store.close()

    def folder(self, name: str, making: Making, *, together: bool = True) -> Folder:
        """The samples of this name, made and taken in by whoever comes first."""
        known = self.place / f"{name}.digest"
        with alone(self.place / "lock"):
            if not known.exists():
                scratch = self.place / f"{name}-scratch"
                scratch.mkdir(exist_ok=True)
                taken = material.take(self.store, self.place / name, making(scratch))
                self.store.blobs.flush()
                known.write_text(put_canonical(self.store.blobs, taken.plain()))
        digest = known.read_text()
        manifest = self.store.manifest(digest)
        label = Capabilities(self.store, now_in_microseconds).mint_all(
            self.token, self.account, "item", {"AD-1": digest}
        )["AD-1"]
        return Folder(self, manifest, label, together)
