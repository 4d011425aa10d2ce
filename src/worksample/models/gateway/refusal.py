"""The error of a request that the model gateway does not serve."""

from __future__ import annotations


class Refusal(Exception):
    """A request that is not served. `status`: the HTTP status; `kind`: the dialects' word for the error."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind
