"""Calibration of judges of pairs: the pairs that people label, the proof of the judge, and the pairs that go to
people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from worksample.records import Experiment, Instance, Protocol, Round
from worksample.results.pair_preferences import pair_preferences
from worksample.results.pair_sampling import drawn_pairs
from worksample.results.result_set import ResultSet

from .config import CalibrationConfig
from .label_draw import EACH, LabelDraw
from .label_rounds import LabelRound
from .pair_strata import cell_of, draw_within_strata, strata_of
from .prior_labels import carry_prior_labels, join_proofs

if TYPE_CHECKING:
    from worksample.metrics import Proof
    from worksample.metrics.calibration.judge_proof import Cell
    from worksample.store import Store

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
    drawn = draw_within_strata(strata, config.share or 0.0, config.seed, config.labels or EACH)
    return LabelDraw(strata, drawn, config.share or len(drawn) / len(strata), config.seed)


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
