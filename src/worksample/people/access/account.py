"""Who may come in: accounts, and what each of the roles may do."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, select

from worksample.errors import UsageError
from worksample.people.errors import Denied
from worksample.store.people_tables import accounts
from worksample.tasks.taxonomy import spread


class Role(StrEnum):
    EVALUATOR = "evaluator"
    """Judges: holistic, pairwise, tags."""
    EXPERT = "expert"
    """Judges by rubrics, in the expert's own domains."""
    WORKER = "worker"
    """Does tasks, as agents do them."""
    REVIEWER = "reviewer"
    """Audits, adjudicates and looks into the integrity of what passed."""
    ADMIN = "admin"
    """Opens rounds, invites, strikes and restores, sees the dashboard."""


@dataclass(frozen=True, slots=True)
class Account:
    """`evaluator`: id of the Evaluator record under which the person judges now. `domains`: none means any."""

    id: str
    name: str
    roles: frozenset[Role]
    evaluator: str
    disabled: bool
    domains: tuple[str, ...] = ()

    def may(self, *roles: Role) -> None:
        """Raises Denied unless the person has one of these roles."""
        if self.disabled or not self.roles & set(roles):
            raise Denied("not allowed")


def read_roles(roles: Collection[str]) -> frozenset[Role]:
    """UsageError for none, or for one that is unknown."""
    unknown = sorted(set(roles) - set(Role))
    if unknown or not roles:
        raise UsageError(f"no such role: {', '.join(unknown) or 'none given'}", next=f"one of {', '.join(Role)}")
    return frozenset(Role(r) for r in roles)


def join_roles(roles: Collection[str]) -> str:
    return ",".join(sorted(roles))


def read_account(row: Any) -> Account:
    """From its row."""
    roles = frozenset(Role(r) for r in row.roles.split(",") if r)
    return Account(row.id, row.name, roles, row.evaluator, row.disabled, spread(tuple(json.loads(row.domains))))


def find_account(connection: Connection, id: str) -> Account:
    """Denied where there is none."""
    row = connection.execute(select(accounts).where(accounts.c.id == id)).first()
    if row is None:
        raise Denied("no such account")
    return read_account(row)
