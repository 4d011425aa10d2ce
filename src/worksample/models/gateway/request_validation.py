"""Find values that cannot be sent to any service, in the whole request, before it is used."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

DEEPEST = 128
"""Maximum depth of nested objects and lists."""
LARGEST = 1 << 63
"""Upper bound of integers that JSON parsers accept."""
_LONE = re.compile("[\ud800-\udfff]")


def check_sendable(body: Any) -> None:
    """Raise ValueError for values that cannot be sent.

    These are invalid Unicode (lone surrogates), NaN, infinity, numbers beyond 64 bits, and structures nested too
    deeply.
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
    """Return the path of the first wanted value, such as `tools.0.name`; for a key, the path of its object."""
    left: list[tuple[str, Any]] = [("", body)]
    while left:
        path, value = left.pop()
        inside: list[tuple[Any, Any]] = list(value.items()) if isinstance(value, dict) else []
        if wanted(value) or any(wanted(name) for name, _ in inside):
            return path[1:201] or "the body"
        inside += enumerate(value) if isinstance(value, list) else ()
        left.extend((f"{path}.{key}", item) for key, item in inside)
    return "something"
