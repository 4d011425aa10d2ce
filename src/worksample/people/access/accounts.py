"""Coming in: invitations, passwords, one-time links, sessions."""

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
from .profile import Profile, evaluator_of, profile_of
from .tokens import check_password, hash_password, hashed, name_key, new_token

if TYPE_CHECKING:
    from worksample.store import Store

DAY = 24 * 60 * MINUTE
INVITED, REVOKED = "invitation", "revoked invitation"
"""Kinds of a ticket; a revoked one opens nothing."""
INVITATION, LINK = 7 * DAY, 15 * MINUTE
IDLE, SESSION = DAY, 30 * DAY
"""A session ends after a day without use, and after thirty days in any case."""
_WRONG = "wrong name or password"
_SPENT = "this link is wrong, used or expired"
_ANEW = "ask an admin for a new one; alone, start worksample review again"
LONGEST_NAME = 100


class Accounts:
    """Passwords are kept by argon2id, every token by its hash; tokens expire, tickets work once."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock, self._db = store, clock, store.database

    # -- invitations

    def invite(self, roles: Collection[str], by: Account | None = None) -> str:
        """A token for a new account with these roles, good for a week. `by`: an admin; None is the store's owner."""
        if by is not None:
            by.may(Role.ADMIN)
        return self._ticket(INVITED, None, join_roles(read_roles(roles)), by.id if by else "", INVITATION)

    def revoke(self, id: str, by: Account | None = None) -> None:
        """Take an invitation back that nobody accepted yet; `id` as `presence.invitations` gives it. `by`: an admin;
        None is the store's owner. Denied, RecordMissing, Conflict where it is no longer open."""
        if by is not None:
            by.may(Role.ADMIN)
        with self._db.writing() as connection:
            fits = tickets.c.hash.startswith(id, autoescape=True) & tickets.c.kind.in_([INVITED, REVOKED])
            row = connection.execute(select(tickets).where(fits)).first() if id else None
            if row is None:
                raise RecordMissing("no such invitation", where=id, next="load the list of invitations anew")
            if row.kind == REVOKED or row.used is not None or row.expires <= self._clock():
                raise Conflict("this invitation is not open any more")
            connection.execute(update(tickets).where(tickets.c.hash == row.hash).values(kind=REVOKED))

    def invited(self, token: str) -> tuple[frozenset[Role], int]:
        """The roles that an invitation gives, and until when it is good, in microseconds since 1970. Denied."""
        with self._db.reading() as connection:
            row = self._ticket_of(connection, token, INVITED)
        return frozenset(Role(r) for r in row.roles.split(",")), row.expires

    def accept(self, token: str, name: str, password: str | None) -> Account:
        """Make the account. Denied for a token that is not good; Conflict where the name is taken.

        Without a password the account is entered by one-time links alone.
        """
        kept = hash_password(password) if password is not None else None
        with self._db.writing() as connection:
            row = self._spend(connection, token, INVITED)
            account = self._create(connection, name, row.roles, kept)
        return self._named(account)

    def create(self, name: str, roles: Collection[str]) -> Account:
        """An account for the store's owner, entered by one-time links; the one there is where the name is known."""
        wanted = join_roles(read_roles(roles))
        with self._db.writing() as connection:
            row = connection.execute(select(accounts).where(accounts.c.key == name_key(name))).first()
            account = read_account(row) if row is not None else self._create(connection, name, wanted, None)
        return self._named(account) if row is None else account

    def _create(self, connection: Connection, name: str, roles: str, password: str | None) -> Account:
        shown = " ".join(name.split())
        if not shown or len(shown) > LONGEST_NAME or not shown.isprintable():
            raise UsageError(f"a name has 1 to {LONGEST_NAME} printable characters", next="choose another name")
        if connection.execute(select(accounts.c.id).where(accounts.c.key == name_key(name))).first():
            raise Conflict("this name is taken")
        id = uuid.uuid4().hex
        evaluator = evaluator_of(id, shown, Profile(), self._clock())
        row = {
            "id": id, "key": name_key(name), "name": shown, "roles": roles, "password": password,
            "evaluator": evaluator.id, "domains": "[]", "disabled": False, "active_until": 0, "at": self._clock(),
        }  # fmt: skip
        connection.execute(accounts.insert().values(row))
        return find_account(connection, id)

    def _named(self, account: Account) -> Account:
        """Its first Evaluator record, after the row: a kill in between costs nothing, for judging makes it too."""
        self._store.commit(evaluator_of(account.id, account.name, Profile(), self._clock()))
        return account

    # -- signing in

    def login(self, name: str, password: str) -> str:
        """A session's token. Denied without saying what was wrong."""
        with self._db.reading() as connection:
            row = connection.execute(select(accounts).where(accounts.c.key == name_key(name))).first()
        right = check_password(row.password if row is not None else None, password)
        if row is None or not right or row.disabled:
            raise Denied(_WRONG)
        with self._db.writing() as connection:
            return self._session(connection, row.id)

    def one_time_link(self, name: str, by: Account | None = None) -> str:
        """A token that opens one session of this account, within fifteen minutes. `by`: an admin, None the owner."""
        if by is not None:
            by.may(Role.ADMIN)
        with self._db.reading() as connection:
            row = connection.execute(select(accounts).where(accounts.c.key == name_key(name))).first()
        if row is None or row.disabled:
            raise Denied("no such account")
        return self._ticket("link", row.id, "", by.id if by else "", LINK)

    def redeem(self, token: str) -> str:
        """A session's token for a one-time link's. Denied where it is not good."""
        with self._db.writing() as connection:
            row = self._spend(connection, token, "link")
            if find_account(connection, row.account).disabled:
                raise Denied(_SPENT, next=_ANEW)
            return self._session(connection, row.account)

    def open_session(self, account: Account) -> str:
        """A session's token for somebody who is known already: who just made the account, or set a new password."""
        with self._db.writing() as connection:
            if find_account(connection, account.id).disabled:
                raise Denied(_SPENT, next=_ANEW)
            return self._session(connection, account.id)

    def session(self, token: str) -> Account | None:
        """Whose session it is; None where it is wrong, expired, ended, or its account disabled."""
        now, hash = self._clock(), hashed(token)
        with self._db.reading() as connection:
            row = connection.execute(sql.SESSION, {"hash": hash}).first()
        if row is None or row.disabled or min(row.expires, row.ends) <= now:
            return None
        if row.expires < now + IDLE - 10 * MINUTE:
            # Not at every call: a write each time would make readers queue.
            with self._db.writing() as connection:
                connection.execute(update(sessions).where(sessions.c.hash == hash).values(expires=now + IDLE))
        return read_account(row)

    def logout(self, token: str) -> None:
        """End the session."""
        with self._db.writing() as connection:
            connection.execute(delete(sessions).where(sessions.c.hash == hashed(token)))

    # -- administration

    def all(self) -> list[Account]:
        """Every account, by name."""
        with self._db.reading() as connection:
            return [read_account(row) for row in connection.execute(select(accounts).order_by(accounts.c.key))]

    def change(self, account: str, by: Account | None, **changes: Any) -> Account:
        """Set `roles`, `disabled` or `password`. A disabled account, or one with a new password, is signed out.

        `by`: an admin, or the person for the own password. Denied otherwise.
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
        """Set another password; every session ends. `old` does not count where there was none. Denied."""
        with self._db.reading() as connection:
            kept = connection.execute(select(accounts.c.password).where(accounts.c.id == account.id)).scalar_one()
        if kept is not None and not check_password(kept, old):
            raise Denied("wrong password")
        self.change(account.id, account, password=new)

    def profile(self, account: Account) -> Profile:
        """The version under which the person judges now."""
        found = self._store.find(Evaluator, id=account.evaluator)
        return profile_of(found[0]) if found else Profile()

    def set_profile(self, account: Account, profile: Profile) -> Account:
        """Commit a new version of the person's Evaluator record and judge under it from now on."""
        evaluator = evaluator_of(account.id, account.name, profile, self._clock())
        self._store.commit(evaluator)
        with self._db.writing() as connection:
            values = {"evaluator": evaluator.id, "domains": canonical(list(profile.domains)).decode()}
            connection.execute(update(accounts).where(accounts.c.id == account.id).values(values))
            return find_account(connection, account.id)

    # -- tokens

    def _ticket(self, kind: str, account: str | None, roles: str, author: str, lasts: int) -> str:
        token, now = new_token(), self._clock()
        row = {"hash": hashed(token), "kind": kind, "account": account, "roles": roles, "author": author}
        with self._db.writing() as connection:
            connection.execute(delete(tickets).where(tickets.c.expires < now - 30 * DAY))
            connection.execute(tickets.insert().values({**row, "expires": now + lasts, "used": None}))
        return token

    def _ticket_of(self, connection: Connection, token: str, kind: str) -> Any:
        mine = (tickets.c.hash == hashed(token)) & (tickets.c.kind == kind)
        row = connection.execute(select(tickets).where(mine)).first()
        if row is None or row.used is not None or row.expires <= self._clock():
            raise Denied(_SPENT, next=_ANEW)
        return row

    def _spend(self, connection: Connection, token: str, kind: str) -> Any:
        """Use a ticket up; Denied where it is not good. The transaction's end decides: one that fails gives it back."""
        row = self._ticket_of(connection, token, kind)
        connection.execute(update(tickets).where(tickets.c.hash == row.hash).values(used=self._clock()))
        return row

    def _session(self, connection: Connection, account: str) -> str:
        token, now = new_token(), self._clock()
        connection.execute(delete(sessions).where((sessions.c.expires <= now) | (sessions.c.ends <= now)))
        row = {"hash": hashed(token), "account": account, "expires": now + IDLE, "ends": now + SESSION, "at": now}
        connection.execute(sessions.insert().values(row))
        return token
