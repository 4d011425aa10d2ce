"""Work that people decide because the judge may not decide it: the judge is not proven, or its answers are
contradicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from worksample.records import Agent, Experiment, Instance, Protocol, Round
from worksample.results.evaluator_answers import WHOLE, evaluator_answers, majority_by_kind
from worksample.results.grading_in_force import as_graded
from worksample.results.result_set import ResultSet

from .config import CalibrationConfig, Stratum
from .label_draw import WHOLE as KIND_OF_WHOLE
from .label_draw import kind_of, leaves_of, shared_strata
from .label_rounds import LabelRound, evaluators
from .pair_strata import submissions_with_slots
from .prior_labels import carry_prior_labels, join_proofs

if TYPE_CHECKING:
    from worksample.metrics import Proof
    from worksample.metrics.calibration.judge_proof import Cell
    from worksample.store import Store

PARTED = "the judge's answers differ"
CONTRADICTED = "a person disagreed"
_ITEM = {Stratum.IMPORTANCE: "importance", Stratum.KIND: "kind_of"}


@dataclass(frozen=True)
class JudgedCells:
    """A judge's answers and people's labels, with a row for each submission and criterion, and the judge's proof in
    each cell.

    A cell is a version of the judge, a kind of criterion and a stratum. A proof says whether people's labels prove the
    judge in this cell. `rows` has the columns `subject`, `item`, `judge`, `person` and `parted` (true if the judge's
    answers differ from each other). Further columns identify the cell; `by` contains their names.
    """

    rows: pl.DataFrame
    by: tuple[str, ...]
    proofs: dict[Cell, Proof]


def prove_cells(
    store: Store,
    experiment: Experiment,
    protocol: Protocol,
    judged: Round,
    labels: LabelRound,
    config: CalibrationConfig,
) -> JudgedCells:
    """Compare the judge's answers with people's labels in each cell, and return the answers with the proofs. A cell is
    a version of the judge, a kind of criterion and a stratum of the plan.

    Labels of earlier experiments count if the setting `proofs` names these experiments.
    """
    by = ("by", "kind_of", *(f"in_{s}" for s in config.strata if s not in _ITEM))
    if Stratum.IMPORTANCE in config.strata:
        by = (*by, "importance")
    rows = _rows(store, experiment, judged, labels, config)

    def before(one: Experiment, its: Round, theirs: LabelRound) -> pl.DataFrame:
        return _rows(store, one, its, theirs, config)

    own = _proven(rows, by, config)
    more = carry_prior_labels(store, experiment, protocol, config, before)
    if more is None:
        return JudgedCells(rows, by, own)
    return JudgedCells(rows, by, join_proofs(own, _proven(pl.concat([rows, more], how="diagonal"), by, config)))


def _proven(rows: pl.DataFrame, by: tuple[str, ...], config: CalibrationConfig) -> dict[Cell, Proof]:
    from worksample.metrics import Sample, prove_by

    sample = Sample(rows["judge"], rows["person"], rows["task"], drawn=rows["drawn"])
    return prove_by(sample, [rows[name] for name in by], config.rules)


def _rows(
    store: Store, experiment: Experiment, judged: Round, labels: LabelRound, config: CalibrationConfig
) -> pl.DataFrame:  # fmt: skip
    """Return the answers of the judge and of people in an experiment, with the columns of the strata in `config`."""
    protocol = judged.protocol
    table = evaluator_answers(ResultSet(store, [experiment]), protocol)
    whole = pl.col("item") == WHOLE
    table = table.filter(whole if protocol is Protocol.HOLISTIC else ~whole)
    each = pl.col("value").n_unique() > 1
    parted = table.filter(pl.col("kind") == "judge").group_by("subject", "item").agg(parted=each)
    wide = majority_by_kind(table).join(parted, on=["subject", "item"], how="inner", maintain_order="left")
    known = _judged_items(store, experiment, judged, labels, config)
    return wide.drop("importance").join(known, on=["subject", "item"], how="inner", maintain_order="left")


def _judged_items(
    store: Store, experiment: Experiment, judged: Round, labels: LabelRound, config: CalibrationConfig
) -> pl.DataFrame:  # fmt: skip
    """Return a row for each submission and criterion that the judge answers, with the columns that identify its cell
    and with `drawn`.
    """
    protocol, said_by = judged.protocol, evaluators(store, judged.id)
    agents = {a.id: a for a in store.find(Agent)}
    arms = dict(_arms(store, experiment))
    known: dict[str, Instance] = {}
    rows = []
    for s, slot in submissions_with_slots(store, experiment.id):
        if s.instance not in known:
            known[s.instance] = as_graded(store, judged, store.get(Instance, s.instance))
        instance = known[s.instance]
        told = shared_strata(agents.get(s.entrant), arms.get(slot or "", ""), instance)
        shared = {"subject": s.id, "by": said_by.get(s.id, ""), "drawn": labels.draw.has(slot, s.id)}
        shared |= {f"in_{name}": told[name] for name in config.strata if name in told}
        if protocol is Protocol.HOLISTIC:
            rows.append({**shared, "item": WHOLE, "kind_of": KIND_OF_WHOLE, "importance": KIND_OF_WHOLE})
        for leaf in leaves_of(instance, protocol):
            rows.append(
                {**shared, "item": leaf.id, "kind_of": kind_of(leaf), "importance": leaf.importance or "points"}
            )
    names = ("subject", "item", "by", "kind_of", "importance", *(f"in_{s}" for s in config.strata if s not in _ITEM))
    shape = {**dict.fromkeys(names, pl.String()), "drawn": pl.Boolean()}
    return pl.DataFrame([{name: row[name] for name in shape} for row in rows], schema=shape, orient="row")


def _arms(store: Store, experiment: Experiment) -> Iterator[tuple[str, str]]:
    from worksample.records import Slot

    for slot in store.find(Slot, experiment=experiment.id):
        yield slot.id, slot.arm


def route_to_people(found: JudgedCells, config: CalibrationConfig) -> dict[str, str]:
    """Return the submissions that people decide, with the reason for each. The judge decides all other submissions.

    A submission that a person labelled goes to another person only if the first person and the judge disagree. If they
    agree, both give the same verdict.
    """
    from worksample.metrics import route

    out: dict[str, str] = {}
    for row in found.rows.iter_rows(named=True):
        subject = row["subject"]
        if subject in out:
            continue
        if row["person"] is not None:
            if "disagreement" in config.route and row["judge"] != row["person"]:
                out[subject] = f"{row['item']}: {CONTRADICTED}"
            continue
        if "disagreement" in config.route and (row["parted"] or row["judge"] is None):
            out[subject] = f"{row['item']}: {PARTED}"
            continue
        told = route(tuple(str(row[name]) for name in found.by), found.proofs)
        if told.people and "unproven" in config.route:
            out[subject] = f"{row['item']}: {told.standing}, {told.why}"
    return out
