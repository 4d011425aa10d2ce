"""What pydantic finds wrong in a file, said as: where, what, and what is allowed there."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from worksample.errors import ManifestError


def manifest_error(error: ValidationError, model: type[BaseModel], where: str) -> ManifestError:
    """Every fault of a validation in one ManifestError; `where` is the file (or `command line`)."""
    faults = [(_key(e["loc"]), _fault(dict(e), model)) for e in error.errors(include_url=False)]
    (first, text), alone = faults[0], len(faults) == 1
    return ManifestError(
        text if alone else "; ".join(f"{key}: {said}" if key else said for key, said in faults),
        where=f"{where}, key {first}" if first and alone else where,
        next="see docs/settings.md for all keys and what they allow",
    )


def _fault(error: dict[str, Any], model: type[BaseModel]) -> str:
    loc: Sequence[int | str] = error["loc"]
    if error["type"] == "extra_forbidden":
        parent = _model_at(model, loc[:-1])
        allowed = sorted(parent.model_fields) if parent else []
        near = difflib.get_close_matches(str(loc[-1]), allowed, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        return f"unknown key{hint}; allowed: {', '.join(allowed)}"
    if error["type"] == "missing":
        return "is required"
    message: str = error["msg"].removeprefix("Value error, ").replace("Input should", "should")
    if error["type"] == "string_pattern_mismatch":
        message = _allowed(error["ctx"]["pattern"])
    given = error.get("input")
    return message + (f"; it is {given!r}" if isinstance(given, str | int | float | bool) else "")


def _allowed(pattern: str) -> str:
    """What a pattern of ours allows, in words: `^(a|b)$` is a choice, the rest are names."""
    choice = re.fullmatch(r"\^\(([\w|-]+)\)\$", pattern)
    if choice:
        return f"should be {' or '.join(choice[1].split('|'))}"
    names = re.fullmatch(r"\^\[a-z0-9\]\[([^\]]+)\]\{0,(\d+)\}\$", pattern)
    if names:
        signs = " ".join(names[1].removeprefix("a-z0-9"))
        return f"should be at most {int(names[2]) + 1} of a-z, 0-9 and {signs}, and begin with a letter or digit"
    return f"should match {pattern}"


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
