"""Progress of a plan in a store: how many of its slots are done, and which slots still have to run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from worksample.experiments.package_intake import store_holds
from worksample.experiments.status import status_of
from worksample.records import Slot
from worksample.results.reattempts.chain_rule import ChainAction
from worksample.results.reattempts.chain_state import chains_of
from worksample.store import Store

from .experiment_plan import Plan
from .slot_order import later_slots


@dataclass(frozen=True)
class PlanProgress:
    """Numbers of slots. `planned` is the sum of `done`, `open` and `not_attemptable`. `waits_for_people`,
    `waits_for_judge` and `ungraded` count parts of `done`.
    """

    planned: int
    done: int
    open: int
    not_attemptable: int
    waits_for_people: int
    waits_for_judge: int
    ungraded: int

    def plain(self) -> dict[str, Any]:
        """Return the counts as JSON types."""
        return asdict(self)


def _later(plan: Plan, store: Store) -> tuple[Slot, ...]:
    """Return the re-attempts that may still run: committed slots without a trial, and slots that the chains' rule may
    add.
    """
    found: list[Slot] = []
    for chain in chains_of(store, plan.experiment):
        slots = [store.get(Slot, link.slot) for link in chain.links]
        open_ = [s for s, link in zip(slots, chain.links, strict=True) if link.trial is None and s.after is not None]
        found += (
            [] if chain.step.next is ChainAction.END else [*open_, *later_slots(slots[-1], chain.arm, plan.experiment)]
        )
    return tuple(found)


def progress_of(plan: Plan, store: Store | None) -> tuple[PlanProgress, Plan]:
    """Return the progress of a plan, and a copy of the plan without the slots that are done. `store` is None if no
    store exists.
    """
    count, attemptable = len(plan.slots), len(plan.attemptable)
    if store is None or not store_holds(store, plan.experiment):
        return PlanProgress(count, 0, attemptable, count - attemptable, 0, 0, 0), plan
    status = status_of(store, plan.experiment)
    wanted = {slot.id for slot in store.open_slots(plan.experiment.id)}
    slots = tuple(s for s in plan.slots if s.not_attemptable or s.id in wanted)
    rest = replace(plan, slots=slots, later=_later(plan, store))
    waits = (status.waits_for_people, status.waits_for_judge)
    return PlanProgress(
        status.planned, status.finished, status.open, status.not_attemptable, *waits, status.ungraded
    ), rest
