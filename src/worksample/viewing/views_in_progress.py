"""Who makes which view just now, so that no two make the same one."""

from __future__ import annotations

from typing import Protocol

from .views import View


class InProgress(Protocol):
    """Asked before a box looks at a file, and told when it has."""

    def begin(self, path: str) -> bool:
        """False where another makes this view: it is then left out."""
        ...

    def end(self, path: str, view: View | None) -> None:
        """None: it needs a box of its own and is begun again later. Not called where an exception ends the work."""
        ...


class _Alone:
    def begin(self, path: str) -> bool:
        return True

    def end(self, path: str, view: View | None) -> None:
        pass


ALONE: InProgress = _Alone()
"""Nobody else makes views."""
