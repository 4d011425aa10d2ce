"""Strata of pairs of submissions: the two compared agents, and the other strata of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from worksample.records import (
    Agent,
    Amendment,
    AmendmentTarget,
    Experiment,
    Instance,
    Round,
    Slot,
    Submission,
    Trial,
    struck,
)
from worksample.results.entrants import entrants_of
from worksample.results.pair_sampling import key_of, later_rounds, pairs_of

from .config import CalibrationConfig, Stratum, calibration_of
from .label_draw import EACH, LATER, LabelDraw, shared_strata

if TYPE_CHECKING:
    from worksample.store import Store

AGAINST = " against "
_LATER = f", {LATER}"


def draw_within_strata(strata: Mapping[str, str], share: float, seed: int, least: int) -> frozenset[str]:
    """Draw the given share of the pairs at random, and at least `least` pairs of each stratum. Return the keys of the
    drawn pairs.
    """
    from worksample.metrics import draw_labels

    mine = sorted(strata)
    flags = draw_labels([strata[key] for key in mine], round(share * len(mine)), seed=seed, least=least)
    return frozenset(key for key, flag in zip(mine, flags, strict=True) if flag)


def with_later_pairs(store: Store, experiment: Experiment, judged: Round, draw: LabelDraw) -> LabelDraw:
    """Return the draw, extended by pairs that were added to the judge's round later.

    For each combination of two agents in the later pairs, people label the same share as before, and at least two
    pairs. Later pairs have their own strata, but they belong to the same cells as the earlier pairs (`cell_of`).
    """
    config = calibration_of(experiment)
    if config is None:
        return draw
    for more in later_rounds(store, judged):
        # Struck work is included, so that striking does not change the draw.
        pairs = [(one, two) for one, two in pairs_of(store, more) if key_of(one, two) not in draw.strata]
        strata = strata_of(store, experiment, pairs, config, struck_too=True)
        strata = {key: f"{stratum}{_LATER}" for key, stratum in strata.items()}
        if strata:
            drawn = draw_within_strata(strata, draw.share, draw.seed, EACH)
            draw = LabelDraw({**draw.strata, **strata}, draw.drawn | drawn, draw.share, draw.seed)
    return draw


def cell_of(stratum: str) -> str:
    """Return the cell to which a stratum of pairs belongs. A judge is proven or refused in each cell. Earlier and later
    pairs of the same two agents have the same cell.
    """
    return stratum.removesuffix(_LATER)


def strata_of(
    store: Store, experiment: Experiment, pairs: Sequence[tuple[str, str]], config: CalibrationConfig, *,
    struck_too: bool = False,
) -> dict[str, str]:  # fmt: skip
    """Return the stratum of each pair, by key of the pair. A stratum names the two compared agents and the other strata
    of the plan.

    struck_too: whether to include pairs with withdrawn (struck) submissions, which are otherwise left out.
    """
    there = {s.id: (s, slot) for s, slot in submissions_with_slots(store, experiment.id, struck_too=struck_too)}
    pairs = [pair for pair in pairs if pair[0] in there and pair[1] in there]
    who = entrants_of(store, {id for pair in pairs for id in pair})
    agents = {a.id: a for a in store.find(Agent)}
    arms = {slot.id: slot.arm for slot in store.find(Slot, experiment=experiment.id)}
    instances: dict[str, Instance] = {}

    def strata_values(submission: Submission, slot: str | None) -> dict[Stratum, str]:
        if submission.instance not in instances:
            instances[submission.instance] = store.get(Instance, submission.instance)
        found = shared_strata(agents.get(submission.entrant), arms.get(slot or "", ""), instances[submission.instance])
        return {**found, Stratum.AGENT: who[submission.id]}

    by = dict.fromkeys((Stratum.AGENT, *config.strata))
    out = {}
    for one, two in pairs:
        sides = strata_values(*there[one]), strata_values(*there[two])
        values = (sorted({side[name] for side in sides}) for name in by if name in sides[0])
        out[key_of(one, two)] = ", ".join(AGAINST.join(value) for value in values)
    return out


def submissions_with_slots(
    store: Store, experiment: str, *, struck_too: bool = False
) -> list[tuple[Submission, str | None]]:
    """Return an experiment's submissions from valid trials and from outside, each with its slot, ordered by id. The
    slot is None for a submission from outside.

    struck_too: whether to include withdrawn (struck) submissions.
    """
    slots = {t.id: t.slot for t in store.find(Trial, experiment=experiment, live=True)}
    out = set() if struck_too else struck(store.find(Amendment))
    found = [s for s in store.find(Submission, experiment=experiment) if s.trial is None or s.trial in slots]
    stands = [
        s
        for s in found
        if not {
            (AmendmentTarget.SUBMISSION, s.id),
            (AmendmentTarget.INSTANCE, s.instance),
            (AmendmentTarget.TRIAL, s.trial or ""),
        }
        & out
    ]
    return sorted(((s, slots.get(s.trial or "")) for s in stands), key=lambda pair: pair[0].id)
