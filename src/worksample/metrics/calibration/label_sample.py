"""The sample for calibrating a judge: the judge's answer on every submission, and people's labels on rows drawn at
random.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, Flags, Floats, Ints, codes, flags, floats, same_length

LEAST = 20
"""Minimum number of labels for a corrected figure. The library cje-eval and this project's simulations recommend 20
(docs/explanation/uncertainty.md).
"""


class LabelKind(StrEnum):
    """Kind of people's answers. The judge's answers may be any number in 0..1, whatever the kind."""

    RATE = "rate"
    """Pass or fail: 1 or 0."""
    SCORE = "score"
    """Rubric score: any number in 0..1."""
    PREFERENCE = "preference"
    """Preference in a pair: 1 for the first, 0.5 for neither, 0 for the second."""


_STEPS = {LabelKind.RATE: (0.0, 1.0), LabelKind.PREFERENCE: (0.0, 0.5, 1.0)}


@dataclass(frozen=True, slots=True)
class Sample:
    """Columns with one row per submission (or criterion, or pair).

    `judge` is the judge's answer in 0..1, null if the judge gave none. `people` is people's answer in 0..1, null if
    nobody has answered. `project` is the task of the row. `stratum` is the group of rows within which labels were drawn
    at random.

    `drawn` says whether the row was drawn for a label. Answers on other rows, such as disagreements sent to people,
    stay out of every estimate. Without the column `drawn`, all answers by people count as drawn.
    """

    judge: Column
    people: Column
    project: Column
    stratum: Column | None = None
    drawn: Column | None = None


@dataclass(frozen=True, slots=True)
class CheckedSample:
    """A checked `Sample` as arrays with one element per row.

    Rows without an answer of the judge have the mean of all the judge's answers in `judge`; the estimate is unbiased
    whichever value is used. `has` says whether the row has a label; without a label `people` is 0.
    """

    judge: Floats
    people: Floats
    has: Flags
    project: Ints
    projects: int
    stratum: Ints
    strata: tuple[str, ...]
    silent: int
    """Number of rows on which the judge gave no answer."""
    routed: int
    """Number of people's answers on rows that were not drawn at random. These answers do not count."""

    @property
    def rows(self) -> int:
        return len(self.judge)

    @property
    def labels(self) -> int:
        return int(self.has.sum())

    @property
    def labelled_projects(self) -> int:
        return len(np.unique(self.project[self.has]))

    @property
    def per_stratum(self) -> tuple[Ints, Ints]:
        """The number of rows and the number of labels of each stratum, as two arrays."""
        size = len(self.strata)
        return np.bincount(self.stratum, minlength=size), np.bincount(self.stratum[self.has], minlength=size)

    @property
    def empty(self) -> tuple[str, ...]:
        """Names of the strata that have rows but no label."""
        rows, labels = self.per_stratum
        return tuple(self.strata[h] for h in np.flatnonzero((rows > 0) & (labels == 0)))

    @property
    def weights(self) -> Floats:
        """The number of rows that each label represents, as an array with one element per row; 0 for rows without a
        label.
        """
        rows, labels = self.per_stratum
        return np.asarray((rows / np.maximum(labels, 1))[self.stratum] * self.has, dtype=np.float64)


def check_sample(sample: Sample, kind: LabelKind = LabelKind.SCORE) -> CheckedSample:
    """Check a sample and convert it to arrays.

    Raises UsageError if columns differ in length, if a value lies outside 0..1, or if an answer by people is impossible
    for `kind`.
    """
    size = same_length(
        judge=sample.judge,
        people=sample.people,
        project=sample.project,
        stratum=sample.stratum,
        drawn=sample.drawn,
    )
    judge, answered = floats("judge", sample.judge, low=0, high=1)
    people, asked = floats("people", sample.people, low=0, high=1)
    steps = _STEPS.get(kind)
    if steps and not np.isin(people[asked], steps).all():
        wrong = people[asked][~np.isin(people[asked], steps)][0]
        allowed = ", ".join(f"{step:g}" for step in steps)
        raise UsageError(
            f"the value {wrong:g} is not possible for kind = '{kind}'",
            where="column 'people'",
            next=f"one of {allowed}, or kind = 'score'",
        )
    drawn = np.ones(size, dtype=bool)
    if sample.drawn is not None:
        chosen, known = flags("drawn", sample.drawn)
        drawn = chosen & known
    has = asked & drawn
    projects = codes("project", sample.project)
    strata = codes("stratum", sample.stratum) if sample.stratum is not None else None
    mean = float(judge[answered].mean()) if answered.any() else 0.5
    return CheckedSample(
        judge=np.where(answered, judge, mean),
        people=np.where(has, people, 0.0),
        has=has,
        project=projects.index,
        projects=projects.size,
        stratum=strata.index if strata else np.zeros(size, dtype=np.int64),
        strata=tuple(strata.names()) if strata else ("",),
        silent=int(size - answered.sum()),
        routed=int((asked & ~drawn).sum()),
    )


def draw_labels(stratum: Column, labels: int, *, seed: int = 0, least: int = 0) -> pl.Series:
    """Draw rows at random for labels and return a flag per row.

    Each stratum gets labels in proportion to its number of rows, rounded. `least` is the minimum number of labels in
    each stratum; a stratum with fewer rows is drawn completely. Because of `least`, more than `labels` rows may be
    drawn in total. The same seed draws the same rows. Raises UsageError if `labels` exceeds the number of rows, or if a
    number is negative.
    """
    strata = codes("stratum", stratum)
    rows = len(strata.index)
    if not 0 <= labels <= rows or least < 0:
        raise UsageError(
            f"{labels} labels (least = {least}) cannot be drawn from {rows} rows",
            next=f"pass 0 to {rows}, and least >= 0",
        )
    chosen = np.zeros(rows, dtype=bool)
    chosen[draw(strata.index, labels, np.random.default_rng(seed), least)] = True
    return pl.Series("drawn", chosen)


def draw(stratum: Ints, labels: int, rng: np.random.Generator, least: int = 0) -> Ints:
    """Draw `labels` rows at random and return their positions. Each stratum gets labels in proportion to its rows, and
    at least `least`.
    """
    sizes = np.bincount(stratum)
    exact = sizes * labels / max(len(stratum), 1)
    take = np.floor(exact).astype(np.int64)
    # Largest remainders get what is left; equal ones by chance, so that no stratum is favoured by its name.
    order = np.lexsort((rng.random(len(sizes)), -(exact - take)))
    take[order[: labels - int(take.sum())]] += 1
    take = np.minimum(np.maximum(take, least), sizes)
    mixed = rng.permutation(len(stratum))
    mixed = mixed[np.argsort(stratum[mixed], kind="stable")]
    place = np.arange(len(stratum)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(mixed[place < np.repeat(take, sizes)])
