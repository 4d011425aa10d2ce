"""Proof of a judge: the comparison with people's labels in a cell of similar items, and the decision whether the judge
or people evaluate an item.
"""

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
"""Properties shared by all items of a cell, such as (judge, agent's model, kind of criterion)."""


class JudgeStanding(StrEnum):
    PROVEN = "proven"
    """The judge agrees with people as often as the threshold requires. Its answers count."""
    UNPROVEN = "unproven"
    """The labels do not yet show whether the judge is good enough. Every new judge begins with this standing."""
    REFUSED = "refused"
    """The judge agrees with people less often than the threshold requires."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Result of comparing a judge with people's labels in one cell.

    `passes` is the agreement on rows that people passed, `fails` the agreement on rows that people failed.
    """

    standing: JudgeStanding
    why: str
    agreement: Estimate
    passes: Estimate
    fails: Estimate


@dataclass(frozen=True, slots=True)
class Route:
    """The decision whether people or the judge evaluate an item, with its reason."""

    people: bool
    standing: JudgeStanding
    why: str


def mark_agreement(sample: Sample, kind: LabelKind = LabelKind.RATE, within: float = 0.1) -> CheckedSample:
    """Return the labelled rows with `people` replaced: 1 if judge and people agree, else 0.

    Answers agree if they are equal. A judge's share agrees with a pass or fail if both lie on the same side of one
    half. Scores agree if they differ by at most `within`. Rows without an answer of the judge count as disagreement.
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
    """Compare a judge with people's labels in one cell and decide the judge's standing.

    The judge is proven if two conditions hold. The lower end of the exact interval of agreement reaches the threshold.
    The agreement on people's passes and the agreement on people's fails, each with enough labels, reach the threshold
    as well. The judge is refused if the upper end of the interval is below the threshold. Otherwise it is unproven.
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
    """Return the share of labels with which the judge agrees. The share is unweighted, because it describes the labels
    drawn and not all rows.
    """
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
    """Return the result of `prove` for every combination of values that occurs in the columns `by`, sorted by
    combination.
    """
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
    """Return the route of an item in `cell`: to the judge if the judge is proven in that cell, otherwise to people.

    A judge without a proof in the cell counts as unproven.
    """
    proof = proofs.get(cell)
    if proof is None:
        return Route(True, JudgeStanding.UNPROVEN, f"new: no label yet for {', '.join(cell)}")
    return Route(proof.standing is not JudgeStanding.PROVEN, proof.standing, proof.why)
