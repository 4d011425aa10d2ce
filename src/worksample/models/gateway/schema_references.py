"""Replacement of the references in a tool's schema by their targets. The number of nodes is limited, because each
reference copies its target.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .request_error import Refusal

NODES = 20_000
"""Maximum number of nodes in all schemas of one request, after all references are replaced."""
DEPTH = 40
"""Maximum depth of a schema. Deeper levels are replaced by a schema that accepts any value."""
AGAIN = (3, 1, 0)
"""Numbers of times that a schema with a reference to itself may be repeated inside itself. The first number whose
result fits the budget of nodes is used. Below the last repetition any value is accepted.
"""
LONGEST_REF = 1000
"""Maximum number of characters in a reference."""


class _Budget:
    """The number of schema nodes that may still be built."""

    def __init__(self, nodes: int) -> None:
        self.nodes, self.whole = nodes, nodes

    def spend(self, count: int) -> None:
        """Subtract `count` nodes from the budget. Raises SchemaTooLarge if too few nodes are left."""
        self.nodes -= count
        if self.nodes < 0:
            raise SchemaTooLarge(self.whole)


class SchemaTooLarge(Refusal):
    """Refusal of schemas that become too large when their references are replaced."""

    def __init__(self, nodes: int) -> None:
        super().__init__(
            400,
            f"the tools' schemas have more than {nodes} nodes once every $ref is replaced by its target; "
            "make them smaller, or use fewer references",
        )


_budget: ContextVar[_Budget | None] = ContextVar("worksample_schema_nodes", default=None)


@contextmanager
def shared_budget(nodes: int = NODES) -> Iterator[None]:
    """Make all schemas that are expanded within the block share a single budget of nodes."""
    token = _budget.set(_Budget(nodes))
    try:
        yield
    finally:
        _budget.reset(token)


def expand(schema: Any) -> Any:
    """Return the schema with its references replaced by their targets. Raises Refusal if the result is too large."""
    budget = _budget.get() or _Budget(NODES)
    for again in AGAIN:
        left = budget.nodes
        try:
            return _Expansion(schema, budget, again).of(schema, DEPTH)
        except SchemaTooLarge:
            if again == AGAIN[-1]:
                raise
            budget.nodes = left
    return {}


class _Expansion:
    def __init__(self, whole: Any, budget: _Budget, again: int) -> None:
        self._whole, self._budget, self._again = whole, budget, again
        self._inside: dict[str, int] = {}
        """References that are being replaced at this moment, each with the number of times that it is nested in
        itself.
        """

    def of(self, node: Any, depth: int) -> Any:
        """Return a node of the schema with its references replaced. `depth` is the number of further levels allowed."""
        self._budget.spend(1)
        if depth == 0:
            return {}
        if isinstance(node, list):
            return [self.of(one, depth - 1) for one in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            return self._expand_reference(node, depth)
        out = {
            key: self._expand_properties(value, depth - 1) if key == "properties" else self.of(value, depth - 1)
            for key, value in node.items()
            if not key.startswith("$")
        }
        if "oneOf" in out and "anyOf" not in out:
            out["anyOf"] = out.pop("oneOf")
        return out

    def _expand_properties(self, properties: Any, depth: int) -> Any:
        """Return the properties of a schema with their references replaced. The program chooses the names of
        properties, so a name such as `oneOf` is not a keyword.
        """
        if not isinstance(properties, dict) or isinstance(properties.get("$ref"), str) or depth == 0:
            return self.of(properties, depth)
        self._budget.spend(1)
        return {name: self.of(one, depth - 1) for name, one in properties.items()}

    def _expand_reference(self, node: dict[str, Any], depth: int) -> Any:
        ref = node["$ref"]
        times = self._inside.get(ref, 0)
        found = self._resolve_pointer(ref) if times <= self._again else {}
        self._budget.spend(len(found) + len(node))
        rest = {key: value for key, value in node.items() if key != "$ref"}
        self._inside[ref] = times + 1
        try:
            return self.of({**found, **rest}, depth - 1)
        finally:
            self._inside[ref] = times

    def _resolve_pointer(self, ref: str) -> dict[str, Any]:
        found = self._whole
        for step in ref[:LONGEST_REF].removeprefix("#/").split("/"):
            found = found.get(step) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}
