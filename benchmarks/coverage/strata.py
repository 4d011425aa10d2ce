"""How often figures over several agents or strata hold the truth with few labels: corrected ones, and labels alone.

Strata differ in size, in rate and in their judge, and share jobs.
The first row of a world has corrected figures: with fewer than 20 labels or labelled projects, or a stratum without a
label, there is none. The width of labels alone is beside Clopper and Pearson's for all labels as one sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from benchmarks.coverage.cells import Cell
from scipy.special import betaincinv

from worksample.metrics.calibration.label_sample import LEAST, CheckedSample, LabelKind, draw
from worksample.metrics.calibration.labels_only_estimate import labels_only
from worksample.metrics.calibration.prediction_powered import Parts, refusal_reason
from worksample.metrics.counts import Counts
from worksample.metrics.estimate import Estimate, undefined_estimate
from worksample.metrics.uncertainty.intervals import exact

LABELS = (10, 20, 30, 50)
ALL, LENIENT, GOOD, HARSH, NOISY = (1.0, 1.0), (1.0, 0.4), (0.95, 0.05), (0.6, 0.02), (0.8, 0.2)
"""Chance of a pass where people pass, and where they do not."""
NONE = undefined_estimate("withheld", "too few labels, or a stratum without one", Counts(1, 0))
DIFFERING = (LENIENT, HARSH, GOOD, ALL, NOISY)
"""Judges whose errors differ between agents."""


@dataclass(frozen=True, slots=True)
class Strata:
    """A world. `sizes`: rows of each stratum; `rates` and `judges`: by stratum, repeated as needed.

    `alike`: how far jobs differ for all strata; `least`: labels of each stratum at least; `nested`: no job is in two.
    """

    name: str
    sizes: tuple[int, ...]
    rates: tuple[float, ...]
    judges: tuple[tuple[float, float], ...] = (LENIENT,)
    kind: LabelKind = LabelKind.RATE
    alike: float = 0.0
    least: int = 0
    nested: bool = False

    def draw(self, labels: int, rng: np.random.Generator) -> tuple[CheckedSample, float]:
        """What is known of one draw, and the truth."""
        count = len(self.sizes)
        stratum = np.repeat(np.arange(count), self.sizes)
        job = np.arange(len(stratum)) if self.nested else np.concatenate([np.arange(size) for size in self.sizes])
        rate = np.resize(self.rates, count)
        people = self._people(rng, rate[stratum], job)
        yes, no = np.resize(np.array(self.judges), (count, 2))[stratum].T
        if self.kind is LabelKind.SCORE:
            # The same judges, of scores: who passes more shifts up, who passes less down.
            judge = np.clip(people + (yes + no - 1) / 3 + rng.normal(0, 0.2, len(people)), 0, 1)
        else:
            judge = (rng.random(len(people)) < no + people * (yes - no)).astype(float)
        has = np.zeros(len(people), dtype=bool)
        has[draw(stratum, labels, rng, self.least)] = True
        truth = float(rate[stratum].mean())
        truth = 0.8 * truth + 0.1 if self.kind is LabelKind.PREFERENCE else truth
        names = tuple(f"s{k}" for k in range(count))
        return CheckedSample(
            judge, np.where(has, people, 0.0), has, job, int(job.max()) + 1, stratum, names, 0, 0
        ), truth

    def _people(self, rng: np.random.Generator, rate: np.ndarray, job: np.ndarray) -> np.ndarray:
        if self.kind is LabelKind.SCORE:
            return rng.beta(4 * rate, 4 * (1 - rate))
        chance = rate
        if self.alike:
            spread = 1 / self.alike - 1
            chance = betaincinv(spread * rate, spread * (1 - rate), rng.random(job.max() + 1)[job])
        people = (rng.random(len(rate)) < chance).astype(float)
        return np.where(rng.random(len(rate)) < 0.2, 0.5, people) if self.kind is LabelKind.PREFERENCE else people


def _differing(low: float, high: float, count: int) -> tuple[float, ...]:
    return tuple(np.linspace(low, high, count).tolist())


WORLDS = (
    Strata("3 agents, 15 % pass, judge passes all", (300,) * 3, (0.15,), (ALL,)),
    Strata("5 agents, 15 % pass, lenient judge", (300,) * 5, (0.15,)),
    Strata("7 agents, 15 % pass, judge passes all", (300,) * 7, (0.15,), (ALL,)),
    Strata("7 agents, 15 % pass, lenient judge", (300,) * 7, (0.15,)),
    Strata("7 agents, 40 % pass, lenient judge", (300,) * 7, (0.4,)),
    Strata("7 agents, 3 to 27 % pass, lenient judge", (300,) * 7, _differing(0.03, 0.27, 7)),
    Strata("7 agents, 3 to 27 % pass, judges differ", (300,) * 7, _differing(0.03, 0.27, 7), DIFFERING),
    Strata("7 agents, 10 to 90 % pass, judges differ", (300,) * 7, _differing(0.1, 0.9, 7), DIFFERING),
    Strata("7 agents, 15 % pass, good judge", (300,) * 7, (0.15,), (GOOD,)),
    Strata("10 agents, 15 % pass, lenient judge", (300,) * 10, (0.15,)),
    Strata("7 agents on 100 jobs alike for all, 15 % pass", (100,) * 7, (0.15,), alike=0.5),
    Strata("10 agents on 60 jobs alike for all, 30 % pass", (60,) * 10, (0.3,), DIFFERING, alike=0.5),
    Strata("5 agents on 60 jobs, 15 % pass, lenient judge", (60,) * 5, (0.15,)),
    Strata("5 agents on 60 jobs alike for all, 40 % pass, lenient judge", (60,) * 5, (0.4,), alike=0.5),
    Strata("3 agents on 60 jobs nearly the same for all, 15 % pass", (60,) * 3, (0.15,), DIFFERING, alike=0.9),
    Strata("strata of 400, 50 and 50, 5 to 30 % pass", (400, 50, 50), (0.05, 0.3, 0.15), least=2, nested=True),
    Strata("a stratum of 200 and nine of 10, 2 labels each at least", (200, *[10] * 9), (0.15,), least=2, nested=True),
    Strata(
        "a stratum of 200 of which 5 % pass, nine of 10 of which 95 % pass",
        (200, *[10] * 9), (0.05, *[0.95] * 9), least=2, nested=True,
    ),
    Strata("ten strata, one passes half, the others nothing", (100,) * 10, (0.5, *[0.0] * 9)),
    Strata("25 strata of 20, 15 % pass, 2 labels each at least", (20,) * 25, (0.15,), DIFFERING, least=2, nested=True),
    Strata("preferences of 7 agents, lenient judge", (300,) * 7, (0.3,), kind=LabelKind.PREFERENCE),
    Strata("preferences of 7 agents, judges differ", (300,) * 7, (0.3,), DIFFERING, LabelKind.PREFERENCE),
    Strata("scores of 7 agents, kind judge", (300,) * 7, (0.3,), kind=LabelKind.SCORE),
    Strata("scores of 7 agents, judges differ", (300,) * 7, (0.7,), DIFFERING, LabelKind.SCORE),
)  # fmt: skip


@dataclass(slots=True)
class Found:
    """What draws of one world with so many labels came to. `ratios`: widths of labels alone over Clopper-Pearson's."""

    corrected: Cell = field(default_factory=Cell)
    labels: Cell = field(default_factory=Cell)
    ratios: list[float] = field(default_factory=list)


def measure(world: Strata, labels: int, seeds: int) -> Found:
    found = Found()
    for seed in range(seeds):
        data, truth = world.draw(labels, np.random.default_rng([seed, labels]))
        found.corrected.add(_corrected(data, world.kind), truth)
        alone = labels_only(data, world.kind, "labels alone")
        # Strata without a label are in no figure of labels alone, which says so.
        found.labels.add(alone if not data.empty else NONE, truth)
        if world.kind is LabelKind.RATE and alone.low is not None and alone.high is not None:
            low, high = exact(int(data.people.sum()), data.labels)
            found.ratios.append((alone.high - alone.low) / (high - low))
    return found


def _corrected(data: CheckedSample, kind: LabelKind) -> Estimate:
    if refusal_reason(data, LEAST):
        return NONE
    parts = Parts(data, kind, 0.95)
    tuning = parts.best_lambda()
    value, (low, high) = parts.value(tuning), parts.interval(tuning)
    return Estimate("corrected", value, Counts(1, 1), min(low, value), max(high, value), 0.95)


def table(seeds: int, only: str = "") -> Iterator[list[str]]:
    """Yield the table row by row."""
    yield [f"coverage in % of {seeds} draws, by labels", *map(str, LABELS)]
    for world in WORLDS:
        if only not in world.name:
            continue
        found = [measure(world, labels, seeds) for labels in LABELS]
        yield [world.name, *(str(f.corrected) for f in found)]
        yield [f"{world.name}: labels alone", *(str(f.labels) for f in found)]
        if world.kind is LabelKind.RATE:
            widths = (f"{np.mean(f.ratios):.2f}" for f in found)
            yield [f"{world.name}: width of labels alone, times Clopper-Pearson's", *widths]
