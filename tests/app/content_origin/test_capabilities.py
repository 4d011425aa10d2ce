"""Addresses of deliverables: stable, unguessable, and valid only during their session."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from people.worlds import Clock
from worksample.app.content_origin.capability_hosts import LABEL, Capabilities
from worksample.people import Account, People
from worksample.store import Store

PANES = {"AD-1": "a" * 64, "AD-2": "b" * 64, "Inputs": ""}


class Desk:
    """One person, signed in, and the addresses that a server gives out."""

    def __init__(self, folder: Path) -> None:
        self.store, self.clock = Store.open(folder / "s", create=True), Clock()
        self.people = People(self.store, clock=self.clock)
        self.capabilities = Capabilities(self.store, self.clock)
        self.account = self.hire("ada")
        self.token = self.people.accounts.open_session(self.account)  # a password is a tenth of a second each time

    def hire(self, name: str) -> Account:
        return self.people.accounts.accept(self.people.accounts.invite(("evaluator",)), name, None)

    def labels(self, item: str = "i1", **rest: tuple[str, ...]) -> dict[str, str]:
        return self.capabilities.mint_all(self.token, self.account.id, item, PANES, **rest)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_label_opens_its_pane_and_stays_the_same(desk: Desk) -> None:
    labels = desk.labels(hidden=("maker-1",))
    assert set(labels) == {"AD-1", "AD-2"} and len(set(labels.values())) == 2
    assert all(LABEL.fullmatch(label) for label in labels.values())
    found = desk.capabilities.find(labels["AD-2"])
    assert found is not None and (found.item, found.pane, found.manifest) == ("i1", "AD-2", "b" * 64)
    assert (found.account, found.hidden) == (desk.account.id, ("maker-1",))
    assert desk.labels(hidden=("maker-1",)) == labels
    assert desk.capabilities.mint_all(desk.token, desk.account.id, "i1", {"AD-1": "a" * 64}) == {"AD-1": labels["AD-1"]}
    assert set(desk.labels("i2").values()).isdisjoint(labels.values())


def test_other_session_has_other_labels(desk: Desk) -> None:
    labels = desk.labels()
    other = desk.people.accounts.open_session(desk.account)
    again = desk.capabilities.mint_all(other, desk.account.id, "i1", PANES)
    assert set(again.values()).isdisjoint(labels.values())


def test_database_contains_no_label_and_no_token(desk: Desk, tmp_path: Path) -> None:
    labels = desk.labels()
    with sqlite3.connect(tmp_path / "s" / "index.sqlite") as connection:
        rows = str(connection.execute("SELECT * FROM capabilities").fetchall())
    assert "AD-1" in rows
    assert not any(secret in rows for secret in (desk.token, *labels.values()))


def test_label_ends_with_session_account_and_time(desk: Desk) -> None:
    fresh = Capabilities(desk.store, desk.clock)
    label = desk.labels()["AD-1"]
    assert fresh.find(label) is not None
    desk.clock.pass_(13 * 3600)
    assert fresh.find(label) is None
    assert desk.labels()["AD-1"] == label and fresh.find(label) is not None
    desk.people.accounts.logout(desk.token)
    # Another process remembers it for a moment; the one that ended it does not.
    desk.capabilities.find(label)
    desk.capabilities.forget(desk.token)
    assert desk.capabilities.find(label) is None
    desk.clock.pass_(4)
    assert fresh.find(label) is None


def test_label_ends_if_the_account_is_disabled(desk: Desk) -> None:
    label = desk.labels()["AD-1"]
    assert desk.capabilities.find(label) is not None
    desk.people.accounts.change(desk.account.id, None, disabled=True)
    desk.capabilities.forget_account(desk.account.id)
    assert desk.capabilities.find(label) is None


def test_label_never_outlives_the_session(desk: Desk) -> None:
    label = desk.labels()["AD-1"]
    desk.clock.pass_(11 * 3600)
    assert desk.labels()["AD-1"] == label
    desk.clock.pass_(13.5 * 3600)
    assert desk.people.accounts.session(desk.token) is None and desk.capabilities.find(label) is None


@pytest.mark.parametrize("label", ["", "x", "a" * 52, "A" * 52, "a" * 53, "a" * 31, "a.b", "é" * 40, "1" * 52])
def test_unknown_label_opens_nothing(desk: Desk, label: str) -> None:
    desk.labels()
    assert desk.capabilities.find(label) is None


def test_cached_labels_are_bounded(desk: Desk) -> None:
    labels = [desk.labels(f"i{number}")["AD-1"] for number in range(5)]
    small = Capabilities(desk.store, desk.clock, remember=3)
    assert all(small.find(label) for label in labels)
    assert [small.find_remembered(label) is not None for label in labels] == [False, False, True, True, True]
