"""Re-attempts of an experiment's chains. The first process that sees a due re-attempt commits its slot, and no other
process commits the slot again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

from worksample.errors import Superseded
from worksample.fault_injection import failpoint
from worksample.records import Amendment, AmendmentAction, AmendmentTarget, Experiment, Feedback, Record, Slot, now
from worksample.results.reattempts.chain_rule import ChainAction
from worksample.results.reattempts.chain_state import AttemptChain, chains_of
from worksample.results.reattempts.previous_attempt import resubmit_earlier_work
from worksample.store import Store

from .exclusive_lease import exclusively
from .planning.slot_order import next_slot

WITHDRAWN = "it was based on earlier work that no longer counts"


@dataclass
class ChainAdvance:
    """Changes that one call of `advance` made to the chains."""

    committed: list[Slot] = field(default_factory=list)
    carried: list[Slot] = field(default_factory=list)
    """Slots for which the earlier work was submitted again unchanged."""
    withdrawn: list[Slot] = field(default_factory=list)
    """Slots whose trial was struck, because it was based on earlier work that no longer counts."""

    def __bool__(self) -> bool:
        return bool(self.committed or self.carried or self.withdrawn)


def advance(store: Store, experiment: Experiment) -> ChainAdvance:
    """Commit the re-attempts that the chains' rule requires now. If the process is killed, the next call commits the
    missing ones.
    """
    if experiment.lock.chain is None:
        return ChainAdvance()
    try:
        return _advance(store, experiment)
    except Superseded:  # this process was stalled, and another one advanced the chains
        return ChainAdvance()


def _advance(store: Store, experiment: Experiment) -> ChainAdvance:
    moved = ChainAdvance()
    with exclusively(store, f"chains:{experiment.id}"):
        chains = chains_of(store, experiment)
        failpoint("chain.decided")
        records: list[Record] = []
        for chain in chains:
            slot = store.get(Slot, chain.step.slot)
            if chain.step.next is ChainAction.WITHDRAW:
                moved.withdrawn.append(slot)
                records.append(_strike_trial(chain, experiment))
            elif chain.step.next is ChainAction.COMMIT:
                moved.committed.append(next_slot(slot, chain.arm))
        records += moved.committed
        if records:
            store.commit(*records)
        failpoint("chain.committed")
        waiting = [store.get(Slot, c.step.slot) for c in chains if c.step.next is ChainAction.RUN]
        for slot in (*waiting, *moved.committed):
            if is_resubmitted(experiment, slot) and resubmit_earlier_work(store, experiment, slot):
                moved.carried.append(slot)
                failpoint("chain.carried")
    return moved


def may_run(store: Store, experiment: Experiment) -> frozenset[str] | None:
    """Return the ids of the slots that may run now and need an agent or a person. Return None if the experiment has no
    chains.
    """
    if experiment.lock.chain is None:
        return None
    open_ = store.open_slots(experiment.id)
    ready = {slot.id for slot in open_ if slot.after is None}
    if len(ready) < len(open_):
        ready |= {c.step.slot for c in chains_of(store, experiment) if c.step.next is ChainAction.RUN}
    return frozenset(slot.id for slot in open_ if slot.id in ready and not is_resubmitted(experiment, slot))


def is_resubmitted(experiment: Experiment, slot: Slot) -> bool:
    """Return whether the slot's arm submits the earlier work again unchanged, so that nobody works on the slot."""
    return any(a.name == slot.arm and a.feedback is Feedback.UNCHANGED for a in experiment.arms)


def _strike_trial(chain: AttemptChain, experiment: Experiment) -> Amendment:
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
