"""Proof of a judge against people in a cell, and the routing of items to judge or people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import polars as pl

from worksample.metrics.column_checks import Column, Flags, floats, series, text
from worksample.metrics.estimate import Estimate

from .calibration_rules import CalibrationRules
from .label_sample import CheckedSample, LabelKind, Sample, check_sample
from .labels_only_estimate import labels_only

Cell = tuple[str, ...]
"""Properties that items of a cell share, such as (judge, agent's model, kind of criterion)."""


class JudgeStanding(StrEnum):
    PROVEN = "proven"
    """The judge agrees with people to the degree that the threshold requires: its answers count."""
    UNPROVEN = "unproven"
    """The judge is not, or not yet, proven; everything new begins so."""
    REFUSED = "refused"
    """The judge agrees with people less than the threshold requires."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A judge compared with people's labels in one cell. `passes` and `fails`: agreement on rows that people passed or
    failed.
    """

    standing: JudgeStanding
    why: str
    agreement: Estimate
    passes: Estimate
    fails: Estimate


@dataclass(frozen=True, slots=True)
class Route:
    """The kind of evaluator that an item goes to, and why."""

    people: bool
    standing: JudgeStanding
    why: str


def mark_agreement(sample: Sample, kind: LabelKind = LabelKind.RATE, within: float = 0.1) -> CheckedSample:
    """Return the labelled rows, with `people` 1 if judge and people agree.

    They agree if the answers are equal; for a judge's share, if both lie on the same side of one half; for scores, if
    they differ by at most `within`. Rows without an answer by the judge do not agree.
    """
    data = check_sample(sample, kind)
    if kind is LabelKind.RATE:
        same = (data.judge >= 0.5) == (data.people >= 0.5)
    else:
        same = np.abs(data.judge - data.people) <= (within if kind is LabelKind.SCORE else 0.25) + 1e-9
    silent = ~floats("judge", sample.judge)[1]
    return replace(data, people=np.where(data.has & same & ~silent, 1.0, 0.0))


def prove(
    sample: Sample, rules: CalibrationRules | None = None, *, kind: LabelKind = LabelKind.RATE, within: float = 0.1
) -> Proof:
    """Compare a judge with people's labels in one cell.

    The judge is proven if the lower end of the exact interval of agreement reaches the threshold, and if agreement on
    people's passes and on their fails, each with enough labels, reaches it too. It is refused if the upper end stays
    below the threshold.
    """
    rules = rules or CalibrationRules()
    found = mark_agreement(sample, kind, within)
    said = check_sample(sample, kind)
    whole = _share(found, found.has, "agreement with people", rules)
    sides = [
        _share(found, found.has & side, f"agreement on people's {name}", rules)
        for name, side in (("passes", said.people >= 0.5), ("fails", said.people < 0.5))
    ]
    return Proof(*_stand(whole, sides, rules), whole, *sides)


def _share(data: CheckedSample, rows: Flags, name: str, rules: CalibrationRules) -> Estimate:
    """Return the share of labels on which the judge agrees; unweighted, since it describes the sample's judgments."""
    kept = replace(data, has=rows, stratum=np.zeros(data.rows, dtype=np.int64), strata=("",))
    return labels_only(kept, LabelKind.RATE, name, rules.level)


def _stand(whole: Estimate, sides: Sequence[Estimate], rules: CalibrationRules) -> tuple[JudgeStanding, str]:
    labels = whole.counts.valid
    if whole.value is None or whole.low is None or whole.high is None:
        return JudgeStanding.UNPROVEN, "no label yet"
    asked = f"{100 * rules.threshold:g} %"
    if whole.high < rules.threshold:
        return (
            JudgeStanding.REFUSED,
            f"agrees on {whole.format_value()} % of {labels} labels: less than {asked}, beyond chance",
        )
    if whole.low < rules.threshold:
        return JudgeStanding.UNPROVEN, f"{labels} labels show {100 * whole.low:.0f} % or more, not yet {asked}"
    for side, name in zip(sides, ("passes", "fails"), strict=True):
        if side.counts.valid < rules.each:
            return (
                JudgeStanding.UNPROVEN,
                f"only {side.counts.valid} of people's {name} labelled, {rules.each} are required",
            )
        if side.value is not None and side.value < rules.threshold:
            return (
                JudgeStanding.UNPROVEN,
                f"agrees with {side.format_value()} % of people's {name}, {asked} are required",
            )
    return JudgeStanding.PROVEN, f"{labels} labels show {100 * whole.low:.0f} % or more"


def prove_by(
    sample: Sample,
    by: Sequence[Column],
    rules: CalibrationRules | None = None,
    *,
    kind: LabelKind = LabelKind.RATE,
    within: float = 0.1,
) -> dict[Cell, Proof]:
    """Return `prove` for every combination of the columns `by` that occurs, sorted."""
    columns = {"judge": sample.judge, "people": sample.people, "project": sample.project, "drawn": sample.drawn}
    frame = pl.DataFrame({name: series(name, values) for name, values in columns.items() if values is not None})
    keys = [f"by{i}" for i in range(len(by))]
    frame = frame.with_columns(text("by", values).alias(key) for key, values in zip(keys, by, strict=True))
    out: dict[Cell, Proof] = {}
    for cell, rows in frame.sort(keys, maintain_order=True).group_by(keys, maintain_order=True):
        drawn = rows["drawn"] if "drawn" in rows.columns else None
        part = Sample(rows["judge"], rows["people"], rows["project"], drawn=drawn)
        out[tuple(str(c) for c in cell)] = prove(part, rules, kind=kind, within=within)
    return out


def route(cell: Cell, proofs: Mapping[Cell, Proof]) -> Route:
    """Route an item of `cell` to people, unless the judge is proven in that cell. A cell without a proof is new."""
    proof = proofs.get(cell)
    if proof is None:
        return Route(True, JudgeStanding.UNPROVEN, f"new: no label yet for {', '.join(cell)}")
    return Route(proof.standing is not JudgeStanding.PROVEN, proof.standing, proof.why)
