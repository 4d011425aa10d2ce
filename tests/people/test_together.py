"""Answers that come at the same time share a transaction, and nobody pays for another's mistake."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from people.worlds import office
from worksample.people import Account, Conflict, Item, NotReady
from worksample.people.together import Together
from worksample.records import Evaluation, Rule
from worksample.store import check

ANSWER = {"score": 2, "justification": "report.txt has every figure of the brief"}


class Slow:
    """Doubles numbers, and holds the first call back until others wait."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.began, self.go = threading.Event(), threading.Event()

    def run(self, jobs: Sequence[int]) -> list[int | Exception]:
        self.batches.append(list(jobs))
        self.began.set()
        assert self.go.wait(10)
        if -1 in jobs:
            raise OSError("the disk is gone")
        return [ValueError(f"{job}") if job == 13 else job * 2 for job in jobs]


def _crowd(slow: Slow, jobs: list[int]) -> list[int | BaseException]:
    """The first job alone, the rest while it is being done."""
    together: Together[int, int] = Together(slow.run)

    def one(job: int) -> int | BaseException:
        try:
            return together.do(job)
        except (ValueError, OSError) as e:
            return e

    with ThreadPoolExecutor(len(jobs)) as pool:
        first = pool.submit(one, jobs[0])
        assert slow.began.wait(10)
        rest = [pool.submit(one, job) for job in jobs[1:]]
        while len(together._waiting) < len(jobs) - 1:
            threading.Event().wait(0.001)
        slow.go.set()
        return [first.result(10), *(each.result(10) for each in rest)]


def test_those_who_wait_are_done_at_once() -> None:
    slow = Slow()
    done = _crowd(slow, [1, 2, 13, 4])
    assert done[0] == 2 and done[1] == 4 and done[3] == 8
    assert isinstance(done[2], ValueError)
    assert [sorted(batch) for batch in slow.batches] == [[1], [2, 4, 13]]


def test_what_breaks_is_told_to_all() -> None:
    done = _crowd(Slow(), [1, -1, 3])
    assert done[0] == 2
    assert all(isinstance(each, OSError) for each in done[1:])


def test_one_refused_answer_refuses_no_other(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=3, projects=4)
    round = desk.open(overlap=1, rule=Rule.LATEST)
    people = [desk.hire(f"evaluator {n}") for n in range(8)]
    held: list[tuple[Account, Item]] = []
    for account in people:
        item = desk.people.claim(account)
        assert item is not None
        held.append((account, item))
    # The last one has it no more; the first one is sent twice.
    desk.people.withdraw(desk.hire("dana", "admin"), held[-1][1].id)
    desk.people.release(held[-1][1].id, held[-1][0])
    barrier = threading.Barrier(len(held) + 1)

    def submit(account: Account, item: Item) -> Evaluation | Conflict:
        barrier.wait(10)
        try:
            return desk.people.submit(item.id, account, ANSWER, "key")
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
def test_the_same_answer_at_once_is_one(tmp_path: Path, key: str) -> None:
    desk = office(tmp_path, agents=1, projects=1)
    desk.open(overlap=1, rule=Rule.LATEST)
    ann = desk.hire("ann")
    item = desk.people.claim(ann)
    assert item is not None
    barrier = threading.Barrier(2)

    def submit(key: str) -> Evaluation | Conflict:
        barrier.wait(10)
        try:
            return desk.people.submit(item.id, ann, ANSWER, key)
        except Conflict as e:
            return e

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(submit, ["key", key])
    if key == "key":
        assert isinstance(one, Evaluation) and one == two
    else:
        assert {type(one), type(two)} == {Evaluation, Conflict}
    assert len(desk.store.find(Evaluation)) == 1


def test_who_may_not_claim_costs_others_nothing(tmp_path: Path) -> None:
    desk = office(tmp_path / "s", agents=4, projects=5)
    new = [desk.people.accept(desk.people.invite(["evaluator"]), f"new {n}", None) for n in range(10)]
    ready = [desk.hire(f"ready {n}") for n in range(20)]
    round = desk.open(overlap=1, rule=Rule.LATEST)

    def claim(account: Account) -> Item | NotReady | None:
        try:
            return desk.people.claim(account, round.id)
        except NotReady as e:
            return e

    with ThreadPoolExecutor(30) as pool:
        refused, given = list(pool.map(claim, new)), list(pool.map(claim, ready))
    assert all(isinstance(found, NotReady) for found in refused)
    assert len({found.id for found in given if isinstance(found, Item)}) == 20
