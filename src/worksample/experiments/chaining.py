"""The chains of a running experiment: what their rule asks for is committed, once, by whoever looks first."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

from worksample.errors import Superseded
from worksample.fault_injection import failpoint
from worksample.records import Amendment, AmendmentAction, AmendmentTarget, Experiment, Feedback, Record, Slot, now
from worksample.results.reattempts.chain_rule import Next
from worksample.results.reattempts.chain_state import Attempts, chains_of
from worksample.results.reattempts.earlier_work import carry
from worksample.store import Store

from .claim import alone
from .planning import slot_after

WITHDRAWN = "it was given work that does not stand any more"


@dataclass
class Moved:
    """What one look at the chains brought."""

    committed: list[Slot] = field(default_factory=list)
    carried: list[Slot] = field(default_factory=list)
    """Whose earlier work was handed in once more."""
    withdrawn: list[Slot] = field(default_factory=list)
    """Whose trial was struck."""

    def __bool__(self) -> bool:
        return bool(self.committed or self.carried or self.withdrawn)


def advance(store: Store, experiment: Experiment) -> Moved:
    """Do what the rule asks for now. What a kill leaves undone is asked for again by the next look."""
    if experiment.lock.chain is None:
        return Moved()
    try:
        return _advance(store, experiment)
    except Superseded:  # another process looked at the chains while this one stood still
        return Moved()


def _advance(store: Store, experiment: Experiment) -> Moved:
    moved = Moved()
    with alone(store, f"chains:{experiment.id}"):
        chains = chains_of(store, experiment)
        failpoint("chain.decided")
        records: list[Record] = []
        for chain in chains:
            slot = store.get(Slot, chain.step.slot)
            if chain.step.next is Next.WITHDRAW:
                moved.withdrawn.append(slot)
                records.append(_strike(chain, experiment))
            elif chain.step.next is Next.COMMIT:
                moved.committed.append(slot_after(slot, chain.arm))
        records += moved.committed
        if records:
            store.commit(*records)
        failpoint("chain.committed")
        waiting = [store.get(Slot, c.step.slot) for c in chains if c.step.next is Next.RUN]
        for slot in (*waiting, *moved.committed):
            if is_carried(experiment, slot) and carry(store, experiment, slot):
                moved.carried.append(slot)
                failpoint("chain.carried")
    return moved


def may_run(store: Store, experiment: Experiment) -> frozenset[str] | None:
    """The slots whose turn it is, of those that somebody has to work on; None where that is all that are open."""
    if experiment.lock.chain is None:
        return None
    open_ = store.open_slots(experiment.id)
    ready = {slot.id for slot in open_ if slot.after is None}
    if len(ready) < len(open_):
        ready |= {c.step.slot for c in chains_of(store, experiment) if c.step.next is Next.RUN}
    return frozenset(slot.id for slot in open_ if slot.id in ready and not is_carried(experiment, slot))


def is_carried(experiment: Experiment, slot: Slot) -> bool:
    """Whether nobody works on it."""
    return any(a.name == slot.arm and a.feedback is Feedback.UNCHANGED for a in experiment.arms)


def _strike(chain: Attempts, experiment: Experiment) -> Amendment:
    trial = next(link.trial for link in chain.links if link.slot == chain.step.slot)
    return Amendment(
        id=uuid4().hex,
        action=AmendmentAction.STRIKE,
        target=AmendmentTarget.TRIAL,
        target_id=trial or "",
        reason=WITHDRAWN,
        author=experiment.author,
        at=now(),
    )
