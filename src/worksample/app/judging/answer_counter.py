"""A server's run from the store's side: what was handed in while it ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlalchemy import func, select

from worksample.people.judging.assignment_states import DONE, SKIPPED, STRUCK
from worksample.store.people_tables import assignments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from worksample.people import Account
    from worksample.store import Store

_a = assignments.c


@dataclass(frozen=True, slots=True)
class ServerRun:
    """`account`: whose; None for everybody's, at this server and at others over the store."""

    store: Store
    account: Account | None
    before: Mapping[str, int]

    @classmethod
    def begin(cls, store: Store, account: Account | None = None) -> Self:
        return cls(store, account, _counts(store, account))

    @property
    def answers(self) -> int:
        """How many were given since; those struck meanwhile, too."""
        return self._since(DONE, STRUCK)

    @property
    def skipped(self) -> int:
        return self._since(SKIPPED)

    def _since(self, *states: str) -> int:
        now = _counts(self.store, self.account)
        return max(0, sum(now.get(state, 0) - self.before.get(state, 0) for state in states))


def _counts(store: Store, account: Account | None) -> dict[str, int]:
    query = select(_a.state, func.count()).group_by(_a.state)
    if account is not None:
        query = query.where(_a.account == account.id)
    with store.database.reading() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}
