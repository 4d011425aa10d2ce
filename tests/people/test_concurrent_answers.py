"""Concurrent answers: each counts once, and a refused one affects no other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from people.worlds import office
from worksample.people import Account, Conflict, Item, NotReady, People, withdraw
from worksample.people.quality import round_dashboard as dashboard
from worksample.records import Evaluation, ResolutionRule
from worksample.store import check

ANSWER = {"score": 2, "justification": "report.txt has every figure of the brief"}


def test_refused_answer_affects_no_other(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=3, projects=4)
    round = desk.open(overlap=1, rule=ResolutionRule.LATEST)
    people = [desk.hire(f"evaluator {n}") for n in range(8)]
    held: list[tuple[Account, Item]] = []
    for account in people:
        item = desk.people.drafting.claim(account)
        assert item is not None
        held.append((account, item))
    # The last one has it no more; the first one is sent twice.
    withdraw(desk.people.store, desk.hire("dana", "admin"), held[-1][1].id)
    desk.people.leasing.release(held[-1][1].id, held[-1][0])
    barrier = threading.Barrier(len(held) + 1)

    def submit(account: Account, item: Item) -> Evaluation | Conflict:
        barrier.wait(60)
        try:
            return desk.people.judging.submit(item.id, account, ANSWER, "key")
        except Conflict as e:
            return e

    with ThreadPoolExecutor(len(held) + 1) as pool:
        done = list(pool.map(lambda pair: submit(*pair), [*held, held[0]]))
    assert isinstance(done[7], Conflict)
    kept = {e.id: e for e in desk.store.find(Evaluation, round=round.id)}
    given = [e for e in done if isinstance(e, Evaluation)]
    assert len(given) == 8 and {e.id: e for e in given} == kept and len(kept) == 7
    assert done[0] == done[8]
    assert not check(desk.store)


@pytest.mark.parametrize("key", ["key", "other"])
def test_identical_concurrent_answers_count_once(tmp_path: Path, key: str) -> None:
    desk = office(tmp_path, agents=1, projects=1)
    desk.open(overlap=1, rule=ResolutionRule.LATEST)
    ann = desk.hire("ann")
    item = desk.people.drafting.claim(ann)
    assert item is not None
    barrier = threading.Barrier(2)

    def submit(key: str) -> Evaluation | Conflict:
        barrier.wait(60)
        try:
            return desk.people.judging.submit(item.id, ann, ANSWER, key)
        except Conflict as e:
            return e

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(submit, ["key", key])
    if key == "key":
        assert isinstance(one, Evaluation) and one == two
    else:
        assert {type(one), type(two)} == {Evaluation, Conflict}
    assert len(desk.store.find(Evaluation)) == 1


def test_refused_claims_cost_others_nothing(tmp_path: Path) -> None:
    desk = office(tmp_path / "s", agents=4, projects=5)
    new = [desk.people.accounts.accept(desk.people.accounts.invite(["evaluator"]), f"new {n}", None) for n in range(10)]
    ready = [desk.hire(f"ready {n}") for n in range(20)]
    round = desk.open(overlap=1, rule=ResolutionRule.LATEST)

    def claim(account: Account) -> Item | NotReady | None:
        try:
            return desk.people.drafting.claim(account, round.id)
        except NotReady as e:
            return e

    with ThreadPoolExecutor(30) as pool:
        refused, given = list(pool.map(claim, new)), list(pool.map(claim, ready))
    assert all(isinstance(found, NotReady) for found in refused)
    assert len({found.id for found in given if isinstance(found, Item)}) == 20


class Meddler:
    """The time, and what happens elsewhere between two steps of handing in: at the second look at the clock."""

    def __init__(self, clock: Callable[[], int], meddle: Callable[[], None]) -> None:
        self._clock, self._meddle, self._looks = clock, meddle, 0

    def __call__(self) -> int:
        self._looks += 1
        if self._looks == 2:
            self._meddle()
        return self._clock()


def test_item_returned_during_hand_in_is_not_free(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=1, projects=1)
    round = desk.open(overlap=1, rule=ResolutionRule.LATEST)
    ann, bob = desk.hire("ann"), desk.hire("bob")
    item = desk.people.drafting.claim(ann)
    assert item is not None
    elsewhere = Meddler(desk.clock, lambda: desk.people.leasing.release(item.id, ann))
    People(desk.store, clock=elsewhere).judging.submit(item.id, ann, ANSWER, "key")
    progress = dashboard.progress(desk.people.store, round.id)
    assert (progress.complete, progress.given, progress.open) == (1, 1, 0)
    assert desk.people.drafting.claim(bob) is None and desk.people.drafting.claim(ann) is None
