"""Judges of pairs beside people: which pairs are labelled, how far the judge is proven, and what goes to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from worksample.records import Agent, Experiment, Instance, Protocol, Round, Slot, Submission
from worksample.verdicts.entrants import entrants
from worksample.verdicts.frame import Work
from worksample.verdicts.pairs import drawn_pairs, key_of
from worksample.verdicts.preferring import preferred

from .carrying import carried, joined
from .config import CalibrationConfig, Stratum
from .drawing import EACH, Draw, about
from .labels import Labels, work_of

if TYPE_CHECKING:
    from worksample.metrics import Proof
    from worksample.metrics.calibration.proof import Cell
    from worksample.store import Store

AGAINST = " against "
PARTED = "the judge's answers part"
CONTRADICTED = "a person said otherwise"


def draw_pairs(store: Store, experiment: Experiment, judged: Round, config: CalibrationConfig) -> Draw:
    """At random within strata, of the pairs of the judge's round: a function of those and the seed, whatever it says.

    The draw's `strata` and `drawn` name pairs (`key_of`). Two agents that meet are a stratum of their own, since a
    preference is a figure of theirs; of each at least two are labelled, or `labels`.
    """
    from worksample.metrics import draw_labels

    strata = strata_of(store, experiment, judged, config)
    mine = sorted(strata)
    if not mine:
        return Draw({}, frozenset(), config.share or 1.0, config.seed)
    wanted = 0 if config.share is None else round(config.share * len(mine))
    flags = draw_labels([strata[key] for key in mine], wanted, seed=config.seed, least=config.labels or EACH)
    drawn = frozenset(key for key, flag in zip(mine, flags, strict=True) if flag)
    return Draw(strata, drawn, config.share or len(drawn) / len(mine), config.seed)


def strata_of(store: Store, experiment: Experiment, judged: Round, config: CalibrationConfig) -> dict[str, str]:
    """Pair -> its stratum, of the pairs of the judge's round that stand: who meets whom, and the plan's other ones."""
    there = {s.id: (s, slot) for s, slot in work_of(store, experiment.id)}
    pairs = [pair for pair in drawn_pairs(store, judged) if pair[0] in there and pair[1] in there]
    who = entrants(store, {id for pair in pairs for id in pair})
    agents = {a.id: a for a in store.find(Agent)}
    arms = {slot.id: slot.arm for slot in store.find(Slot, experiment=experiment.id)}
    instances: dict[str, Instance] = {}

    def told(submission: Submission, slot: str | None) -> dict[Stratum, str]:
        if submission.instance not in instances:
            instances[submission.instance] = store.get(Instance, submission.instance)
        found = about(agents.get(submission.entrant), arms.get(slot or "", ""), instances[submission.instance])
        return {**found, Stratum.AGENT: who[submission.id]}

    by = dict.fromkeys((Stratum.AGENT, *config.strata))
    out = {}
    for one, two in pairs:
        sides = told(*there[one]), told(*there[two])
        values = (sorted({side[name] for side in sides}) for name in by if name in sides[0])
        out[key_of(one, two)] = ", ".join(AGAINST.join(value) for value in values)
    return out


@dataclass(frozen=True)
class PairCells:
    """A row per pair of `verdicts.preferring`, with its `stratum`, its `task`, and whether it was drawn; a cell is the
    judges that answered, with their versions, and the stratum.
    """

    rows: pl.DataFrame
    proofs: dict[Cell, Proof]


def pair_cells(
    store: Store, experiment: Experiment, judged: Round, labels: Labels, config: CalibrationConfig
) -> PairCells:
    """Set the judge beside people's labels: they agree where both prefer the same side, or neither."""

    def before(one: Experiment, its: Round, theirs: Labels) -> pl.DataFrame:
        # By this plan's strata, whatever that one drew within.
        strata = strata_of(store, one, its, config)
        found = labelled_pairs(Work(store, [one]), its, theirs)
        mine = pl.Series([strata.get(key, "") for key in found["pair"].to_list()], dtype=pl.String)
        return found.with_columns(stratum=mine).filter(pl.col("stratum") != "")

    rows = labelled_pairs(Work(store, [experiment]), judged, labels)
    own = _proven(rows, config)
    more = carried(store, experiment, Protocol.PAIRWISE, config, before)
    if more is None:
        return PairCells(rows, own)
    return PairCells(rows, joined(own, _proven(pl.concat([rows, more], how="diagonal"), config)))


def _proven(rows: pl.DataFrame, config: CalibrationConfig) -> dict[Cell, Proof]:
    from worksample.metrics import Kind, Sample, prove_by

    sample = Sample(rows["judge"], rows["person"], rows["task"], drawn=rows["drawn"])
    return prove_by(sample, [rows["by"], rows["stratum"]], config.rules, kind=Kind.PREFERENCE)


def labelled_pairs(work: Work, judged: Round, labels: Labels) -> pl.DataFrame:
    """The pairs that the judge answered or people labelled, each with `task`, `stratum` and `drawn`."""
    found = preferred(work, judged, [labels.round])
    strata = labels.draw.strata
    tasks = {id: work.store.get(Instance, id).task for id in found["instance"].unique().to_list()}
    keys = found["pair"].to_list()
    return found.with_columns(
        task=pl.col("instance").replace_strict(tasks, return_dtype=pl.String),
        stratum=pl.Series([strata.get(key, "") for key in keys], dtype=pl.String),
        drawn=pl.Series([key in labels.draw.drawn for key in keys], dtype=pl.Boolean),
    ).filter(pl.col("stratum") != "")


def routed_pairs(found: PairCells, config: CalibrationConfig) -> dict[str, str]:
    """Pair -> why it goes to people. Those that people labelled go to others only where they and the judge differ."""
    from worksample.metrics import route

    out: dict[str, str] = {}
    for row in found.rows.iter_rows(named=True):
        side = row["judge"] is None or abs(row["judge"] - (row["person"] if row["person"] is not None else 2)) > _NEAR
        if row["person"] is not None:
            if "disagreement" in config.route and side:
                out[row["pair"]] = CONTRADICTED
        elif "disagreement" in config.route and (row["parted"] or row["judge"] is None):
            out[row["pair"]] = PARTED
        elif "unproven" in config.route and (told := route((row["by"], row["stratum"]), found.proofs)).people:
            out[row["pair"]] = f"{told.standing}, {told.why}"
    return out


_NEAR = 0.25 + 1e-9
"""A judge that repeats may lie between two sides: nearest counts, as in `metrics.prove`."""
