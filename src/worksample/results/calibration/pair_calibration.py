"""Calibration of judges of pairs: the pairs that people label, the proof of the judge, and the pairs that go to
people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from worksample.records import Agent, Experiment, Instance, Protocol, Round, Slot, Submission
from worksample.results.entrants import entrants_of
from worksample.results.pair_preferences import pair_preferences
from worksample.results.pair_sampling import drawn_pairs, key_of, later_rounds, pairs_of
from worksample.results.result_set import ResultSet

from .config import CalibrationConfig, Stratum, calibration_of
from .label_draw import EACH, LATER, LabelDraw, shared_strata
from .label_rounds import LabelRound, submissions_with_slots
from .prior_labels import carry_prior_labels, join_proofs

if TYPE_CHECKING:
    from worksample.metrics import Proof
    from worksample.metrics.calibration.judge_proof import Cell
    from worksample.store import Store

AGAINST = " against "
_LATER = f", {LATER}"
PARTED = "the judge's answers differ"
CONTRADICTED = "a person disagreed"


def draw_pairs(store: Store, experiment: Experiment, judged: Round, config: CalibrationConfig) -> LabelDraw:
    """Draw pairs of the judge's round at random within strata, from the pairs and the seed alone.

    The draw's `strata` and `drawn` name pairs (`key_of`). Each two agents that meet are a separate stratum, since a
    preference is a figure about those two; in each stratum at least two pairs, or `labels`, are labelled.
    """
    strata = strata_of(store, experiment, drawn_pairs(store, judged), config)
    if not strata:
        return LabelDraw({}, frozenset(), config.share or 1.0, config.seed)
    drawn = _draw_within_strata(strata, config.share or 0.0, config.seed, config.labels or EACH)
    return LabelDraw(strata, drawn, config.share or len(drawn) / len(strata), config.seed)


def _draw_within_strata(strata: Mapping[str, str], share: float, seed: int, least: int) -> frozenset[str]:
    from worksample.metrics import draw_labels

    mine = sorted(strata)
    flags = draw_labels([strata[key] for key in mine], round(share * len(mine)), seed=seed, least=least)
    return frozenset(key for key, flag in zip(mine, flags, strict=True) if flag)


def with_later_pairs(store: Store, experiment: Experiment, judged: Round, draw: LabelDraw) -> LabelDraw:
    """Return the draw extended by pairs that were drawn later for the judge's round.

    For each two agents that meet in the later pairs, people label the same share, at least two. Later pairs have
    separate strata but share the cells of the earlier ones (`cell_of`).
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
            drawn = _draw_within_strata(strata, draw.share, draw.seed, EACH)
            draw = LabelDraw({**draw.strata, **strata}, draw.drawn | drawn, draw.share, draw.seed)
    return draw


def cell_of(stratum: str) -> str:
    """Return the cell in which a judge of pairs is proven: the two agents that meet, in earlier and later pairs."""
    return stratum.removesuffix(_LATER)


def strata_of(
    store: Store, experiment: Experiment, pairs: Sequence[tuple[str, str]], config: CalibrationConfig, *,
    struck_too: bool = False,
) -> dict[str, str]:  # fmt: skip
    """Return pair -> stratum for the pairs that are not struck: the two agents that meet, and the plan's other strata.

    struck_too: include struck pairs.
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


@dataclass(frozen=True)
class PairCells:
    """A judge's answers with people's labels. `rows`: a row per pair as of `pair_preferences`, with its `stratum`, its
    `cell`, its `task`, and whether it was drawn. A proof belongs to the judges that answered, with their versions,
    and the cell.
    """

    rows: pl.DataFrame
    proofs: dict[Cell, Proof]


def pair_cells(
    store: Store, experiment: Experiment, judged: Round, labels: LabelRound, config: CalibrationConfig
) -> PairCells:
    """Compare the judge with people's labels: they agree if both prefer the same side, or neither prefers one."""

    def before(one: Experiment, its: Round, theirs: LabelRound) -> pl.DataFrame:
        # Strata are those of this plan, even if the earlier plan drew within others.
        strata = strata_of(store, one, drawn_pairs(store, its), config)
        found = labelled_pairs(ResultSet(store, [one]), its, theirs)
        mine = pl.Series([strata.get(key, "") for key in found["pair"].to_list()], dtype=pl.String)
        return found.with_columns(cell=mine).filter(pl.col("cell") != "")

    rows = labelled_pairs(ResultSet(store, [experiment]), judged, labels)
    own = _proven(rows, config)
    more = carry_prior_labels(store, experiment, Protocol.PAIRWISE, config, before)
    if more is None:
        return PairCells(rows, own)
    return PairCells(rows, join_proofs(own, _proven(pl.concat([rows, more], how="diagonal"), config)))


def _proven(rows: pl.DataFrame, config: CalibrationConfig) -> dict[Cell, Proof]:
    from worksample.metrics import LabelKind, Sample, prove_by

    sample = Sample(rows["judge"], rows["person"], rows["task"], drawn=rows["drawn"])
    return prove_by(sample, [rows["by"], rows["cell"]], config.rules, kind=LabelKind.PREFERENCE)


def labelled_pairs(work: ResultSet, judged: Round, labels: LabelRound) -> pl.DataFrame:
    """Return the pairs that the judge answered or people labelled, each with `task`, `stratum` and `drawn`."""
    found = pair_preferences(work, judged, [labels.round])
    strata = labels.draw.strata
    tasks = {id: work.store.get(Instance, id).task for id in found["instance"].unique().to_list()}
    keys = found["pair"].to_list()
    return found.with_columns(
        task=pl.col("instance").replace_strict(tasks, return_dtype=pl.String),
        stratum=pl.Series([strata.get(key, "") for key in keys], dtype=pl.String),
        cell=pl.Series([cell_of(strata.get(key, "")) for key in keys], dtype=pl.String),
        drawn=pl.Series([key in labels.draw.drawn for key in keys], dtype=pl.Boolean),
    ).filter(pl.col("stratum") != "")


def routed_pairs(found: PairCells, config: CalibrationConfig) -> dict[str, str]:
    """Return pair -> why it goes to people. A pair that people labelled goes to others only if they and the judge
    differ.
    """
    from worksample.metrics import route

    out: dict[str, str] = {}
    for row in found.rows.iter_rows(named=True):
        side = row["judge"] is None or abs(row["judge"] - (row["person"] if row["person"] is not None else 2)) > _NEAR
        if row["person"] is not None:
            if "disagreement" in config.route and side:
                out[row["pair"]] = CONTRADICTED
        elif "disagreement" in config.route and (row["parted"] or row["judge"] is None):
            out[row["pair"]] = PARTED
        elif "unproven" in config.route and (routing := route((row["by"], row["cell"]), found.proofs)).people:
            out[row["pair"]] = f"{routing.standing}, {routing.why}"
    return out


_NEAR = 0.25 + 1e-9
"""Maximum distance from a label that counts as agreement: the mean of a judge that repeats may lie between two sides,
and the nearest counts, as in `metrics.prove`.
"""
