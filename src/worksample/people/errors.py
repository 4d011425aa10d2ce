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
    """Error of access to an item that the person does not have. The error is the same if the item does not exist."""


class Conflict(UsageError):
    """Error of a change that somebody else has overtaken: a stale revision, a lease that another person has taken, or
    an answer that is already submitted.
    """


class NotReady(UsageError):
    """Error of a person who must first read the training page or pass the quiz."""


class InvalidAnswer(UsageError):
    """Error of an answer that is incomplete or invalid. `faults` has the fault of each question."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in faults.items()))
        self.faults = dict(faults)
