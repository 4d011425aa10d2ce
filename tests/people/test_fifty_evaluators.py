"""Fifty concurrent evaluators: no item is given out twice or lost, even if processes are killed."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from forking.child import Talking
from people.worlds import Office, office
from running.profiles import examples
from worksample.people import People, own_queues
from worksample.people.clock import MINUTE, now_in_microseconds
from worksample.records import Evaluation, EvaluationOutcome
from worksample.store import Store, check
from worksample.store.people_tables import assignments, items

MANY = examples(4000)
"""Items, a quarter of them in the quick profile."""
Process = Talking


def clerks(where: Path, first: int, count: int, what: str, fault: str = "") -> Process:
    return Talking("people.clerk", [where, first, count, what], {**os.environ, "WORKSAMPLE_FAULT": fault})


def go(process: Process) -> None:
    process.stdin.write("\n")
    process.stdin.flush()


def multiply(desk: Office, round: str, total: int) -> None:
    """Fill the queue up to `total` items: copies of the first in places of their own."""
    with desk.store.database.writing() as connection:
        row = dict(connection.execute(select(items).limit(1)).one()._mapping)
        have = connection.execute(select(func.count()).select_from(items)).scalar_one()
        rows = [{**row, "id": f"copy{n}", "place": n / total} for n in range(total - have)]
        connection.execute(items.insert(), rows)


@pytest.mark.long
def test_fifty_claim_thousands_of_items_while_processes_are_killed(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=2, projects=2)
    people = [desk.hire(f"e{n:02}") for n in range(50)]
    round = desk.open(overlap=1, most_open=MANY)
    multiply(desk, round.id, MANY)
    desk.store.close()
    workers = [clerks(tmp_path / "s", n * 10, 10, "claim") for n in range(5)]
    for worker in workers:
        go(worker)
    seen = 0
    for n, worker in enumerate(workers):
        if n < 2:
            # In the middle of things: some dozen answers are out, or as many as the others have left to this one.
            seen += sum(bool(worker.stdout.readline()) for _ in range(40))
            worker.kill()
            worker.communicate()
    for worker in workers[2:]:
        worker.communicate(timeout=300)
        assert worker.returncode == 0
    with Store.open(tmp_path / "s") as store:
        with store.database.reading() as connection:
            given = connection.execute(select(assignments.c.item)).scalars().all()
            free = connection.execute(select(func.sum(items.c.free))).scalar_one()
        assert (len(given), len(set(given)), free) == (MANY, MANY, 0)
        # What the killed ones had open goes to the others once their leases have run out.
        dead = {p.id for p in people[:20]}
        with store.database.writing() as connection:
            lost = connection.execute(
                update(assignments)
                .where(assignments.c.account.in_(dead))
                .values(expires=now_in_microseconds() - MINUTE)
            ).rowcount
        assert lost >= seen > 0
        heir, got = People(store), Counter[str]()
        for _ in range(lost):
            item = heir.drafting.claim(people[30], ahead=True)
            assert item is not None
            got[item.id] += 1
        assert (len(got), max(got.values())) == (lost, 1)
        with store.database.reading() as connection:
            query = select(assignments.c.item, func.count()).where(assignments.c.state == "leased")
            held = {row.item: row[1] for row in connection.execute(query.group_by(assignments.c.item))}
        assert len(held) == MANY and set(held.values()) == {1}


@pytest.mark.parametrize("fault", ["store.object:kill:3", "people.said:kill:3"])
def test_process_killed_between_evaluation_and_queue_counts_once(tmp_path: Path, fault: str) -> None:
    desk = office(tmp_path, agents=4, projects=4)
    desk.hire("e0")
    desk.hire("e1")
    desk.open(overlap=1)
    desk.store.close()
    # The third record of its own that it commits: the object is on the disk, the rows are not; or the queue's are not.
    dying = clerks(tmp_path / "s", 0, 1, "submit", fault)
    go(dying)
    out, _ = dying.communicate(timeout=300)
    assert dying.returncode == -9 and len(out.splitlines()) == 2
    with Store.open(tmp_path / "s") as store:
        later = People(store, clock=lambda: now_in_microseconds() + 60 * MINUTE)
        other = later.accounts.all()[1]
        while (item := later.drafting.claim(other)) is not None:
            later.judging.submit(item.id, other, {"score": 1, "justification": "empty"}, "k")
        said = store.find(Evaluation, outcome=EvaluationOutcome.GIVEN)
        assert Counter(e.subject for e in said) == Counter({e.subject: 1 for e in said})
        assert len(said) == 16
        assert Counter(e.author for e in said)[f"person-{later.accounts.all()[0].id}"] == 3
        assert check(store, deep=True) == []


def test_answer_recorded_before_a_kill_is_noted_on_return(tmp_path: Path) -> None:
    """And not when its lease has run out: until then the item would be offered anew, and a second answer refused."""
    desk = office(tmp_path, agents=4, projects=4)
    desk.hire("e0")
    desk.open(overlap=1)
    desk.store.close()
    dying = clerks(tmp_path / "s", 0, 1, "submit", "people.said:kill:3")
    go(dying)
    dying.communicate(timeout=300)
    with Store.open(tmp_path / "s") as store:
        people = People(store)
        [me] = [a for a in people.accounts.all() if store.find(Evaluation, author=f"person-{a.id}")]
        [before] = own_queues(store, me)
        assert (before.done, before.open) == (2, 1)
        people.leasing.mark_submitted(me)
        people.leasing.mark_submitted(me)
        [after] = own_queues(store, me)
        assert (after.done, after.open, after.left) == (3, 0, 13)
        item = people.drafting.claim(me)
        assert item is not None
        people.judging.submit(item.id, me, {"score": 1, "justification": "empty"}, "k")
        assert len(store.find(Evaluation, outcome=EvaluationOutcome.GIVEN)) == 4
