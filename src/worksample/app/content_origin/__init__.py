"""The content origin: deliverables, each under a host name of its own, bound to one person's session."""

from __future__ import annotations

from .create import content_app

__all__ = ["content_app"]
