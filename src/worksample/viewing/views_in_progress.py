"""Coordination of concurrent conversions, so that no view is made twice."""

from __future__ import annotations

from typing import Protocol

from .views import View


class InProgress(Protocol):
    """A registry of views that are being made. It is asked before a box converts a file, and receives the resulting
    view.
    """

    def begin(self, path: str) -> bool:
        """Claim a view. Return False if another task already makes the view; the caller then leaves it out."""
        ...

    def end(self, path: str, view: View | None) -> None:
        """Report the finished view, or None if the file must be converted later in its own box. Not called if an
        exception ends the work.
        """
        ...


class _Alone:
    def begin(self, path: str) -> bool:
        return True

    def end(self, path: str, view: View | None) -> None:
        pass


ALONE: InProgress = _Alone()
"""Registry for a task that makes views alone, without other tasks."""
