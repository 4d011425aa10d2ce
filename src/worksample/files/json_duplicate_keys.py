"""JSON that people submit. Duplicate keys in an object are rejected, because the intended value is unknown."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any


class DuplicateKeyError(ValueError):
    """A key that occurs twice in one object."""

    next = "remove one of the two"


def unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of these pairs, for `object_pairs_hook`. Raises DuplicateKeyError with the key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise DuplicateKeyError(f"the key {json.dumps(twice[:80])} appears twice in one object")
    return found
