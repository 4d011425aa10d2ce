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
    """The roles of an account."""

    EVALUATOR = "evaluator"
    """Judges holistically, in pairs, and tags failures."""
    EXPERT = "expert"
    """Judges by rubrics, in the expert's own domains."""
    WORKER = "worker"
    """Does tasks as agents do them."""
    REVIEWER = "reviewer"
    """Audits, adjudicates and reviews the integrity of work that passed."""
    ADMIN = "admin"
    """Opens rounds, invites people, strikes and restores records, reads the dashboard."""


@dataclass(frozen=True, slots=True)
class Account:
    """A person's account. `evaluator`: id of the current Evaluator record. `domains`: empty for any domain."""

    id: str
    name: str
    roles: frozenset[Role]
    evaluator: str
    disabled: bool
    domains: tuple[str, ...] = ()

    def may(self, *roles: Role) -> None:
        """Raise Denied unless the account has one of these roles."""
        if self.disabled or not self.roles & set(roles):
            raise Denied("your roles do not allow this", next="ask an admin for the role")


def read_roles(roles: Collection[str]) -> frozenset[Role]:
    """Parse role names. Raises UsageError for none or an unknown one."""
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
    """Load an account. Raises Denied if there is none."""
    row = connection.execute(select(accounts).where(accounts.c.id == id)).first()
    if row is None:
        raise Denied("this account does not exist", next="sign in with another name")
    return read_account(row)
