"""Which hosts an experiment's tasks may reach: what its operator allows and its suite leaves."""

from __future__ import annotations

from collections.abc import Iterable

from worksample.records import HostLists
from worksample.sandboxes.endpoints import HostAllowance, read_rule


def allowance(operator: Iterable[str], suite: HostLists | None) -> HostAllowance:
    """From the texts in which both are kept. UsageError for one that is none."""
    lists = suite or HostLists()
    return HostAllowance(
        operator=tuple(read_rule(text) for text in operator),
        suite=tuple(read_rule(text) for text in lists.allow),
        blocked=tuple(read_rule(text, port=0) for text in lists.block),
    )
