"""What pydantic finds wrong in a file, said as: where, what, and what is allowed there."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from worksample.errors import ManifestError


def manifest_error(error: ValidationError, model: type[BaseModel], where: str) -> ManifestError:
    """Every fault of a validation in one ManifestError; `where` is the file (or `command line`)."""
    faults = [_fault(dict(e), model) for e in error.errors(include_url=False)]
    first_key = _key(error.errors()[0]["loc"])
    return ManifestError(
        "; ".join(faults),
        where=f"{where}, key {first_key}" if first_key and len(faults) == 1 else where,
        next="see docs/settings.md for all keys and what they allow",
    )


def _fault(error: dict[str, Any], model: type[BaseModel]) -> str:
    loc: Sequence[int | str] = error["loc"]
    key = _key(loc)
    if error["type"] == "extra_forbidden":
        parent = _model_at(model, loc[:-1])
        allowed = sorted(parent.model_fields) if parent else []
        near = difflib.get_close_matches(str(loc[-1]), allowed, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        return f"{key}: unknown key{hint}; allowed: {', '.join(allowed)}"
    message = error["msg"].removeprefix("Value error, ").replace("Input should", "should").replace("Field r", "r")
    given = error.get("input")
    shown = f"; it is {given!r}" if error["type"] != "missing" and isinstance(given, str | int | float | bool) else ""
    return f"{key}: {message}{shown}" if key else message


def _key(loc: Sequence[int | str]) -> str:
    out = ""
    for step in loc:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else str(step)
    return out


def _model_at(model: type[BaseModel], loc: Sequence[int | str]) -> type[BaseModel] | None:
    """The model that a location leads to, through lists, mappings and optionals."""
    found: type[BaseModel] | None = model
    for step in loc:
        if found is None:
            return None
        field = found.model_fields.get(str(step))
        if field is not None:
            found = _model_in(field.annotation)
    return found


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None
