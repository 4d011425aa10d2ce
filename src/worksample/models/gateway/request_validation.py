"""Search of a request for values that cannot be sent to any service. It is done before the request is used."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

DEEPEST = 128
"""Maximum depth of nested objects and lists."""
LARGEST = 1 << 63
"""Bound for integers, 2**63. JSON parsers reject larger ones."""
_LONE = re.compile("[\ud800-\udfff]")


def check_sendable(body: Any) -> None:
    """Check that a request body can be sent to a service. Raises ValueError if it cannot.

    Values that cannot be sent are invalid Unicode (lone surrogates), NaN, infinity, numbers beyond 64 bits, and
    structures that are nested too deeply.
    """
    level, depth = [body], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"the request is nested deeper than {DEEPEST} levels")
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif isinstance(value, int) and not -LARGEST <= value < LARGEST:
                raise ValueError(f"{_place(body, lambda one: one is value)} is a number beyond 64 bits")  # noqa: B023
        level = inner
    try:
        json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        at = _place(body, lambda one: isinstance(one, str) and _LONE.search(one) is not None)
        raise ValueError(f"{at} holds invalid text: a lone surrogate") from None
    except ValueError:
        at = _place(body, lambda one: isinstance(one, float) and not math.isfinite(one))
        raise ValueError(f"{at} is not a finite number: NaN or infinite") from None


def _place(body: Any, wanted: Callable[[Any], bool]) -> str:
    """Return the path, such as `tools.0.name`, of the first value for which `wanted` is true. For a key, return the
    path of the object that contains the key.
    """
    left: list[tuple[str, Any]] = [("", body)]
    while left:
        path, value = left.pop()
        inside: list[tuple[Any, Any]] = list(value.items()) if isinstance(value, dict) else []
        if wanted(value) or any(wanted(name) for name, _ in inside):
            return path[1:201] or "the body"
        inside += enumerate(value) if isinstance(value, list) else ()
        left.extend((f"{path}.{key}", item) for key, item in inside)
    return "something"
