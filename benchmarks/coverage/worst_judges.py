"""The judge at which a corrected figure covers least: looked for, not drawn from a list.

Rates: a judge is its chance of a pass where people pass and where they do not, and every state of the labels and of the
judge's passes is counted with its chance, so that coverage is exact. Preferences: a judge is its chances of first and
neither for each of people's three answers. Scores: a judge shifts, adds noise, and now and then says something else
altogether. Both are drawn; the least of the search is drawn anew, ten times as often, since the least of many is low by
chance. Rates of people lie from 0.02 to 0.98. From each grid the least are followed by small steps.

Of one stratum with one submission per job the interval of `worksample.metrics.corrected` is a function of seven
moments, which `ends` works out for all draws at once; a test holds it against the product's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from benchmarks.coverage.least import counts, probabilities
from scipy.special import stdtrit
from scipy.stats import binom

from worksample.metrics.calibration.label_sample import LabelKind
from worksample.metrics.calibration.prediction_powered import exact_margins, tuning_penalty
from worksample.metrics.uncertainty.intervals import normal_quantile

Floats = np.ndarray
SIZES = ((70, 20), (100, 30), (150, 20), (150, 40), (300, 20))
LEVEL = 0.95
CHANCES = np.array([0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 1.0])
RATES = np.arange(2, 51) / 100
FOLLOWED = 6
Z = normal_quantile((1 + LEVEL) / 2)


@dataclass(frozen=True, slots=True)
class Moments:
    """Of each draw: means of people's and the judge's answers over labels, and of the judge's over all jobs; sums of
    squares and products around them.
    """

    people: Floats
    judge: Floats
    every: Floats
    people2: Floats
    judge2: Floats
    both: Floats
    every2: Floats
    agree: Floats
    """Whether judge and people differ by the same on every label."""

    @classmethod
    def of(cls, y: Floats, f: Floats, on: Floats, rest: Floats, off: Floats) -> Moments:
        """From what labels say (`y`, `f`; how often: `on`, a row a draw) and what the rest says (`rest`, `off`)."""
        n = on.sum(axis=1)
        people, judge = on @ y / n, on @ f / n
        jobs = n + off.sum(axis=1)
        every = (on @ f + off @ rest) / jobs
        differ = np.where(on > 0, y - f, np.nan)
        return cls(
            people, judge, every,
            on @ y**2 - n * people**2, on @ f**2 - n * judge**2, on @ (y * f) - n * people * judge,
            on @ f**2 + off @ rest**2 - jobs * every**2,
            np.nanmax(differ, axis=1) - np.nanmin(differ, axis=1) == 0,
        )  # fmt: skip


def ends(kind: LabelKind, jobs: int, labels: int, m: Moments) -> tuple[Floats, Floats]:
    """Both ends as `corrected` gives them."""
    pseudo = np.where(m.agree | (kind is not LabelKind.SCORE), Z**2, 0.0)
    free = max(labels - 4, 1)
    quantile = np.where(pseudo > 0, Z, stdtrit(free, (1 + LEVEL) / 2))
    kept = labels / (labels + pseudo)
    scale = kept * np.where(pseudo > 0, 1.0, np.sqrt(labels / free))
    flat = scale**2 * m.people2 / labels**2
    lean = 2 * m.both * (scale / (jobs * labels) - scale**2 / labels**2)
    curve = m.every2 / jobs**2 + m.judge2 * (scale**2 / labels**2 - 2 * scale / (jobs * labels))
    groups, extra = jobs / (jobs - 1), pseudo / 4 / (labels + pseudo) ** 2
    flat, lean, curve = groups * flat + extra, groups * lean, groups * curve + extra
    tuning = np.where(curve > 1e-15, np.clip(-lean / np.maximum(2 * curve, 1e-300), 0, 1), 0.0)
    tuning = np.where(tuning < 1e-9, 0.0, tuning)
    variance = flat + tuning * lean + tuning**2 * curve
    value = m.people + tuning * (m.every - m.judge)
    center = value + (1 - kept) * ((1 - tuning) / 2 - (m.people - tuning * m.judge))
    half = quantile * np.sqrt(variance)
    low, high = center - half, center + half
    if kind is LabelKind.SCORE:
        inside = (pseudo == 0) & (variance > 0) & (center > 0) & (center < 1)
        spread = np.where(inside, center * (1 - center), 1.0)
        z2 = quantile**2 * variance / spread
        root = np.sqrt(np.maximum(z2 * spread + z2**2 / 4, 0))
        low = np.where(inside, (center + z2 / 2 - root) / (1 + z2), low)
        high = np.where(inside, (center + z2 / 2 + root) / (1 + z2), high)
    else:
        more = half * tuning_penalty(tuning, 1 - variance / np.maximum(flat, 1e-300), labels, jobs)
        low, high = low - more, high + more
        under, over = _unreached(labels)
        low = low - (1 - tuning) * under[np.floor(m.people * labels + 1e-6).astype(int)]
        high = high + (1 - tuning) * over[np.ceil(m.people * labels - 1e-6).astype(int)]
    shown = np.clip(value, 0, 1)
    return np.maximum(0, np.minimum(low, shown)), np.minimum(1, np.maximum(high, shown))


@lru_cache
def _unreached(labels: int) -> tuple[Floats, Floats]:
    found = np.array([exact_margins(passes, labels, LEVEL) for passes in range(labels + 1)])
    return found[:, 0], found[:, 1]


class Rates:
    """Coverage for rates, exact but for states that are rarer than floating point."""

    def __init__(self, jobs: int, labels: int) -> None:
        self.jobs, self.labels = jobs, labels
        self.seen = counts(labels, 4)
        self.passes = np.arange(jobs - labels + 1)
        y, f = np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 1, 0])
        both = []
        for passed in self.passes:
            off = np.broadcast_to([passed, jobs - labels - passed], (len(self.seen), 2))
            both.append(
                ends(LabelKind.RATE, jobs, labels, Moments.of(y, f, self.seen, np.array([1.0, 0]), off.astype(float)))
            )
        self.low, self.high = (np.array(side).T for side in zip(*both, strict=True))

    def covers(self, rate: float, judges: Floats) -> Floats:
        """For each judge, a row of (chance of a pass where people pass, where they fail)."""
        yes, no = judges.T
        chances = np.stack([rate * yes, rate * (1 - yes), (1 - rate) * no, (1 - rate) * (1 - no)], axis=1)
        seen = probabilities(self.seen, chances)
        passes = binom.pmf(self.passes, self.jobs - self.labels, (chances[:, 0] + chances[:, 2])[:, None])
        held = (self.low <= rate + 1e-12) & (rate - 1e-12 <= self.high)
        return np.asarray(((seen @ held.astype(float)) * passes).sum(axis=1))


class Preferences:
    """Coverage of so many draws; a fifth of people's answers are ties, as in the cells of the docs."""

    def __init__(self, jobs: int, labels: int, draws: int, seed: int = 0) -> None:
        self.jobs, self.labels, self.draws, self.seed = jobs, labels, draws, seed

    def covers(self, rate: float, judges: Floats) -> Floats:
        """A judge is a row of six: its chances of first and neither where people say first, neither, second."""
        people, says = np.array([0.8 * rate, 0.2, 0.8 * (1 - rate)]), np.array([1.0, 0.5, 0.0])
        out = []
        for judge in judges:
            rng = np.random.default_rng(self.seed)
            first, neither = judge[::2], np.minimum(judge[1::2], 1 - judge[::2])
            told = people[:, None] * np.stack([first, neither, np.maximum(1 - first - neither, 0)], axis=1)
            on = rng.multinomial(self.labels, told.ravel() / told.sum(), self.draws)
            off = rng.multinomial(self.jobs - self.labels, told.sum(axis=0) / told.sum(), self.draws)
            found = Moments.of(np.repeat(says, 3), np.tile(says, 3), on, says, off)
            low, high = ends(LabelKind.PREFERENCE, self.jobs, self.labels, found)
            truth = 0.8 * rate + 0.1
            out.append(float(((low <= truth) & (truth <= high)).mean()))
        return np.array(out)


class Scores:
    """Coverage of so many draws; people's scores are beta, as in the cells of the docs."""

    def __init__(self, jobs: int, labels: int, draws: int, seed: int = 0) -> None:
        self.jobs, self.labels, self.draws, self.seed = jobs, labels, draws, seed

    def covers(self, rate: float, judges: Floats) -> Floats:
        """A judge is a row of four: its shift, its noise, how often it says something else, and what."""
        size, out = (self.draws, self.jobs), []
        rng = np.random.default_rng(self.seed)
        people = rng.beta(4 * rate, 4 * (1 - rate), size)
        noise, else_at = rng.normal(0, 1, size), rng.random(size)
        for shift, spread, often, what in judges:
            says = np.where(else_at < often, what, np.clip(people + shift + spread * noise, 0, 1))
            y, f = people[:, : self.labels], says[:, : self.labels]
            means = y.mean(axis=1), f.mean(axis=1), says.mean(axis=1)
            gap, apart, all_of = y - means[0][:, None], f - means[1][:, None], says - means[2][:, None]
            found = Moments(
                *means,
                (gap**2).sum(axis=1), (apart**2).sum(axis=1), (gap * apart).sum(axis=1), (all_of**2).sum(axis=1),
                np.ptp(y - f, axis=1) == 0,
            )  # fmt: skip
            low, high = ends(LabelKind.SCORE, self.jobs, self.labels, found)
            out.append(float(((low <= rate) & (rate <= high)).mean()))
        return np.array(out)


@dataclass(frozen=True, slots=True)
class Least:
    """What was found: the coverage, and where."""

    covers: float
    jobs: int
    labels: int
    rate: float
    judge: tuple[float, ...]


Covers = Callable[[float, Floats], Floats]


def follow(covers: Covers, rates: Floats, judges: Floats, box: tuple[Floats, Floats], rounds: int = 3) -> list[Least]:
    """The least of all rates with all judges, and what small steps from the least of them find."""
    rng = np.random.default_rng(1)
    found = [
        Least(float(c), 0, 0, float(rate), tuple(judge))
        for rate in rates
        for c, judge in zip(covers(float(rate), judges), judges.tolist(), strict=True)
    ]
    best = sorted(found, key=lambda at: at.covers)[:FOLLOWED]
    for turn in range(1, rounds + 1):
        near = []
        for at in best:
            for _ in range(2 * FOLLOWED):
                rate = float(np.clip(at.rate + rng.normal() * 0.01 / turn, 0.02, 0.98))
                steps = rng.normal(size=(FOLLOWED, len(at.judge))) * 0.05 / turn
                some = np.clip(np.array(at.judge) + steps, *box)
                told = covers(rate, some)
                near.append(Least(float(told.min()), 0, 0, rate, tuple(some[told.argmin()].tolist())))
        best = sorted([*best, *near], key=lambda at: at.covers)[:FOLLOWED]
    return best


def worst(
    kind: LabelKind, jobs: int, labels: int, draws: int, rates: Floats = RATES, judges: Floats | None = None
) -> Least:
    """The judge and the rate at which least is covered. By symmetry rates to 0.5 are all there are."""
    if kind is LabelKind.RATE:
        grid = np.array(np.meshgrid(CHANCES, CHANCES)).reshape(2, -1).T
        again = covers = Rates(jobs, labels).covers
        box = np.zeros(2), np.ones(2)
    elif kind is LabelKind.PREFERENCE:
        grid = np.random.default_rng(2).beta(0.4, 0.4, (40, 6))
        covers = Preferences(jobs, labels, draws).covers
        again = Preferences(jobs, labels, 10 * draws, 1).covers
        box = np.zeros(6), np.ones(6)
        rates = rates[::3]
    else:
        some = np.random.default_rng(2).random((30, 4))
        grid = some * [0.6, 0.5, 0.3, 1] - [0.3, 0, 0, 0]
        covers = Scores(jobs, labels, draws // 4).covers
        again = Scores(jobs, labels, 5 * draws, 1).covers
        box = np.array([-1.0, 0, 0, 0]), np.ones(4)
        rates = np.unique(np.concatenate([rates, 1 - rates]))[::6]
    found = follow(covers, rates, grid if judges is None else judges, box)
    told = [Least(float(again(at.rate, np.array([at.judge]))[0]), jobs, labels, at.rate, at.judge) for at in found]
    return min(told, key=lambda at: at.covers)


def table(draws: int, only: str = "", sizes: tuple[tuple[int, int], ...] = SIZES) -> Iterator[str]:
    """A line for each kind of figure whose name holds `only`, and each number of jobs and labels."""
    for kind in [kind for kind in LabelKind if only in ("", kind.value)]:
        for jobs, labels in sizes:
            at = worst(kind, jobs, labels, draws)
            judge = ", ".join(f"{part:.3f}" for part in at.judge)
            yield f"{kind}: {jobs} jobs, {labels} labels: {100 * at.covers:.2f} % at {at.rate:.3f}, judge ({judge})"
