"""What a validator raises, so that its fault reads well."""

from __future__ import annotations

from pydantic_core import PydanticCustomError


def told(problem: str, allowed: str = "") -> PydanticCustomError:
    """What a validator raises to have a fault say exactly this."""
    return PydanticCustomError("told", "{problem}", {"problem": problem, "allowed": allowed})


def unfit(problem: str = "is not allowed") -> PydanticCustomError:
    """What a validator raises of a value, which the fault shows; what is allowed is what the field's type says."""
    return PydanticCustomError("unfit", "{problem}", {"problem": problem})
