"""Whose work people label: drawn from the plan, before anything is judged, and recorded."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from worksample.files import put_canonical
from worksample.records import (
    Agent,
    By,
    Criterion,
    Experiment,
    Importance,
    Instance,
    Protocol,
    Round,
    Slot,
    digest_of,
)
from worksample.results.grading_in_force import as_graded

from .config import CalibrationConfig, Stratum

if TYPE_CHECKING:
    from worksample.store import Store

DRAWN = "calibration.drawn"
"""In a round's versions: the digest of its `Draw`."""
LATER = "came later"
"""The stratum of work that the plan does not name: handed in, or a later attempt."""
WHOLE = "whole"
EACH = 2
"""Labels of a stratum at least, as far as it has work: one alone shows no spread."""


@dataclass(frozen=True)
class Draw:
    """`strata`: slot -> stratum, of all slots that may be labelled; `drawn`: the slots that are. `share`: of work that
    came later.
    """

    strata: Mapping[str, str]
    drawn: frozenset[str]
    share: float
    seed: int

    def stratum(self, slot: str | None) -> str:
        """Of a slot's work; None for work without a slot."""
        return self.strata.get(slot or "", LATER)

    def has(self, slot: str | None, submission: str) -> bool:
        """Whether people label it. What came later is drawn by a digest, whatever anybody says of it."""
        if slot in self.strata:
            return slot in self.drawn
        return int(digest_of([self.seed, submission])[:12], 16) < self.share * 16**12

    @cached_property
    def counts(self) -> dict[str, tuple[int, int]]:
        """By stratum its slots, and those that are drawn."""
        every = Counter(self.strata.values())
        mine = Counter(self.strata[slot] for slot in self.drawn)
        return {name: (every[name], mine[name]) for name in sorted(every)}

    def plain(self) -> dict[str, Any]:
        return {"strata": dict(self.strata), "drawn": sorted(self.drawn), "share": self.share, "seed": self.seed}


def draw(
    slots: Sequence[Slot], agents: Mapping[str, Agent], instances: Mapping[str, Instance], protocol: Protocol,
    config: CalibrationConfig,
) -> Draw:  # fmt: skip
    """At random within strata, of the first attempts that can be made and of which a judge is asked something.

    The same slots and seed give the same draw, in whatever order they come.
    """
    from worksample.metrics import draw_labels

    mine = sorted((s for s in slots if _asked(s, instances, protocol)), key=lambda s: s.id)
    strata = [stratum_of(s, agents[s.agent], instances[s.instance], protocol, config.strata) for s in mine]
    if not mine:
        return Draw({}, frozenset(), config.share or 1.0, config.seed)
    least = config.labels or EACH
    wanted = 0 if config.share is None else round(config.share * len(mine))
    flags = draw_labels(strata, wanted, seed=config.seed, least=least)
    drawn = frozenset(s.id for s, flag in zip(mine, flags, strict=True) if flag)
    share = config.share or len(drawn) / len(mine)
    return Draw(dict(zip((s.id for s in mine), strata, strict=True)), drawn, share, config.seed)


def _asked(slot: Slot, instances: Mapping[str, Instance], protocol: Protocol) -> bool:
    instance = instances[slot.instance]
    able = not slot.not_attemptable and slot.attempt == 1 and protocol in instance.grading
    return able and (protocol is Protocol.HOLISTIC or bool(leaves_of(instance, protocol)))


def leaves_of(instance: Instance, protocol: Protocol) -> tuple[Criterion, ...]:
    """The criteria that a judge is asked."""
    grading = instance.grading.get(protocol)
    if grading is None or protocol is Protocol.HOLISTIC:
        return ()
    return tuple(leaf for leaf in grading.criteria.leaves if leaf.by is By.JUDGE)


def kind_of(leaf: Criterion) -> str:
    """`pitfall`, `gate` or `criterion`; verdicts on the whole are `whole`."""
    return "pitfall" if leaf.importance is Importance.PITFALL else "gate" if leaf.gate else "criterion"


def about(agent: Agent | None, arm: str, instance: Instance) -> dict[Stratum, str]:
    """What is the same for all that is asked of a piece of work."""
    released = agent.release_date.isoformat() if agent and agent.release_date else "unknown"
    return {
        Stratum.AGENT: agent.id if agent else LATER,
        Stratum.ARM: arm,
        Stratum.CATEGORY: instance.about.category or "none",
        Stratum.RELEASE_DATE: released,
    }


def stratum_of(
    slot: Slot, agent: Agent, instance: Instance, protocol: Protocol, strata: Sequence[Stratum]
) -> str:  # fmt: skip
    """In words; importance and kind are those of all criteria that the judge is asked."""
    leaves = leaves_of(instance, protocol)
    values = about(agent, slot.arm, instance) | {
        Stratum.IMPORTANCE: "+".join(sorted({str(leaf.importance or Importance.IMPORTANT) for leaf in leaves}))
        or WHOLE,
        Stratum.KIND: "+".join(sorted({kind_of(leaf) for leaf in leaves})) or WHOLE,
    }
    return ", ".join(values[name] for name in strata) or "all"


def planned_draw(store: Store, experiment: Experiment, judged: Round, config: CalibrationConfig) -> Draw:
    """Of an experiment in the store, by what the judge is asked in its round."""
    agents = {id: store.get(Agent, id) for id in experiment.agents}
    instances = {id: as_graded(store, judged, store.get(Instance, id)) for id in experiment.lock.instances}
    return draw(store.find(Slot, experiment=experiment.id), agents, instances, judged.protocol, config)


def keep_draw(store: Store, found: Draw) -> str:
    """Its digest, for a round's versions."""
    return put_canonical(store.blobs, found.plain())


def read_draw(store: Store, round: Round) -> Draw | None:
    """What was drawn for a round of labels; None for any other round."""
    digest = round.versions.get(DRAWN)
    if digest is None:
        return None
    kept = json.loads(store.blobs.read(digest))
    return Draw(kept["strata"], frozenset(kept["drawn"]), kept["share"], kept["seed"])
