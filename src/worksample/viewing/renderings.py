"""How the files of a task will be shown, for `worksample task check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.models.exhibit import Visibility
from worksample.records import EntryKind, Manifest

from .view_builder import prepare

if TYPE_CHECKING:
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class Rendering:
    """One file.

    `path`: as quoted in the manifest; `inspectable` False: evaluators see too little of it; `visibility`: who is to
    blame for that.
    """

    path: str
    kind: str
    badge: str
    problem: str
    inspectable: bool
    visibility: Visibility = Visibility.SHOWN

    @property
    def says(self) -> str:
        """In one line."""
        badge = "" if self.badge == self.kind else f", {self.badge}"
        return f"{self.path}: shown as {self.kind}{badge}" + (f" ({self.problem})" if self.problem else "")


async def rendering(store: Store, manifest: Manifest, *, parallel: int = 2) -> tuple[Rendering, ...]:
    """Make the views of all files and say what they are, sorted by path.

    Raises what `prepare` does.
    """
    views = await prepare(store, manifest, parallel=parallel)
    files = {e.path for e in manifest.entries if e.kind is not EntryKind.FOLDER}
    return tuple(
        Rendering(path, v.kind, v.badge, v.problem, v.inspectable, v.visibility)
        for path, v in sorted(views.items())
        if path in files
    )
