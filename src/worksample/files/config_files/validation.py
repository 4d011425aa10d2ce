"""Validation of tables by pydantic, with faults that name the key, what is wrong, what is allowed and the nearest
word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .config_faults import Faults, nearest
from .field_descriptions import allowed_at, keys_at, show_value
from .key_paths import key_of

M = TypeVar("M", bound=BaseModel)
WHOLE = "this file"
"""Name of the top table in faults."""
MOST = 2000
"""Maximum number of faults of a table that are described."""


def validate(
    model: type[M], data: Any, faults: Faults, *, file: str, at: str = "", context: Mapping[str, Any] | None = None
) -> M | None:
    """Return `data` as a `model`. If it is invalid, add faults below the key `at` and return the valid part of the
    data, or None.

    The valid part lets later checks report their faults together with these. `context` is passed to the model's
    validators.
    """
    given = dict(context or {})
    try:
        return model.model_validate(data, context=given)
    except ValidationError as error:
        found = error.errors(include_url=False)
        _add(error, model, faults, file, at)
    spoilt = {one["loc"][0] if one["loc"] else None for one in found}
    try:
        rest = {key: value for key, value in data.items() if key not in spoilt} if isinstance(data, dict) else data
        return model.model_validate(rest, context=given)
    except ValidationError:
        return None


def describe_errors(error: ValidationError, model: type[BaseModel], *, at: str = "") -> str:
    """Describe the errors of a value that does not come from a file: each key, what is wrong, what is allowed."""
    faults = Faults()
    _add(error, model, faults, "", at)
    return "; ".join(str(fault).removeprefix(": ") for fault in faults.found)


def _add(error: ValidationError, model: type[BaseModel], faults: Faults, file: str, at: str) -> None:
    for count, one in enumerate(error.errors(include_url=False)):
        if count >= MOST:
            faults.add(file, at, f"{error.error_count() - MOST} more errors of this kind")
            return
        steps = [step for step in one["loc"] if step != "[key]"]
        key = key_of(steps, at)
        if not faults.has(file, key):
            problem, allowed = _problem_and_allowed(dict(one), model, steps, key_of(steps[:-1], at))
            faults.add(file, key, problem, allowed)


def _problem_and_allowed(
    error: dict[str, Any], model: type[BaseModel], steps: list[int | str], above: str
) -> tuple[str, str]:
    """Return a fault's problem, and what is allowed there."""
    kind, value, context = error["type"], error.get("input"), error.get("ctx") or {}
    if kind == "extra_forbidden":
        keys = sorted(keys_at(model, steps[:-1]))
        return f"is not a key of {above or WHOLE}{nearest(str(steps[-1]), keys)}", ", ".join(keys)
    words = allowed_at(model, steps)
    if kind == "missing":
        return "is missing", words
    if kind == "value_error":
        return str(context.get("error", error["msg"])), ""
    if kind == "told":
        return str(error["msg"]), str(context.get("allowed", ""))
    if kind == "blank":
        return str(error["msg"]), words
    if kind == "unfit":
        return f"{show_value(value)} {error['msg']}", words
    if kind in ("too_short", "string_too_short"):
        return "is empty", words
    if kind in ("enum", "literal_error"):
        choices = [w.strip(" '") for w in str(context.get("expected", "")).replace(" or ", ",").split(",")]
        near = nearest(value, choices) if isinstance(value, str) else ""
        return f"{show_value(value)} is not allowed{near}", ", ".join(choices)
    if kind.endswith(("_type", "_parsing", "_from_float", "_exact")):
        return f"{show_value(value)} has the wrong type", words
    if kind == "string_pattern_mismatch" or words:
        return f"{show_value(value)} is not allowed", words
    return f"{show_value(value)}: {error['msg']}", ""
