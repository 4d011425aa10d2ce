"""The random draw of work for people to label. It is made from the plan before anything is judged, and it is
recorded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

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
from worksample.store import put_canonical

from .config import CalibrationConfig, Stratum

if TYPE_CHECKING:
    from worksample.store import Store

DRAWN = "calibration.drawn"
"""Key in a round's `versions`. The value is the digest of the round's `LabelDraw`."""
LATER = "came later"
"""Name of the stratum for work that was not part of the draw: work from outside, or a later attempt."""
WHOLE = "whole"
EACH = 2
"""Minimum number of labels in a stratum, if it contains enough work. A single label would not show any spread."""


@dataclass(frozen=True)
class LabelDraw:
    """A draw of slots for people to label.

    `strata` gives the stratum of every slot that may be labelled. `drawn` contains the slots to label. `share` is the
    share of later work that is labelled, too.
    """

    strata: Mapping[str, str]
    drawn: frozenset[str]
    share: float
    seed: int

    def stratum(self, slot: str | None) -> str:
        """Return the stratum of a slot's work. `slot` is None for work without a slot."""
        return self.strata.get(slot or "", LATER)

    def has(self, slot: str | None, submission: str) -> bool:
        """Return whether people label this submission. Later work is drawn by its digest, so that verdicts cannot
        influence the draw.
        """
        if slot in self.strata:
            return slot in self.drawn
        return int(digest_of([self.seed, submission])[:12], 16) < self.share * 16**12

    @cached_property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Return, for each stratum, the number of all slots and the number of drawn slots."""
        every = Counter(self.strata.values())
        mine = Counter(self.strata[slot] for slot in self.drawn)
        return {name: (every[name], mine[name]) for name in sorted(every)}

    def plain(self) -> dict[str, Any]:
        return {"strata": dict(self.strata), "drawn": sorted(self.drawn), "share": self.share, "seed": self.seed}


def draw(
    slots: Sequence[Slot], agents: Mapping[str, Agent], instances: Mapping[str, Instance], protocol: Protocol,
    config: CalibrationConfig,
) -> LabelDraw:  # fmt: skip
    """Draw slots at random in each stratum. Only attemptable first attempts that a judge grades can be drawn.

    The draw depends only on the slots and the seed, and not on the order of the slots.
    """
    from worksample.metrics import draw_labels

    mine = sorted((s for s in slots if _is_asked_of_judge(s, instances, protocol)), key=lambda s: s.id)
    strata = [stratum_of(s, agents[s.agent], instances[s.instance], protocol, config.strata) for s in mine]
    if not mine:
        return LabelDraw({}, frozenset(), config.share or 1.0, config.seed)
    least = config.labels or EACH
    wanted = 0 if config.share is None else round(config.share * len(mine))
    flags = draw_labels(strata, wanted, seed=config.seed, least=least)
    drawn = frozenset(s.id for s, flag in zip(mine, flags, strict=True) if flag)
    share = config.share or len(drawn) / len(mine)
    return LabelDraw(dict(zip((s.id for s in mine), strata, strict=True)), drawn, share, config.seed)


def _is_asked_of_judge(slot: Slot, instances: Mapping[str, Instance], protocol: Protocol) -> bool:
    instance = instances[slot.instance]
    able = not slot.not_attemptable and slot.attempt == 1 and protocol in instance.grading
    return able and (protocol is Protocol.HOLISTIC or bool(leaves_of(instance, protocol)))


def leaves_of(instance: Instance, protocol: Protocol) -> tuple[Criterion, ...]:
    """Return the criteria without parts that a judge answers."""
    grading = instance.grading.get(protocol)
    if grading is None or protocol is Protocol.HOLISTIC:
        return ()
    return tuple(leaf for leaf in grading.criteria.leaves if leaf.by is By.JUDGE)


def kind_of(leaf: Criterion) -> str:
    """Return the kind of a criterion for calibration: `pitfall`, `gate` or `criterion`. Verdicts on the whole work have
    the kind `whole`.
    """
    return "pitfall" if leaf.importance is Importance.PITFALL else "gate" if leaf.gate else "criterion"


def shared_strata(agent: Agent | None, arm: str, instance: Instance) -> dict[Stratum, str]:
    """Return the values of the strata that are equal for all criteria of a submission: agent, arm, category, release
    date.
    """
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
    """Return the name of a slot's stratum. Its importance and kind combine those of all criteria that the judge
    answers.
    """
    leaves = leaves_of(instance, protocol)
    values = shared_strata(agent, slot.arm, instance) | {
        Stratum.IMPORTANCE: "+".join(sorted({str(leaf.importance or Importance.IMPORTANT) for leaf in leaves}))
        or WHOLE,
        Stratum.KIND: "+".join(sorted({kind_of(leaf) for leaf in leaves})) or WHOLE,
    }
    return ", ".join(values[name] for name in strata) or "all"


def planned_draw(store: Store, experiment: Experiment, judged: Round, config: CalibrationConfig) -> LabelDraw:
    """Draw labels for a stored experiment, with the criteria that the judge is asked about in its round."""
    agents = {id: store.get(Agent, id) for id in experiment.agents}
    instances = {id: as_graded(store, judged, store.get(Instance, id)) for id in experiment.lock.instances}
    return draw(store.find(Slot, experiment=experiment.id), agents, instances, judged.protocol, config)


def keep_draw(store: Store, found: LabelDraw) -> str:
    """Write a draw to the store and return its digest, for the `versions` of a round."""
    return put_canonical(store.blobs, found.plain())


def read_draw(store: Store, round: Round) -> LabelDraw | None:
    """Return the draw of a round in which people label; None for any other round."""
    digest = round.versions.get(DRAWN)
    if digest is None:
        return None
    kept = json.loads(store.blobs.read(digest))
    return LabelDraw(kept["strata"], frozenset(kept["drawn"]), kept["share"], kept["seed"])
