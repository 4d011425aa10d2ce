"""The draw of work for people to label: made from the plan before anything is judged, and recorded."""

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
"""Key in a round's versions: the digest of its `LabelDraw`."""
LATER = "came later"
"""Stratum of work that the plan does not name: handed-in work, or a later attempt."""
WHOLE = "whole"
EACH = 2
"""Minimum number of labels per stratum, if it has as much work: a single label shows no spread."""


@dataclass(frozen=True)
class LabelDraw:
    """A draw of slots for people to label. `strata`: slot -> stratum, of all slots that may be labelled; `drawn`: the
    slots to label. `share`: the share of later work to label.
    """

    strata: Mapping[str, str]
    drawn: frozenset[str]
    share: float
    seed: int

    def stratum(self, slot: str | None) -> str:
        """Return the stratum of a slot's work; `slot` is None for work without a slot."""
        return self.strata.get(slot or "", LATER)

    def has(self, slot: str | None, submission: str) -> bool:
        """Return whether people label this submission. Later work is drawn by its digest, independently of all
        verdicts.
        """
        if slot in self.strata:
            return slot in self.drawn
        return int(digest_of([self.seed, submission])[:12], 16) < self.share * 16**12

    @cached_property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Return, by stratum, the number of slots and the number of drawn ones."""
        every = Counter(self.strata.values())
        mine = Counter(self.strata[slot] for slot in self.drawn)
        return {name: (every[name], mine[name]) for name in sorted(every)}

    def plain(self) -> dict[str, Any]:
        return {"strata": dict(self.strata), "drawn": sorted(self.drawn), "share": self.share, "seed": self.seed}


def draw(
    slots: Sequence[Slot], agents: Mapping[str, Agent], instances: Mapping[str, Instance], protocol: Protocol,
    config: CalibrationConfig,
) -> LabelDraw:  # fmt: skip
    """Draw slots at random within strata, among first attempts that are attemptable and that a judge grades.

    The same slots and seed give the same draw, in any order.
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
    """Return the criteria that a judge answers."""
    grading = instance.grading.get(protocol)
    if grading is None or protocol is Protocol.HOLISTIC:
        return ()
    return tuple(leaf for leaf in grading.criteria.leaves if leaf.by is By.JUDGE)


def kind_of(leaf: Criterion) -> str:
    """Return `pitfall`, `gate` or `criterion`; the kind of verdicts on the whole is `whole`."""
    return "pitfall" if leaf.importance is Importance.PITFALL else "gate" if leaf.gate else "criterion"


def shared_strata(agent: Agent | None, arm: str, instance: Instance) -> dict[Stratum, str]:
    """Return the strata values that all items of a submission share."""
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
    """Return a slot's stratum as text; importance and kind are those of all criteria that the judge answers."""
    leaves = leaves_of(instance, protocol)
    values = shared_strata(agent, slot.arm, instance) | {
        Stratum.IMPORTANCE: "+".join(sorted({str(leaf.importance or Importance.IMPORTANT) for leaf in leaves}))
        or WHOLE,
        Stratum.KIND: "+".join(sorted({kind_of(leaf) for leaf in leaves})) or WHOLE,
    }
    return ", ".join(values[name] for name in strata) or "all"


def planned_draw(store: Store, experiment: Experiment, judged: Round, config: CalibrationConfig) -> LabelDraw:
    """Draw labels for an experiment in the store, from the questions that the judge is asked in its round."""
    agents = {id: store.get(Agent, id) for id in experiment.agents}
    instances = {id: as_graded(store, judged, store.get(Instance, id)) for id in experiment.lock.instances}
    return draw(store.find(Slot, experiment=experiment.id), agents, instances, judged.protocol, config)


def keep_draw(store: Store, found: LabelDraw) -> str:
    """Store a draw and return its digest, for a round's versions."""
    return put_canonical(store.blobs, found.plain())


def read_draw(store: Store, round: Round) -> LabelDraw | None:
    """Return the draw of a round of labels; None for any other round."""
    digest = round.versions.get(DRAWN)
    if digest is None:
        return None
    kept = json.loads(store.blobs.read(digest))
    return LabelDraw(kept["strata"], frozenset(kept["drawn"]), kept["share"], kept["seed"])
