"""Order in which an experiment's slots run, and the later attempts of a chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from worksample.records import (
    Arm,
    Experiment,
    Instance,
    Slot,
    digest_of,
)


def order_slots(slots: Sequence[Slot], seed: int, strata: Mapping[str, str] | None = None) -> tuple[Slot, ...]:
    """Order slots by repeat. Within each repeat, shuffle the slots with the random seed `seed`, so that no instance
    always runs last.

    `strata` maps instances to strata. If it is given, the strata are interleaved: every part of the order has slots of
    each stratum in proportion to the stratum's size.
    """
    drawn = sorted(slots, key=lambda s: (s.attempt, s.repeat, digest_of([seed, s.id])))
    if not strata:
        return tuple(drawn)
    out: list[Slot] = []
    for _, some in groupby(drawn, key=lambda s: (s.attempt, s.repeat)):
        of: dict[str, list[Slot]] = {}
        for slot in some:
            of.setdefault(strata.get(slot.instance, ""), []).append(slot)
        placed = [
            ((n + 0.5) / len(each), digest_of([seed, s.id]), s) for each in of.values() for n, s in enumerate(each)
        ]
        out += [s for *_, s in sorted(placed, key=lambda p: p[:2])]
    return tuple(out)


def strata_of(experiment: Experiment, instances: Sequence[Instance]) -> dict[str, str]:
    """Return each instance's category as its stratum, so that arms stay comparable at any time during the run. Return
    an empty mapping if the experiment has no chains.
    """
    return {i.id: i.about.category for i in instances} if experiment.lock.chain else {}


def later_slots(slot: Slot, arm: Arm, experiment: Experiment) -> tuple[Slot, ...]:
    """Return all slots of later attempts that may follow this slot in its arm."""
    found: list[Slot] = []
    while slot.attempt < experiment.attempts:
        slot = next_slot(slot, arm)
        found.append(slot)
    return tuple(found)


def next_slot(slot: Slot, arm: Arm) -> Slot:
    """Return the slot of the attempt that follows this slot in its chain."""
    attempt = slot.attempt + 1
    return Slot(
        id=Slot.identify(slot.experiment, slot.agent, slot.instance, arm.name, attempt, slot.repeat),
        experiment=slot.experiment,
        agent=slot.agent,
        instance=slot.instance,
        arm=arm.name,
        attempt=attempt,
        repeat=slot.repeat,
        after=slot.id,
    )
