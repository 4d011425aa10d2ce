"""Work by people on PostgreSQL, with several servers over one database."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from people.test_fifty_evaluators import clerks, go
from people.worlds import office
from store.test_postgres import server, url
from worksample.people import Conflict, Denied, People, RoundKind
from worksample.people.clock import MINUTE, now_in_microseconds
from worksample.people.quality import round_dashboard as dashboard
from worksample.records import Evaluation, EvaluationOutcome
from worksample.store import Store, check, rebuild

__all__ = ["server", "url"]
pytestmark = pytest.mark.postgres


def test_two_servers_share_one_database(url: str, tmp_path: Path) -> None:
    desk = office(tmp_path, agents=3, projects=3)
    token = desk.people.accounts.invite(["evaluator"])
    with Store.open(tmp_path / "s") as store:
        other = People(store, clock=desk.clock)
        ann = other.accounts.accept(token, "Ann", "four words in a row")
        with pytest.raises(Denied):
            desk.people.accounts.accept(token, "Bob", "four words in a row")
        assert desk.people.accounts.session(other.accounts.login("Ann", "four words in a row")) == ann
        desk.people.read_training(ann)
        round = desk.open(RoundKind.PAIRWISE, per_pair=3)
        item = other.drafting.claim(ann)
        assert item is not None
        again = desk.people.drafting.claim(ann)
        assert again is not None and again.id == item.id
        desk.people.drafting.save(item.id, ann, 0, {"completion": "first"})
        with pytest.raises(Conflict):
            other.drafting.save(item.id, ann, 0, {"completion": "second"})
        said = {"completion": "first", "quality": "equal", "justification": "both"}
        assert other.judging.submit(item.id, ann, said, "k") == desk.people.judging.submit(item.id, ann, said, "k")
        rebuild(store)
        assert dashboard.progress(desk.people.store, round.id).given == 1
    desk.store.close()


def test_killed_servers_leave_each_item_judged_once(url: str, tmp_path: Path) -> None:
    desk = office(tmp_path, agents=5, projects=6)
    for n in range(6):
        desk.hire(f"e{n}")
    desk.open(overlap=1)
    desk.store.close()
    workers = [clerks(tmp_path / "s", n * 2, 2, "submit", "store.object:kill:4" if n == 0 else "") for n in range(3)]
    for worker in workers:
        go(worker)
    codes = [(worker.communicate(timeout=300), worker.returncode)[1] for worker in workers]
    assert codes == [-9, 0, 0]
    with Store.open(tmp_path / "s") as store:
        later = People(store, clock=lambda: now_in_microseconds() + 60 * MINUTE)
        last = later.accounts.all()[-1]
        while (item := later.drafting.claim(last)) is not None:
            later.judging.submit(item.id, last, {"score": 1, "justification": "empty"}, "k")
        said = Counter(e.subject for e in store.find(Evaluation, outcome=EvaluationOutcome.GIVEN))
        assert (len(said), set(said.values())) == (30, {1})
        assert check(store, deep=True) == []
