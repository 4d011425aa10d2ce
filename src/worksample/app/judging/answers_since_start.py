"""A counter of the answers that were submitted while a server ran."""

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
class AnswerCounter:
    """Counts of answers since `begin`. `account`: whose answers; None counts everybody's, at all servers of the
    store.
    """

    store: Store
    account: Account | None
    before: Mapping[str, int]

    @classmethod
    def begin(cls, store: Store, account: Account | None = None) -> Self:
        return cls(store, account, _counts(store, account))

    @property
    def answers(self) -> int:
        """The number of answers since the start, struck ones included."""
        return self._count_since(DONE, STRUCK)

    @property
    def skips(self) -> int:
        return self._count_since(SKIPPED)

    def _count_since(self, *states: str) -> int:
        now = _counts(self.store, self.account)
        return max(0, sum(now.get(state, 0) - self.before.get(state, 0) for state in states))


def _counts(store: Store, account: Account | None) -> dict[str, int]:
    query = select(_a.state, func.count()).group_by(_a.state)
    if account is not None:
        query = query.where(_a.account == account.id)
    with store.database.reading() as connection:
        return {row[0]: row[1] for row in connection.execute(query)}
