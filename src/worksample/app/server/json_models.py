"""Base classes of the API's requests and responses, and its error body."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False)]
"""Seconds of a person's work."""
Micros = int
"""Microseconds since 1970."""


class RequestBody(BaseModel):
    """Base of a request's body. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _require_all(schema: dict[str, Any]) -> None:
    # Responses always contain all fields, including those with defaults.
    schema["required"] = list(schema.get("properties", {}))


class ResponseBody(BaseModel):
    """Base of a response's body."""

    model_config = ConfigDict(frozen=True, json_schema_extra=_require_all)


class Problem(ResponseBody):
    """An error with its place and the next step."""

    kind: str
    what: str
    next: str = ""
    where: str = ""
    faults: dict[str, str] = {}
    """Question or field -> what is wrong with it."""


class Failed(ResponseBody):
    """The body of every response with status 400 or above."""

    error: Problem
