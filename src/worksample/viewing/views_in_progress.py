"""Coordination of concurrent conversions, so that no view is made twice."""

from __future__ import annotations

from typing import Protocol

from .views import View


class InProgress(Protocol):
    """A registry of views in the making: asked before a box converts a file, and told the result."""

    def begin(self, path: str) -> bool:
        """Claim a view. Return False if another task makes it; the caller then leaves it out."""
        ...

    def end(self, path: str, view: View | None) -> None:
        """Report the view; None if the file needs its own box later. Not called if an exception ends the work."""
        ...


class _Alone:
    def begin(self, path: str) -> bool:
        return True

    def end(self, path: str, view: View | None) -> None:
        pass


ALONE: InProgress = _Alone()
"""Registry for a single maker of views."""
