"""What evaluators are told: pages per form and one for training, as one version of a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import UsageError
from worksample.records import canonical, digest_bytes

from .forms import Form

if TYPE_CHECKING:
    from worksample.store import Store

PAGES = ("training", *Form)
_LARGEST = 200_000


@dataclass(frozen=True, slots=True)
class Instructions:
    """Markdown by page. `digest` names the whole, and the blob in which a store keeps it."""

    pages: Mapping[str, str]

    @property
    def digest(self) -> str:
        return digest_bytes(self._bytes())

    @property
    def version(self) -> str:
        """The digest's first 12 characters."""
        return self.digest[:12]

    def keep(self, store: Store) -> str:
        """Put it into the store; returns the digest."""
        return store.blobs.put(self._bytes())

    def _bytes(self) -> bytes:
        return canonical(dict(self.pages))


def shipped() -> Instructions:
    """The package's own, in its own words after RLI B.4 and UpBench A.4."""
    folder = files("worksample.people") / "instructions"
    return Instructions({page: (folder / f"{page}.md").read_text(encoding="utf-8") for page in PAGES})


def read_folder(folder: Path) -> Instructions:
    """Pages from `training.md`, `holistic.md` and so on; those that are not there are the shipped ones.

    UsageError where none is there, or one is not UTF-8 or over 200 kB.
    """
    pages = dict(shipped().pages)
    found = [page for page in PAGES if (folder / f"{page}.md").is_file()]
    if not found:
        raise UsageError("no page of instructions here", where=str(folder), next=f"write {PAGES[0]}.md")
    for page in found:
        data = (folder / f"{page}.md").read_bytes()
        try:
            pages[page] = data.decode("utf-8")
        except UnicodeDecodeError as e:
            raise UsageError("is not UTF-8", where=str(folder / f"{page}.md"), next="save it as UTF-8") from e
        if len(data) > _LARGEST:
            raise UsageError(f"is over {_LARGEST} bytes", where=str(folder / f"{page}.md"), next="shorten it")
    return Instructions(pages)


def read_kept(store: Store, digest: str) -> Instructions:
    """A version that a store keeps. RecordMissing."""
    return Instructions(json.loads(store.blobs.read(digest)))
