"""Calibration of judges that compare pairs: the pairs that people label, the proof of the judge, and the pairs that
people decide.
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
    """Draw pairs of the judge's round at random in each stratum. The draw depends only on the pairs and the seed.

    In this draw, `strata` and `drawn` contain keys of pairs (`key_of`). Each combination of two agents is a stratum of
    its own, because a preference is a figure about these two agents. In each stratum, people label at least two pairs,
    or as many as `labels` says.
    """
    strata = strata_of(store, experiment, drawn_pairs(store, judged), config)
    if not strata:
        return LabelDraw({}, frozenset(), config.share or 1.0, config.seed)
    drawn = draw_within_strata(strata, config.share or 0.0, config.seed, config.labels or EACH)
    return LabelDraw(strata, drawn, config.share or len(drawn) / len(strata), config.seed)


@dataclass(frozen=True)
class PairCells:
    """A judge's answers about pairs, with people's labels and the proofs of the judge.

    `rows` has a row for each pair, with the columns of `pair_preferences` and with `stratum`, `cell`, `task` and
    `drawn`. `proofs` says whether the judge is proven, for each version of the judge and each cell (two compared
    agents).
    """

    rows: pl.DataFrame
    proofs: dict[Cell, Proof]


def pair_cells(
    store: Store, experiment: Experiment, judged: Round, labels: LabelRound, config: CalibrationConfig
) -> PairCells:
    """Compare a judge's answers with people's labels. They agree if both prefer the same submission, or if both prefer
    neither.
    """

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
    """Return the pairs that the judge answered or people labelled, with the columns `task`, `stratum`, `cell` and
    `drawn`.
    """
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
    """Return the pairs that people decide, with the reason for each. A pair that people labelled goes to other people
    only if the first people and the judge disagree.
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
"""Maximum difference between a judge's preference and a label that counts as agreement. The mean of a judge with
repeats may lie between two possible answers, and the nearest answer counts, as in `metrics.prove`.
"""
