"""Sign-in of people: invitations, passwords, one-time links and sessions."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, select, update

from worksample.errors import RecordMissing, UsageError
from worksample.people.clock import MINUTE, Clock
from worksample.people.errors import Conflict, Denied
from worksample.people.judging import lease_queries as sql
from worksample.records import Evaluator, canonical
from worksample.store.people_tables import accounts, sessions, tickets

from .account import Account, Role, find_account, join_roles, read_account, read_roles
from .evaluator_profile import Profile, evaluator_of, profile_of
from .tokens import check_password, hash_password, hash_token, name_key, new_token

if TYPE_CHECKING:
    from worksample.store import Store

DAY = 24 * 60 * MINUTE
INVITED, REVOKED = "invitation", "revoked invitation"
"""Kinds of tickets for invitations. A revoked invitation can no longer be used."""
INVITATION, LINK = 7 * DAY, 15 * MINUTE
IDLE, SESSION = DAY, 30 * DAY
"""Time without use after which a session ends (one day), and time after which it ends in any case (thirty days)."""
_WRONG = "wrong name or password"
_SPENT = "this link is wrong, used or expired"
_ANEW = "ask an admin for a new one; alone, start worksample review again"
LONGEST_NAME = 100


class Accounts:
    """The accounts of a store. It keeps passwords as argon2id hashes and only hashes of tokens. Tickets work once."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock, self._db = store, clock, store.database

    # -- invitations

    def invite(self, roles: Collection[str], by: Account | None = None) -> str:
        """Create an invitation and return its token, valid for a week. `by`: an admin, or None for the store's
        owner.
        """
        if by is not None:
            by.may(Role.ADMIN)
        return self._ticket(INVITED, None, join_roles(read_roles(roles)), by.id if by else "", INVITATION)

    def revoke(self, id: str, by: Account | None = None) -> None:
        """Revoke an invitation that nobody has accepted. `id`: from `activity.invitations`; `by`: an admin, None for
        the owner.

        Raises Denied, RecordMissing, Conflict if the invitation is no longer open.
        """
        if by is not None:
            by.may(Role.ADMIN)
        with self._db.writing() as connection:
            fits = tickets.c.hash.startswith(id, autoescape=True) & tickets.c.kind.in_([INVITED, REVOKED])
            row = connection.execute(select(tickets).where(fits)).first() if id else None
            if row is None:
                raise RecordMissing("no such invitation", where=id, next="load the list of invitations anew")
            if row.kind == REVOKED or row.used is not None or row.expires <= self._clock():
                raise Conflict(
                    "this invitation was used, was revoked or has expired", next="load the list of invitations anew"
                )
            connection.execute(update(tickets).where(tickets.c.hash == row.hash).values(kind=REVOKED))

    def invitation_roles(self, token: str) -> tuple[frozenset[Role], int]:
        """Return an invitation's roles and its expiry in microseconds since 1970. Raises Denied."""
        with self._db.reading() as connection:
            row = self._ticket_of(connection, token, INVITED)
        return frozenset(Role(r) for r in row.roles.split(",")), row.expires

    def accept(self, token: str, name: str, password: str | None) -> Account:
        """Create the account of an invitation. Raises Denied for an invalid token, Conflict if the name is taken.

        An account without a password is entered by one-time links only.
        """
        kept = hash_password(password) if password is not None else None
        with self._db.writing() as connection:
            row = self._use_ticket(connection, token, INVITED)
            account = self._create(connection, name, row.roles, kept)
        return self._commit_evaluator(account)

    def create(self, name: str, roles: Collection[str]) -> Account:
        """Create an account for the store's owner, entered by one-time links; return the existing one if the name is
        known.
        """
        wanted = join_roles(read_roles(roles))
        with self._db.writing() as connection:
            row = connection.execute(select(accounts).where(accounts.c.key == name_key(name))).first()
            account = read_account(row) if row is not None else self._create(connection, name, wanted, None)
        return self._commit_evaluator(account) if row is None else account

    def _create(self, connection: Connection, name: str, roles: str, password: str | None) -> Account:
        shown = " ".join(name.split())
        if not shown or len(shown) > LONGEST_NAME or not shown.isprintable():
            raise UsageError(f"a name must have 1 to {LONGEST_NAME} printable characters", next="choose another name")
        if connection.execute(select(accounts.c.id).where(accounts.c.key == name_key(name))).first():
            raise Conflict("this name is taken", next="choose another name")
        id = uuid.uuid4().hex
        evaluator = evaluator_of(id, shown, Profile(), self._clock())
        row = {
            "id": id, "key": name_key(name), "name": shown, "roles": roles, "password": password,
            "evaluator": evaluator.id, "domains": "[]", "disabled": False, "active_until": 0, "at": self._clock(),
        }  # fmt: skip
        connection.execute(accounts.insert().values(row))
        return find_account(connection, id)

    def _commit_evaluator(self, account: Account) -> Account:
        """Commit the account's first Evaluator record. If the process dies first, the first vote commits it."""
        self._store.commit(evaluator_of(account.id, account.name, Profile(), self._clock()))
        return account

    # -- signing in

    def login(self, name: str, password: str) -> str:
        """Return the token of a new session. Raises Denied, without saying whether name or password was wrong."""
        with self._db.reading() as connection:
            row = connection.execute(select(accounts).where(accounts.c.key == name_key(name))).first()
        right = check_password(row.password if row is not None else None, password)
        if row is None or not right or row.disabled:
            raise Denied(_WRONG, next="try again, or ask an admin for a link")
        with self._db.writing() as connection:
            return self._session(connection, row.id)

    def one_time_link(self, name: str, by: Account | None = None) -> str:
        """Return a token that opens one session within fifteen minutes. `by`: an admin, None for the owner."""
        if by is not None:
            by.may(Role.ADMIN)
        with self._db.reading() as connection:
            row = connection.execute(select(accounts).where(accounts.c.key == name_key(name))).first()
        if row is None or row.disabled:
            raise Denied("no such account, or it is disabled", next="choose one of the list of accounts")
        return self._ticket("link", row.id, "", by.id if by else "", LINK)

    def redeem(self, token: str) -> str:
        """Use the token of a one-time link to open a session. Return the token of the session. Raises Denied if the
        link is invalid.
        """
        with self._db.writing() as connection:
            row = self._use_ticket(connection, token, "link")
            if find_account(connection, row.account).disabled:
                raise Denied(_SPENT, next=_ANEW)
            return self._session(connection, row.account)

    def open_session(self, account: Account) -> str:
        """Open a session for a person who has just been authenticated, and return its token."""
        with self._db.writing() as connection:
            if find_account(connection, account.id).disabled:
                raise Denied(_SPENT, next=_ANEW)
            return self._session(connection, account.id)

    def session(self, token: str) -> Account | None:
        """Return the account of a session. Return None if the token is wrong or expired, or if the account is
        disabled.
        """
        now, hash = self._clock(), hash_token(token)
        with self._db.reading() as connection:
            row = connection.execute(sql.SESSION, {"hash": hash}).first()
        if row is None or row.disabled or min(row.expires, row.ends) <= now:
            return None
        if row.expires < now + IDLE - 10 * MINUTE:
            # Not at every call: a write each time would block readers.
            with self._db.writing() as connection:
                connection.execute(update(sessions).where(sessions.c.hash == hash).values(expires=now + IDLE))
        return read_account(row)

    def logout(self, token: str) -> None:
        """End a session."""
        with self._db.writing() as connection:
            connection.execute(delete(sessions).where(sessions.c.hash == hash_token(token)))

    # -- administration

    def all(self) -> list[Account]:
        """List all accounts by name."""
        with self._db.reading() as connection:
            return [read_account(row) for row in connection.execute(select(accounts).order_by(accounts.c.key))]

    def change(self, account: str, by: Account | None, **changes: Any) -> Account:
        """Set `roles`, `disabled` or `password`. Disabling the account or setting a password ends its sessions.

        `by`: an admin, or the person for the own password. Raises Denied for others.
        """
        if by is not None and not (by.id == account and set(changes) == {"password"}):
            by.may(Role.ADMIN)
        values: dict[str, Any] = {}
        if "roles" in changes:
            values["roles"] = join_roles(read_roles(changes["roles"]))
        if "disabled" in changes:
            values["disabled"] = bool(changes["disabled"])
        if "password" in changes:
            values["password"] = hash_password(changes["password"])
        with self._db.writing() as connection:
            find_account(connection, account)
            connection.execute(update(accounts).where(accounts.c.id == account).values(values))
            if "password" in values or values.get("disabled"):
                connection.execute(delete(sessions).where(sessions.c.account == account))
            return find_account(connection, account)

    def replace_password(self, account: Account, old: str, new: str) -> None:
        """Set another password; all sessions end. `old` is ignored if there was none. Raises Denied."""
        with self._db.reading() as connection:
            kept = connection.execute(select(accounts.c.password).where(accounts.c.id == account.id)).scalar_one()
        if kept is not None and not check_password(kept, old):
            raise Denied("wrong password", next="type the password that you sign in with")
        self.change(account.id, account, password=new)

    def profile(self, account: Account) -> Profile:
        """Return the current version of the person's profile."""
        found = self._store.find(Evaluator, id=account.evaluator)
        return profile_of(found[0]) if found else Profile()

    def set_profile(self, account: Account, profile: Profile) -> Account:
        """Commit a new version of the person's Evaluator record, for later evaluations."""
        evaluator = evaluator_of(account.id, account.name, profile, self._clock())
        self._store.commit(evaluator)
        with self._db.writing() as connection:
            values = {"evaluator": evaluator.id, "domains": canonical(list(profile.domains)).decode()}
            connection.execute(update(accounts).where(accounts.c.id == account.id).values(values))
            return find_account(connection, account.id)

    # -- tokens

    def _ticket(self, kind: str, account: str | None, roles: str, author: str, lasts: int) -> str:
        token, now = new_token(), self._clock()
        row = {"hash": hash_token(token), "kind": kind, "account": account, "roles": roles, "author": author}
        with self._db.writing() as connection:
            connection.execute(delete(tickets).where(tickets.c.expires < now - 30 * DAY))
            connection.execute(tickets.insert().values({**row, "expires": now + lasts, "used": None}))
        return token

    def _ticket_of(self, connection: Connection, token: str, kind: str) -> Any:
        mine = (tickets.c.hash == hash_token(token)) & (tickets.c.kind == kind)
        row = connection.execute(select(tickets).where(mine)).first()
        if row is None or row.used is not None or row.expires <= self._clock():
            raise Denied(_SPENT, next=_ANEW)
        return row

    def _use_ticket(self, connection: Connection, token: str, kind: str) -> Any:
        """Mark a ticket as used. If the transaction fails, the ticket stays valid. Raises Denied for an invalid
        ticket.
        """
        row = self._ticket_of(connection, token, kind)
        connection.execute(update(tickets).where(tickets.c.hash == row.hash).values(used=self._clock()))
        return row

    def _session(self, connection: Connection, account: str) -> str:
        token, now = new_token(), self._clock()
        connection.execute(delete(sessions).where((sessions.c.expires <= now) | (sessions.c.ends <= now)))
        row = {"hash": hash_token(token), "account": account, "expires": now + IDLE, "ends": now + SESSION, "at": now}
        connection.execute(sessions.insert().values(row))
        return token
