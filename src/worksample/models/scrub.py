"""Text that UTF-8 cannot hold (lone surrogates, which JSON can spell) is replaced before anything keeps it.

A model's answer is foreign: one such character would make the log of a whole run unwritable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from inspect_ai.model import ModelAPI

_LONE = re.compile("[\ud800-\udfff]")


def scrubbed(value: Any) -> Any:
    """The value with every lone surrogate replaced by U+FFFD; models are changed in place, and only where needed."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value) if _LONE.search(value) else value
    if isinstance(value, list):
        return [scrubbed(item) for item in value]
    if isinstance(value, tuple):
        return tuple(scrubbed(item) for item in value)
    if isinstance(value, dict):
        return {scrubbed(key): scrubbed(item) for key, item in value.items()}
    if isinstance(value, BaseModel):
        _scrub_model(value)
        return value
    if hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            setattr(value, name, scrubbed(getattr(value, name)))
    return value


def _scrub_model(model: BaseModel) -> None:
    for name, old in model.__dict__.items():
        new = scrubbed(old)
        if new != old:
            model.__dict__[name] = new


def scrub_answers(api: ModelAPI) -> None:
    """Make every answer of a model's provider go through `scrubbed`."""
    generate = api.generate

    async def clean(*args: Any, **kwargs: Any) -> Any:
        result = await generate(*args, **kwargs)
        return result if isinstance(result, Exception) else scrubbed(result)

    api.generate = clean  # type: ignore[method-assign]
