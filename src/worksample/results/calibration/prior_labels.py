"""Labels of earlier experiments, which help to prove the same judge for the same kind of work.

These labels only decide whether a judge is proven or refused. Figures use only labels that were drawn from the
experiment's own work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from worksample.errors import PlanError
from worksample.records import Amendment, EvaluatorKind, Experiment, Protocol, Round
from worksample.results.deciding_rounds import RoundsInForce

from .config import CalibrationConfig, calibrated_protocols, calibration_of
from .label_rounds import LabelRound, labels_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from worksample.metrics import Proof
    from worksample.metrics.calibration.judge_proof import Cell
    from worksample.store import Store

WHERE = "[calibration] proofs"


def earlier_experiments(store: Store, experiment: Experiment, config: CalibrationConfig) -> list[Experiment]:
    """Return the experiments that the setting `proofs` names by id or by name. If several experiments have a name, the
    latest one that was planned before this experiment is returned.

    Raises PlanError if an experiment does not exist, or if it calibrated none of this experiment's protocols.
    """
    found = []
    known = [e for e in store.find(Experiment) if e.id != experiment.id and e.at <= experiment.at]
    for name in config.proofs:
        fitting = [e for e in known if e.id == name] or [e for e in known if e.name == name]
        if not fitting:
            raise PlanError(f"unknown earlier experiment {name!r}", where=WHERE, next="worksample list")
        one = max(fitting, key=lambda e: (e.at, e.id))
        if not calibrated_protocols(one) & frozenset(config.protocols):
            under = " or ".join(config.protocols)
            raise PlanError(
                f"the experiment {name} calibrated no judge under {under}",
                where=WHERE,
                next=f"leave {name} out of proofs",
            )
        found.append(one)
    return found


def carry_prior_labels(
    store: Store, experiment: Experiment, protocol: Protocol, config: CalibrationConfig,
    rows_of: Callable[[Experiment, Round, LabelRound], pl.DataFrame],
) -> pl.DataFrame | None:  # fmt: skip
    """Return the labelled rows of all earlier experiments; None if there are none. rows_of: a function that returns the
    rows of one experiment.
    """
    rows = []
    for one in earlier_experiments(store, experiment, config):
        labels = labels_of(store, one.id, protocol) if _calibrates(one, protocol) else None
        rounds = RoundsInForce(store.find(Round, experiment=one.id), store.find(Amendment, target="round"))
        judged = rounds.deciding(protocol, EvaluatorKind.JUDGE)
        if labels is not None and judged:
            rows.append(rows_of(one, judged[-1], labels))
    every = pl.concat(rows, how="diagonal") if rows else None
    return None if every is None else every.filter(pl.col("person").is_not_null() & pl.col("drawn"))


def _calibrates(experiment: Experiment, protocol: Protocol) -> bool:
    config = calibration_of(experiment)
    return config is not None and protocol in config.protocols


def join_proofs(own: Mapping[Cell, Proof], pooled: Mapping[Cell, Proof]) -> dict[Cell, Proof]:
    """Return the proof of the judge in each cell (a version of the judge with a kind of work), computed from all labels
    together.

    If the experiment's own labels refuse the judge in a cell, the proof from the own labels is used instead, because
    they are about this work. own: proofs from the experiment's labels. pooled: proofs from all labels.
    """
    from worksample.metrics import JudgeStanding

    found = dict(own)
    for cell, proof in own.items():
        before = pooled[cell].agreement.counts.valid - proof.agreement.counts.valid
        if before and proof.standing is not JudgeStanding.REFUSED:
            found[cell] = replace(pooled[cell], why=f"{pooled[cell].why}; {before} of them from earlier experiments")
    return found
