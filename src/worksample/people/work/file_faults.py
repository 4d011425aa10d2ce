"""Whether the work itself is to blame that a person could not inspect it: told from how its files are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from worksample.models import Visibility
from worksample.records import EntryKind, Submission
from worksample.viewing import kept

if TYPE_CHECKING:
    from worksample.store import Store


def file_at_fault(store: Store, submissions: Iterable[str | None]) -> bool:
    """Whether a file of these submissions is itself damaged or empty, and none was kept from view for another reason.

    A view that is not kept, since the server was too busy or lacks a converter, is such a reason.
    """
    found = False
    for id in submissions:
        part = store.get(Submission, id).parts.get("output") if id is not None else None
        if part is None:
            continue
        manifest = store.manifest(part.manifest)
        for entry in manifest.entries:
            if entry.kind is EntryKind.FOLDER:
                continue
            view = kept(store, manifest, part.manifest, entry.path)
            if view is None or view.visibility.ours:
                return False
            found = found or view.visibility is Visibility.FILE or entry.size == 0
    return found
