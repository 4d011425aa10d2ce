"""How often the intervals of `worksample.metrics.corrected` hold the truth, on benchmarks whose truth is known.

Each world draws jobs, what people say of them and what a judge of known bias says; labels are drawn at random (within
strata) and the interval is asked whether it holds the rate of the process that made the jobs. Coverage is counted over
seeds, so that a cell of 95 % comes out between 93.6 and 96.3 in 95 of 100 runs of 1,000 seeds. `worth` is the median
effective sample size ratio, `normal` the coverage of plain PPI++ with normal quantiles on the same draws.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.coverage.cells import Rows, read_rows, write_rows

from worksample.metrics.calibration.label_sample import CheckedSample, LabelKind, draw
from worksample.metrics.calibration.prediction_powered import Parts

JUDGES = {
    "right": (1.0, 0.0),
    "good": (0.95, 0.05),
    "kind": (0.98, 0.25),
    "harsh": (0.6, 0.02),
    "noisy": (0.8, 0.2),
    "guessing": (0.5, 0.5),
}
"""Chance of a pass where people pass, and where they do not."""
SIZES = ((70, 20), (100, 30), (150, 20), (300, 20), (300, 90))
"""Jobs and labels: 7 to 30 % of the jobs."""
CEILING = 97.0
"""In %: what no cell is to be above."""
COLUMNS = ("figure", "jobs", "labels", "rate", "judge", "covered", "reason", "bound_93", "bound_95")
"""Of docs/data/calibration-cells.csv; `reason`: why a cell lies outside 93 to 97 %."""


@dataclass(frozen=True, slots=True)
class World:
    """`agents` are judged on the same jobs, and are the strata; `lean` is how much jobs differ for all of them."""

    kind: LabelKind
    jobs: int
    labels: int
    rate: float
    judge: str
    agents: int = 1
    lean: float = 0.0

    @property
    def row(self) -> tuple[str, ...]:
        """The first columns of its row in the file of cells."""
        shape = f"{self.kind}, {self.agents} agents" if self.agents > 1 else f"{self.kind}"
        return (shape, f"{self.jobs}", f"{self.labels}", f"{self.rate:g}", self.judge)

    @property
    def said(self) -> str:
        shape = f"{self.agents} agents" if self.agents > 1 else ""
        return " | ".join((self.kind.value, f"{self.jobs}", f"{self.labels}", f"{self.rate:g}", self.judge, shape))

    def draw(self, rng: np.random.Generator) -> tuple[CheckedSample, float]:
        """What is known of one draw, and the truth."""
        truth, people = self._people(rng)
        judge = self._judge(rng, people)
        job = np.tile(np.arange(self.jobs), self.agents)
        stratum = np.repeat(np.arange(self.agents), self.jobs)
        has = np.zeros(len(job), dtype=bool)
        has[draw(stratum, self.labels, rng)] = True
        names = tuple(f"a{k}" for k in range(self.agents))
        return CheckedSample(judge, np.where(has, people, 0.0), has, job, self.jobs, stratum, names, 0, 0), truth

    def _people(self, rng: np.random.Generator) -> tuple[float, np.ndarray]:
        size = self.jobs * self.agents
        if self.kind is LabelKind.SCORE:
            spread = 4.0
            return self.rate, rng.beta(spread * self.rate, spread * (1 - self.rate), size)
        if self.kind is LabelKind.PREFERENCE:
            ties = rng.random(size) < 0.2
            won = (rng.random(size) < self.rate).astype(np.float64)
            return 0.8 * self.rate + 0.1, np.where(ties, 0.5, won)
        # Jobs differ: a beta-binomial whose mean is the rate, so that several agents pass the same jobs.
        if self.lean:
            spread = 1 / self.lean - 1
            easy = np.tile(rng.beta(spread * self.rate, spread * (1 - self.rate), self.jobs), self.agents)
        else:
            easy = np.full(size, self.rate)
        return self.rate, (rng.random(size) < easy).astype(np.float64)

    def _judge(self, rng: np.random.Generator, people: np.ndarray) -> np.ndarray:
        yes, no = JUDGES[self.judge]
        if self.kind is LabelKind.SCORE:
            noise = {"right": 0.0, "good": 0.05, "guessing": 1.0}.get(self.judge, 0.2)
            shift = {"kind": 0.15, "harsh": -0.15}.get(self.judge, 0.0)
            return np.clip(people + shift + rng.normal(0, 1, len(people)) * noise, 0, 1)
        chance = no + people * (yes - no)
        return np.asarray(rng.random(len(people)) < chance, dtype=np.float64)


def worlds() -> Iterator[World]:
    for (jobs, labels), rate, judge in itertools.product(SIZES, (0.03, 0.1, 0.3, 0.5, 0.8), JUDGES):
        yield World(LabelKind.RATE, jobs, labels, rate, judge)
    for (jobs, labels), rate, judge in itertools.product(((70, 20), (150, 20), (300, 90)), (0.3, 0.6, 0.85), JUDGES):
        yield World(LabelKind.SCORE, jobs, labels, rate, judge)
        yield World(LabelKind.PREFERENCE, jobs, labels, rate, judge)
    for (jobs, labels), rate, judge in itertools.product(((40, 30), (100, 60), (240, 90)), (0.1, 0.4), JUDGES):
        yield World(LabelKind.RATE, jobs, labels, rate, judge, agents=3, lean=0.5)


@dataclass(frozen=True, slots=True)
class Result:
    world: World
    covered: float
    normal: float
    width: float
    worth: float
    printed: int


def measure(world: World, seeds: int, level: float = 0.95) -> Result:
    """Over draws with at least 20 labelled jobs: with fewer nothing is corrected."""
    held = plain = printed = 0
    widths, worths = [], []
    for seed in range(seeds):
        data, truth = world.draw(np.random.default_rng((seed, world.jobs, world.labels)))
        if data.labelled_projects < 20:
            continue
        printed += 1
        parts = Parts(data, world.kind, level)
        tuning = parts.best_lambda()
        variance = parts.at(tuning)[1]
        low, high = parts.interval(tuning)
        held += low <= truth <= high
        widths.append(high - low)
        worths.append(parts.at(0.0)[1] / variance if variance else 1.0)
        plain += covers_plainly(data, truth)
    if not printed:
        return Result(world, math.nan, math.nan, math.nan, math.nan, 0)
    return Result(world, held / printed, plain / printed, float(np.median(widths)), float(np.median(worths)), printed)


def covers_plainly(data: CheckedSample, truth: float) -> bool:
    """Whether power-tuned PPI++ as published, with normal quantiles and independent rows, holds the truth."""
    y, f, every = data.people[data.has], data.judge[data.has], data.judge[~data.has]
    n, rest = len(y), len(every)
    spread = np.var(np.concatenate([f, every]))
    tuning = min(max(np.cov(y, f)[0, 1] / (spread * (1 + n / rest)), 0), 1) if spread else 0.0
    value = tuning * every.mean() + (y - tuning * f).mean()
    half = 1.96 * math.sqrt(tuning**2 * np.var(every) / rest + np.var(y - tuning * f) / n)
    return bool(abs(value - truth) <= half)


def results(seeds: int, only: str = "", kept: Path | None = None) -> Iterator[Result]:
    """Measure the worlds of a kind, or of all; those that the file already has are not measured again."""
    known = read(kept, seeds)
    for world in worlds():
        if only not in ("", world.kind.value):
            continue
        found = known.get(world.said) or measure(world, seeds)
        if kept and world.said not in known:
            with kept.open("a", encoding="utf-8") as file:
                line = {"cell": world.said, "seeds": seeds, **asdict(found), "world": None}
                file.write(json.dumps(line) + "\n")
        yield replace(found, world=world)


def read(file: Path | None, seeds: int) -> dict[str, Result]:
    """By cell what was measured with so many seeds."""
    lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
    kept = [json.loads(line) for line in lines]
    return {k.pop("cell"): Result(**k) for k in kept if k.pop("seeds") == seeds}


def unseen(world: World) -> float:
    """The chance that the labels show no error of the judge."""
    if world.kind is LabelKind.SCORE:
        return float(world.judge == "right")
    yes, no = JUDGES[world.judge]
    # A judge of pairs knows no tie: on a fifth of them it differs from people always.
    decided = 0.8 if world.kind is LabelKind.PREFERENCE else 1.0
    right = decided * (world.rate * yes + (1 - world.rate) * (1 - no))
    return float(right**world.labels)


def why(result: Result) -> str:
    """What keeps a cell from 93 to 97 %."""
    world, covered = result.world, result.covered
    if 0.93 <= covered <= 0.97:
        return ""
    few = world.labels * min(world.rate, 1 - world.rate)
    found = []
    if (chance := unseen(world)) >= 0.02:
        most = 1 - 0.07 ** (1 / world.labels)
        found.append(
            f"{100 * chance:.0f} % of draws show no error of the judge on any label; one erring on {100 * most:.0f} %"
            " would show none in 7 %, and its truth has to be held, too"
        )
    if world.kind is LabelKind.RATE and few < 10:
        rare = "passes" if world.rate < 0.5 else "fails"
        found.append(f"{few:.1f} {rare} are expected among the labels: their counts have steps")
    if not found and covered <= 0.97 + 3 * math.sqrt(0.97 * 0.03 / result.printed):
        found.append("within three standard errors of 97 %")
    return "; ".join(found) or "errors of one kind are seen on few labels, so that pseudo-labels weigh"


def write_cells(results: list[Result], file: Path) -> None:
    """Write each cell, why it lies outside 93 to 97 %, and the bounds that the file already has for it."""
    have = {tuple(row[:5]): row[7:] for row in read_cells(file)}
    ordered = sorted(results, key=lambda r: (r.world.kind.value, r.world.agents))
    rows = [(*r.world.row, f"{100 * r.covered:.1f}", why(r), *have.get(r.world.row, ["", ""])) for r in ordered]
    put_cells(rows, file)


def read_cells(file: Path) -> Rows:
    """Return the rows of a file of cells, without its header; none if the file does not exist."""
    return read_rows(file)[1:] if file.exists() else []


def put_cells(rows: Sequence[Sequence[str]], file: Path) -> None:
    """Write rows of cells with their header."""
    write_rows([list(COLUMNS), *map(list, rows)], file)


def lines(results: list[Result]) -> Iterator[str]:
    """A line for each cell."""
    yield "kind | jobs | labels | rate | judge | cell | covered | normal | width | worth | printed"
    for r in results:
        figures = f"{100 * r.covered:.1f} | {100 * r.normal:.1f} | {r.width:.3f} | {r.worth:.2f} | {r.printed}"
        yield f"{r.world.said} | {figures}"


def summary(results: list[Result]) -> Rows:
    """A row for each kind of figure and each judge: the range of coverage over sizes and rates."""
    rows = [["figure", "judge", "cells", "coverage", "below 93 %", "93 to 97 %", "above 97 %", "plain PPI++", "worth"]]
    groups: dict[tuple[str, str], list[Result]] = {}
    for r in results:
        shape = f"{r.world.kind}, {r.world.agents} agents" if r.world.agents > 1 else f"{r.world.kind}"
        if r.printed:
            groups.setdefault((shape, r.world.judge), []).append(r)
    for (shape, judge), found in groups.items():
        covered = np.array([r.covered for r in found])
        plain = np.array([r.normal for r in found])
        worth = np.array([r.worth for r in found])
        low, high = int((covered < 0.93).sum()), int((covered > 0.97).sum())
        counts = (str(low), str(len(found) - low - high), str(high))
        ranges = (span(plain), f"{worth.min():.2f} to {worth.max():.2f}")
        rows.append([shape, judge, str(len(found)), span(covered), *counts, *ranges])
    return rows


def span(shares: np.ndarray) -> str:
    return f"{100 * shares.min():.1f} to {100 * shares.max():.1f}"
