"""A request that a gateway does not serve."""

from __future__ import annotations


class Refusal(Exception):
    """A request that is not served. `status` is HTTP's, `kind` a word that dialects have for it."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind
