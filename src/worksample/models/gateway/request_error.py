"""The error of a request that the model gateway refuses."""

from __future__ import annotations


class Refusal(Exception):
    """Error for a request that the gateway refuses. `status` is the HTTP status. `kind` is the name that the dialects
    give the error.
    """

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind
