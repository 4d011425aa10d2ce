"""Bases of what comes in and what goes out."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=0, le=1e7, allow_inf_nan=False)]
"""Of somebody at work."""
Micros = int
"""Microseconds since 1970."""


class RequestBody(BaseModel):
    """A request's body: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _all_required(schema: dict[str, Any]) -> None:
    # Every field of an answer is always there, also one that has a default.
    schema["required"] = list(schema.get("properties", {}))


class ResponseBody(BaseModel):
    """An answer's body."""

    model_config = ConfigDict(frozen=True, json_schema_extra=_all_required)


class Problem(ResponseBody):
    """What went wrong."""

    kind: str
    what: str
    next: str = ""
    where: str = ""
    faults: dict[str, str] = {}
    """Question or field -> what is wrong with it."""


class Failed(ResponseBody):
    """The body of every answer of 400 and above."""

    error: Problem
