"""A person's queues, history and links."""

from __future__ import annotations

from pathlib import Path

import pytest

from people.worlds import office
from worksample.people import Denied, Profile, Role, RoundKind, own_queues, set_state


def test_queues_show_what_is_left_and_what_is_missing(tmp_path: Path) -> None:
    desk = office(tmp_path)
    ann = desk.hire("ann")
    first = desk.open()
    desk.clock.pass_(1)
    audit = desk.open(RoundKind.TAGS)
    assert [(s.queue.round, s.missing, s.open, s.left) for s in own_queues(desk.people.store, ann)] == [
        (first.id, "", 0, 12), (audit.id, "", 0, 12),
    ]  # fmt: skip
    item = desk.people.drafting.claim(ann, first.id)
    assert item is not None
    now = own_queues(desk.people.store, ann)[0]
    assert (now.open, now.done, now.skipped, now.left) == (1, 0, 0, 11)
    desk.people.judging.submit(item.id, ann, {"score": 1, "justification": "empty"}, "k")
    other = desk.people.drafting.claim(ann, first.id)
    assert other is not None
    desk.people.judging.skip(other.id, ann, "not mine")
    now = own_queues(desk.people.store, ann)[0]
    assert (now.open, now.done, now.skipped, now.left) == (0, 1, 1, 10)

    bob = desk.people.accounts.accept(desk.people.accounts.invite(["evaluator"]), "bob", None)
    assert [s.missing for s in own_queues(desk.people.store, bob)] == ["read the training page first"] * 2
    assert not desk.people.has_read_training(bob) and desk.people.has_read_training(ann)
    assert own_queues(desk.people.store, desk.hire("rita", "reviewer")) == []
    set_state(desk.people.store, first.id, "closed")
    assert [s.queue.round for s in own_queues(desk.people.store, ann)] == [audit.id]


def test_domains_narrow_the_queue(tmp_path: Path) -> None:
    desk = office(tmp_path)
    ann = desk.hire("ann")
    desk.open(domains=True)
    assert own_queues(desk.people.store, ann)[0].left == 0
    category = desk.instances[0].about.category
    ann = desk.people.accounts.set_profile(ann, Profile(domains=(category,)))
    assert own_queues(desk.people.store, ann)[0].left == 12
    assert desk.people.accounts.profile(ann) == Profile(domains=(category,))


def test_invitation_shows_its_roles_until_used(tmp_path: Path) -> None:
    desk = office(tmp_path)
    token = desk.people.accounts.invite(["expert", "reviewer"])
    roles, expires = desk.people.accounts.invitation_roles(token)
    assert roles == {Role.EXPERT, Role.REVIEWER} and expires == desk.clock.now + 7 * 24 * 3600 * 1_000_000
    desk.people.accounts.accept(token, "ann", None)
    for wrong in (token, "x", desk.people.accounts.one_time_link("ann")):
        with pytest.raises(Denied, match="wrong, used or expired"):
            desk.people.accounts.invitation_roles(wrong)


def test_history_shows_judgments_without_makers(tmp_path: Path) -> None:
    desk = office(tmp_path)
    ann = desk.hire("ann")
    desk.open()
    item = desk.people.drafting.claim(ann)
    assert item is not None
    given = desk.people.judging.submit(item.id, ann, {"score": 1, "justification": "empty"}, "k")
    assert desk.people.drafting.history(ann) == [
        {
            "item": item.id, "round": item.round, "form": "holistic", "title": item.title, "state": "done",
            "started": desk.clock.now, "active_seconds": 0.0, "evaluation": given.id, "flags": [],
        }
    ]  # fmt: skip


def test_new_password_needs_the_old_one_if_set(tmp_path: Path) -> None:
    desk = office(tmp_path)
    ann, accounts = desk.hire("ann"), desk.people.accounts
    session = accounts.open_session(ann)
    accounts.replace_password(ann, "", "a first pass phrase")
    assert accounts.session(session) is None, "a new password signs out"
    with pytest.raises(Denied, match="wrong password"):
        accounts.replace_password(ann, "", "another pass phrase")
    accounts.replace_password(ann, "a first pass phrase", "another pass phrase")
    assert accounts.session(accounts.login("ann", "another pass phrase")) is not None
    accounts.change(ann.id, None, disabled=True)
    with pytest.raises(Denied):
        accounts.open_session(ann)
