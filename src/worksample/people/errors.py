"""What people's work refuses, each kind its own: the app answers 400, 403, 404 and 409 by them."""

from __future__ import annotations

from collections.abc import Mapping

from worksample.errors import FaultyRows, UsageError

__all__ = ["Conflict", "Denied", "FaultyRows", "InvalidAnswer", "NotReady", "NotYours"]


class Denied(UsageError):
    """Not signed in, not allowed, or a token that is wrong, used or expired. Never says which."""


class NotYours(UsageError):
    """No such item among this person's own; the same for one that does not exist."""


class Conflict(UsageError):
    """Another was faster: a stale revision, a lease that passed on, an answer that is in already."""


class NotReady(UsageError):
    """The person has to read the training page or pass the quiz first."""


class InvalidAnswer(UsageError):
    """An answer that is incomplete or wrong. `faults`: question -> what is wrong with its answer."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in faults.items()))
        self.faults = dict(faults)
