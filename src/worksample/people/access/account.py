"""Accounts and their roles."""

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
from worksample.tasks.taxonomy import expand_sets


class Role(StrEnum):
    """Role of an account: what its person may do in the app."""

    EVALUATOR = "evaluator"
    """Role of people who judge work as a whole or in pairs, and who tag failures."""
    EXPERT = "expert"
    """Role of people who judge by rubrics, in their own domains."""
    WORKER = "worker"
    """Role of people who do tasks as agents do them."""
    REVIEWER = "reviewer"
    """Role of people who audit and adjudicate votes, and who review the integrity of work that passed."""
    ADMIN = "admin"
    """Role of people who open rounds, invite people, strike and restore records, and read the dashboard."""


@dataclass(frozen=True, slots=True)
class Account:
    """Account of a person. `evaluator` is the id of the person's current Evaluator record. If `domains` is empty, the
    person may judge work of any domain.
    """

    id: str
    name: str
    roles: frozenset[Role]
    evaluator: str
    disabled: bool
    domains: tuple[str, ...] = ()

    def may(self, *roles: Role) -> None:
        """Check that the account has one of these roles. Raises Denied if it has none of them."""
        if self.disabled or not self.roles & set(roles):
            raise Denied("your roles do not allow this", next="ask an admin for the role")


def read_roles(roles: Collection[str]) -> frozenset[Role]:
    """Parse the names of roles. Raises UsageError if no role is given, or if a name is unknown."""
    unknown = sorted(set(roles) - set(Role))
    if unknown or not roles:
        raise UsageError(f"no such role: {', '.join(unknown) or 'none given'}", next=f"one of {', '.join(Role)}")
    return frozenset(Role(r) for r in roles)


def join_roles(roles: Collection[str]) -> str:
    return ",".join(sorted(roles))


def read_account(row: Any) -> Account:
    """Build an account from its database row."""
    roles = frozenset(Role(r) for r in row.roles.split(",") if r)
    return Account(row.id, row.name, roles, row.evaluator, row.disabled, expand_sets(tuple(json.loads(row.domains))))


def find_account(connection: Connection, id: str) -> Account:
    """Read an account from the database. Raises Denied if no account has this id."""
    row = connection.execute(select(accounts).where(accounts.c.id == id)).first()
    if row is None:
        raise Denied("this account does not exist", next="sign in with another name")
    return read_account(row)
