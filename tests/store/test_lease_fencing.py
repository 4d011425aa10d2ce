"""Work taken over by another process: its late commit is refused, in every interleaving and on every database."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from running.profiles import examples
from store.test_many_machines import together
from store.worlds import World, planted
from worksample.errors import Superseded
from worksample.records import Trial
from worksample.store import Store, check, rebuild
from worksample.store.commit_objects import draft
from worksample.store.lease import Lease

WORLD = World()
SLOT = WORLD.slots[0]
KEY = f"slot:{SLOT.id}"


def finished(lease: Lease, id: str) -> Trial:
    return WORLD.trial(0, id).replaced(generation=lease.generation)


def take(store: Store, owner: str) -> Lease:
    lease = store.take(KEY, owner, 600)
    assert lease is not None
    return lease


def test_commit_under_a_lost_lease_is_refused(store: Store) -> None:
    first = take(store, "a")
    store.expire(KEY, "a")
    second = take(store, "b")
    assert second.generation > first.generation
    with store.fence(first), pytest.raises(Superseded):
        store.commit(finished(first, "late"))
    assert store.find(Trial) == []
    assert not store.keep(first, 600)
    with store.fence(second):
        store.commit(finished(second, "right"))
    assert [t.id for t in store.find(Trial, live=True)] == ["right"]
    assert check(store) == []


def test_expired_lease_that_nobody_took_still_holds(store: Store) -> None:
    lease = take(store, "a")
    store.expire(KEY, "a")
    assert store.keep(lease, 0)
    with store.fence(lease):
        store.commit(finished(lease, "late"))
    assert [t.id for t in store.find(Trial, live=True)] == ["late"]


def test_owner_who_retakes_a_lost_slot_has_a_new_generation(store: Store) -> None:
    first = take(store, "a")
    store.expire(KEY, "a")
    take(store, "b")
    store.release(KEY, "b")
    again = take(store, "a")
    assert again.generation > first.generation
    with store.fence(first), pytest.raises(Superseded):
        store.commit(finished(first, "late"))


def test_slot_finished_meanwhile_is_not_finished_again(store: Store) -> None:
    lease = take(store, "a")
    store.commit(WORLD.trial(0, "theirs"))
    with store.fence(lease), pytest.raises(Superseded, match="theirs"):
        store.commit(finished(lease, "mine"))


def test_object_of_a_lost_lease_that_was_indexed_first_stays(store: Store) -> None:
    """The process stood still between its object and its rows; another's `sync` brought them in."""
    lease = take(store, "a")
    committed, data = draft([finished(lease, "mine")])
    store.objects.write(committed.digest, data)
    assert store.sync(whole=True) == 1
    store.expire(KEY, "a")
    take(store, "b")
    with store.fence(lease):
        store.commit(finished(lease, "mine"))
    assert [t.id for t in store.find(Trial, live=True)] == ["mine"]


def test_check_names_slots_that_were_finished_twice(store: Store) -> None:
    store.commit(WORLD.trial(0, "t1"))
    store.commit(WORLD.trial(0, "t2"))
    (fault,) = check(store)
    assert fault.where == f"trial t2 of slot {SLOT.id}"
    assert fault.next.startswith("worksample amend strike trial t2 ")


def late_commits_and_takers(store: Store, rounds: int) -> None:
    """One commits late while another takes over: whoever is second finds it out, in whichever order they come."""
    for n in range(rounds):
        slot = WORLD.slots[n]
        key = f"slot:{slot.id}"
        first = store.take(key, "a", 0)
        assert first is not None
        trial = WORLD.trial(n, f"late-{n}").replaced(generation=first.generation)

        def commit(lease: Lease = first, trial: Trial = trial) -> bool:
            try:
                with store.fence(lease):
                    store.commit(trial)
            except Superseded:
                return False
            return True

        def take_over(key: str = key, slot: str = slot.id) -> bool:
            assert store.take(key, "b", 600) is not None
            return not store.find(Trial, slot=slot, live=True)

        kept, works = together(commit, take_over)
        assert kept != works, "either the late trial is there for the taker to see, or it is refused"
        assert len(store.find(Trial, slot=slot.id)) == (1 if kept else 0)


def test_late_commit_and_taker_see_each_other(store: Store) -> None:
    late_commits_and_takers(store, 8)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return planted(Store.open(tmp_path / "s", create=True), WORLD)


class TakeOvers(RuleBasedStateMachine):
    """Processes over one slot: each may stand still, be killed between its object and its rows, or come back late."""

    @initialize()
    def begin(self) -> None:
        self.room = Path(tempfile.mkdtemp())
        self.store = planted(open_store(self.room), WORLD)
        self.owners = [f"p{n}" for n in range(3)]
        self.held: list[Lease] = []
        self.latest: Lease | None = None
        self.live: str | None = None
        self.number = 0

    def teardown(self) -> None:
        if hasattr(self, "room"):
            self.store.close()
            shutil.rmtree(self.room)

    @rule(n=st.integers(0, 2))
    def take(self, n: int) -> None:
        lease = self.store.take(KEY, self.owners[n], 600)
        if lease is not None:
            assert self.latest is None or lease == self.latest or lease.generation > self.latest.generation
            self.latest = lease
            self.held = [*(one for one in self.held if one != lease), lease]

    @rule()
    def run_out(self) -> None:
        holder = self.store.holder(KEY)
        if holder is not None:
            self.store.expire(KEY, holder)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.held))
        trial = self._trial(lease)
        try:
            with self.store.fence(lease):
                self.store.commit(trial)
        except Superseded:
            assert lease != self.latest or self.store.find(Trial, live=True)
            return
        assert lease == self.latest
        assert self.live is None
        self.live = trial.id

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def die_between_object_and_rows(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.held))
        committed, text = draft([self._trial(lease)])
        self.store.objects.write(committed.digest, text)
        self.owners = [f"{name}+" if name == lease.owner else name for name in self.owners]
        self.held = [one for one in self.held if one.owner != lease.owner]

    @rule()
    def sync(self) -> None:
        before = self.live
        self.store.sync(whole=True)
        self.live = next((t.id for t in self.store.find(Trial, live=True)), None)
        assert before is None or self.live == before or self._newer(before)

    @rule()
    def rebuild(self) -> None:
        self.sync()
        rebuild(self.store)

    def _newer(self, before: str) -> bool:
        """Whether the live trial is of a later owner than `before`: one who was killed while he kept it."""
        return self.store.get(Trial, str(self.live)).generation > self.store.get(Trial, before).generation

    def _trial(self, lease: Lease) -> Trial:
        self.number += 1
        return finished(lease, f"t{self.number}")

    @invariant()
    def one_trial_is_live(self) -> None:
        if hasattr(self, "store"):
            assert [t.id for t in self.store.find(Trial, live=True)] == ([self.live] if self.live else [])


def open_store(room: Path) -> Store:
    return Store.open(room / "s", create=True)


TestTakeOvers = TakeOvers.TestCase
TestTakeOvers.settings = settings(max_examples=examples(15), stateful_step_count=20, deadline=None)
