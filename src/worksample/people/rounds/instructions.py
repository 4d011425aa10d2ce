"""Instructions for evaluators: a page per form and one for training, versioned together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import UsageError
from worksample.records import canonical, digest_bytes

from .judging_forms import Form

if TYPE_CHECKING:
    from worksample.store import Store

PAGES = ("training", *Form)
_LARGEST = 200_000


@dataclass(frozen=True, slots=True)
class Instructions:
    """Markdown by page. `digest` identifies the version and its blob in a store."""

    pages: Mapping[str, str]

    @property
    def digest(self) -> str:
        return digest_bytes(self._bytes())

    @property
    def version(self) -> str:
        """The first 12 characters of the digest."""
        return self.digest[:12]

    def keep(self, store: Store) -> str:
        """Store the instructions and return the digest."""
        return store.blobs.put(self._bytes())

    def _bytes(self) -> bytes:
        return canonical(dict(self.pages))


def shipped_instructions() -> Instructions:
    """Return the package's instructions, written after RLI B.4 and UpBench A.4."""
    folder = files("worksample.people") / "instructions"
    return Instructions({page: (folder / f"{page}.md").read_text(encoding="utf-8") for page in PAGES})


def read_instructions(folder: Path) -> Instructions:
    """Read pages from `training.md`, `holistic.md` and so on; missing pages are the package's.

    Raises UsageError if the folder has none, or one is not UTF-8 or above 200 kB.
    """
    pages = dict(shipped_instructions().pages)
    found = [page for page in PAGES if (folder / f"{page}.md").is_file()]
    if not found:
        raise UsageError("the folder of instructions has no page", where=str(folder), next=f"write {PAGES[0]}.md")
    for page in found:
        data = (folder / f"{page}.md").read_bytes()
        try:
            pages[page] = data.decode("utf-8")
        except UnicodeDecodeError as e:
            raise UsageError(
                "the page is not UTF-8 text", where=str(folder / f"{page}.md"), next="save it as UTF-8"
            ) from e
        if len(data) > _LARGEST:
            raise UsageError(
                f"the page is larger than {_LARGEST} bytes", where=str(folder / f"{page}.md"), next="shorten it"
            )
    return Instructions(pages)


def read_stored_instructions(store: Store, digest: str) -> Instructions:
    """Load a version from a store. Raises RecordMissing."""
    return Instructions(json.loads(store.blobs.read(digest)))
