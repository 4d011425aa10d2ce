"""Accounts: tokens work once and expire, passwords are checked, and nobody gets more roles than invited to."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from people.worlds import Office, office
from worksample.errors import UsageError
from worksample.people import Conflict, Denied, People, Profile, Role, profile_of
from worksample.records import Evaluator
from worksample.store import rebuild
from worksample.store.people_tables import accounts, sessions, tickets

PASSWORD = "four words in a row"
HOUR = 3600.0


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=1, projects=1)


def test_invitation_creates_one_account_that_signs_in(desk: Office) -> None:
    people = desk.people
    token = people.accounts.invite(["evaluator"])
    ann = people.accounts.accept(token, "Ann  Lee", PASSWORD)
    assert (ann.name, ann.roles) == ("Ann Lee", {Role.EVALUATOR})
    with pytest.raises(Denied, match="wrong, used or expired"):
        people.accounts.accept(token, "Bob", PASSWORD)
    session = people.accounts.login("ann lee", PASSWORD)
    assert people.accounts.session(session) == ann
    for name, password in (
        ("ann lee", PASSWORD + "!"),
        ("nobody", PASSWORD),
        ("nul\x00", PASSWORD),
        ("\ud800", "\ud800"),
        ("ann lee", "x" * 5000),
    ):
        with pytest.raises(Denied, match=r"^wrong name or password"):
            people.accounts.login(name, password)
    people.accounts.logout(session)
    assert people.accounts.session(session) is None


def test_name_is_taken_in_every_spelling(desk: Office) -> None:
    desk.people.accounts.accept(desk.people.accounts.invite(["evaluator"]), "Ann Lee", PASSWORD)
    token = desk.people.accounts.invite(["evaluator"])
    with pytest.raises(Conflict):
        desk.people.accounts.accept(token, "ＡＮＮ  lee", PASSWORD)
    # The refusal did not use the invitation up.
    assert desk.people.accounts.accept(token, "Bob", PASSWORD).name == "Bob"


@pytest.mark.parametrize("password", ["", "short", "x" * 2000, "four words \ud800 in a row"])
def test_passwords_of_wrong_length_are_refused(desk: Office, password: str) -> None:
    with pytest.raises(Denied, match="12 to 1024"):
        desk.people.accounts.accept(desk.people.accounts.invite(["evaluator"]), "Ann", password)


@pytest.mark.parametrize("name", ["", "   ", "a" * 101, "bell\x07", "turn\u202eed"])
def test_unreadable_names_are_refused(desk: Office, name: str) -> None:
    with pytest.raises(UsageError, match="printable"):
        desk.people.accounts.accept(desk.people.accounts.invite(["evaluator"]), name, PASSWORD)


def test_tokens_expire(desk: Office) -> None:
    people = desk.people
    late = people.accounts.invite(["evaluator"])
    ann = people.accounts.accept(people.accounts.invite(["evaluator"]), "Ann", PASSWORD)
    link = people.accounts.one_time_link("Ann")
    session = people.accounts.login("Ann", PASSWORD)
    desk.clock.pass_(0.5 * HOUR)
    with pytest.raises(Denied):
        people.accounts.redeem(link)
    desk.clock.pass_(23 * HOUR)
    assert people.accounts.session(session) == ann
    desk.clock.pass_(23 * HOUR)
    assert people.accounts.session(session) == ann, "use keeps it open"
    desk.clock.pass_(25 * HOUR)
    assert people.accounts.session(session) is None, "a day without use ends it"
    desk.clock.pass_(7 * 24 * HOUR)
    with pytest.raises(Denied):
        people.accounts.accept(late, "Bob", PASSWORD)


def test_session_ends_after_thirty_days_of_daily_use(desk: Office) -> None:
    desk.people.accounts.accept(desk.people.accounts.invite(["evaluator"]), "Ann", PASSWORD)
    session = desk.people.accounts.login("Ann", PASSWORD)
    days = 0
    while desk.people.accounts.session(session) is not None:
        desk.clock.pass_(12 * HOUR)
        days += 1
    assert days == 60


def test_link_opens_one_session_and_is_no_invitation(desk: Office) -> None:
    people = desk.people
    owner = people.accounts.create("Owner", ["admin", "evaluator"])
    assert people.accounts.create("owner", ["evaluator"]) == owner, "the one there is, as it is"
    link = people.accounts.one_time_link("Owner")
    assert people.accounts.session(people.accounts.redeem(link)) == owner
    with pytest.raises(Denied):
        people.accounts.redeem(link)
    with pytest.raises(Denied):
        people.accounts.redeem(people.accounts.invite(["admin"]))
    with pytest.raises(Denied, match="wrong name or password"):
        people.accounts.login("Owner", "")


def test_only_admins_invite_link_and_change(desk: Office) -> None:
    ann, dana = desk.hire("ann"), desk.hire("dana", "admin")
    people = desk.people
    for attempt in (
        lambda: people.accounts.invite(["admin"], ann),
        lambda: people.accounts.one_time_link("dana", ann),
        lambda: people.accounts.change(ann.id, ann, roles=["admin"]),
        lambda: people.accounts.change(ann.id, ann, password=PASSWORD, roles=["admin"]),
        lambda: people.accounts.change(dana.id, ann, password=PASSWORD),
    ):
        with pytest.raises(Denied):
            attempt()
    people.accounts.change(ann.id, ann, password=PASSWORD)
    session = people.accounts.login("ann", PASSWORD)
    people.accounts.change(ann.id, dana, disabled=True)
    assert people.accounts.session(session) is None
    with pytest.raises(Denied):
        people.accounts.login("ann", PASSWORD)


def test_database_contains_no_secret(desk: Office) -> None:
    people = desk.people
    invitation = people.accounts.invite(["evaluator"])
    people.accounts.accept(invitation, "Ann", PASSWORD)
    tokens = [invitation, people.accounts.login("Ann", PASSWORD), people.accounts.one_time_link("Ann")]
    with desk.store.database.reading() as connection:
        rows = [str(tuple(r)) for t in (accounts, sessions, tickets) for r in connection.execute(select(t))]
    assert not any(secret in row for secret in (*tokens, PASSWORD) for row in rows)
    assert any("$argon2id$" in row for row in rows)


def test_profile_is_versioned_and_accounts_survive_a_rebuild(desk: Office) -> None:
    ann = desk.hire("ann")
    profile = Profile(
        domains=("upwork:design",), skills=("logos",), hours=1200, earnings=60_000, rating=4.9, pay_rate=40
    )
    later = desk.people.accounts.set_profile(ann, profile)
    assert later.evaluator != ann.evaluator and later.domains == ("upwork:design",)
    assert desk.people.accounts.set_profile(later, profile) == later, "the same profile is the same version"
    rebuild(desk.store)
    assert desk.people.accounts.all() == [later]
    assert profile_of(desk.store.get(Evaluator, later.evaluator)) == profile
    assert profile_of(desk.store.get(Evaluator, ann.evaluator)) == Profile()


def test_ended_session_is_refused_at_once_here_and_soon_elsewhere(desk: Office) -> None:
    people, elsewhere = desk.people, People(desk.store, clock=desk.clock)
    ann = people.accounts.accept(people.accounts.invite(["evaluator"]), "Ann", PASSWORD)
    for end in (
        people.accounts.logout,
        lambda _: people.accounts.change(ann.id, None, password=PASSWORD + "!"),
        lambda _: people.accounts.change(ann.id, None, disabled=True),
    ):
        token = people.accounts.open_session(ann)
        assert people.accounts.session(token) == elsewhere.accounts.session(token) == ann
        end(token)
        assert people.accounts.session(token) is None
        desk.clock.pass_(2)
        assert elsewhere.accounts.session(token) is None


def test_changed_role_counts_at_once(desk: Office) -> None:
    people = desk.people
    ann = people.accounts.accept(people.accounts.invite(["evaluator"]), "Ann", PASSWORD)
    token = people.accounts.open_session(ann)
    assert people.accounts.session(token) == ann
    people.accounts.change(ann.id, None, roles=["reviewer"])
    found = people.accounts.session(token)
    assert found is not None and found.roles == {Role.REVIEWER}
