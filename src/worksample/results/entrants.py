"""The entrant who made a submission: an agent with its arm and attempt, or a person."""

from __future__ import annotations

from collections.abc import Set
from typing import TypeVar

from worksample.records import Arm, Experiment, Slot, Submission, Trial
from worksample.store import Store

_MANY = 400
R = TypeVar("R", Submission, Trial, Slot, Experiment)


def entrants_of(store: Store, submissions: Set[str]) -> dict[str, str]:
    """Return the name of the entrant by submission id, such as `agent`, `agent / arm` or `agent / attempt 2`. Different
    arms or attempts have different names.

    The arm is left out if the experiment has only the arm `plain`. The attempt is left out if it is the first.
    """
    made = _find_by_ids(store, Submission, submissions)
    trials = _find_by_ids(store, Trial, {s.trial for s in made.values() if s.trial is not None})
    slots = _find_by_ids(store, Slot, {t.slot for t in trials.values()})
    plans = _find_by_ids(store, Experiment, {slot.experiment for slot in slots.values()})
    out = {}
    for id, s in made.items():
        slot = slots.get(trials[s.trial].slot) if s.trial in trials else None
        out[id] = s.entrant if slot is None else _name(s.entrant, slot, plans.get(slot.experiment))
    return out


def _name(agent: str, slot: Slot, plan: Experiment | None) -> str:
    plain = plan is not None and {slot.arm, *(arm.name for arm in plan.arms)} == {Arm().name}
    arm = "" if plain else f" / {slot.arm}"
    return f"{agent}{arm}" + (f" / attempt {slot.attempt}" if slot.attempt > 1 else "")


def _find_by_ids(store: Store, cls: type[R], ids: Set[str]) -> dict[str, R]:
    wanted = sorted(ids)
    parts = (wanted[start : start + _MANY] for start in range(0, len(wanted), _MANY))
    return {r.id: r for part in parts for r in store.find(cls, id=part)}
