"""Errors of work by people. The app maps each class to an HTTP status."""

from __future__ import annotations

from collections.abc import Mapping

from worksample.errors import FaultyRows, UsageError

__all__ = ["Conflict", "Denied", "FaultyRows", "InvalidAnswer", "NotReady", "NotYours"]


class Denied(UsageError):
    """Access was denied: not signed in, not allowed, or a bad token (wrong, used or expired). The text never says
    which.
    """


class NotYours(UsageError):
    """The person has no such item; the same error if the item does not exist."""


class Conflict(UsageError):
    """Somebody else was faster: a stale revision, a lease that passed on, an answer that is in already."""


class NotReady(UsageError):
    """The person must read the training page or pass the quiz first."""


class InvalidAnswer(UsageError):
    """An incomplete or invalid answer. `faults`: question -> what is wrong."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in faults.items()))
        self.faults = dict(faults)
