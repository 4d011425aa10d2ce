"""Loader of YAML's safe types within limits, because merges with `<<` can double the size with each line."""

from __future__ import annotations

from functools import cache
from typing import Any

import yaml

DIGITS = 300
"""Maximum characters of a number."""


class TooMuch(Exception):
    """Error: a document holds more values than the limit."""


class TooDeep(Exception):
    """Error: a document is nested more deeply than the limit."""


def need_shallow(text: str, levels: int, limit: int) -> None:
    """Raise TooDeep or TooMuch if the document's events exceed the limits. Call it before nodes are composed, because
    composing needs a C stack frame per level.
    """
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > levels:
            raise TooDeep
        if count > 3 * limit:
            raise TooMuch


def _need_unique(mapping: Any) -> None:
    """Raise YAMLError for a duplicate key, because YAML would keep only the last value without a warning."""
    keys = [(key.tag, key.value) for key, _ in mapping.value if isinstance(key, yaml.ScalarNode)]
    if len(set(keys)) == len(keys):
        return
    seen: set[tuple[str, str]] = set()
    for key, _ in mapping.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if (key.tag, key.value) in seen:
            raise yaml.YAMLError(f"line {key.start_mark.line + 1}: the key {key.value[:80]!r} appears twice")
        seen.add((key.tag, key.value))


@cache
def loader(limit: int) -> type[Any]:
    """Return a loader of at most `limit` merged values, based on the C library if it is available."""
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Limited(base):  # type: ignore[misc]
        """Loader of safe types that counts merged values."""

        merged = 0

        def flatten_mapping(self, node: Any) -> None:
            if node not in (seen := self.__dict__.setdefault("seen", set())):  # merged keys may occur twice
                seen.add(node)
                _need_unique(node)
            super().flatten_mapping(node)
            self.merged += len(node.value)
            if self.merged > limit:
                raise TooMuch

    def number(of: str) -> Any:
        usual = yaml.SafeLoader.yaml_constructors[of]

        def construct(self: Any, node: Any) -> Any:
            # Parsing a number in base 60 takes quadratic time.
            if len(node.value) > DIGITS:
                raise yaml.YAMLError(f"line {node.start_mark.line + 1}: a number has more than {DIGITS} characters")
            return usual(self, node)

        return construct

    for kind in ("int", "float"):
        tag = f"tag:yaml.org,2002:{kind}"
        Limited.add_constructor(tag, number(tag))
    return Limited
