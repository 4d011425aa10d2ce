"""Whether advice is right as often as it says: jobs of a list whose truth is known and which no figure has seen.

Each study draws categories with rates, costs and words of their own, 322 jobs that were measured, and a firm's list.
`python benchmarks/advice_held_out.py --seeds 200` prints the rows of docs/reference/advice.csv, `--write` puts them
there. Those about `few` say how often there is an answer if a firm has measured few jobs, in one, three or six fields
of work.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from worksample import metrics as m
from worksample.reports.job_advice import AdviceConfig, Evidence, ListAdvice, ListedJob, advise
from worksample.reports.job_advice.evidence import SHAPE

Rng = np.random.Generator
Row = tuple[str, str, str, str]
ROWS = Path(__file__).parents[1] / "docs/reference/advice.csv"
JOBS, LISTED = 322, 24
FEW, FIELDS = (12, 24, 36, 60, 120), (1, 3, 6)
BINS = (0.5, 0.65, 0.8, 0.9, 0.97, 1.0)
AI, HELPED, PEOPLE = "AI", "AI with people", "people"


@dataclass(frozen=True)
class Kind:
    """A category of the world: its name, words, rates, and costs in US dollars."""

    name: str
    words: tuple[str, ...]
    first: float
    rescue: float
    alone: float
    feedback: float


@dataclass(frozen=True)
class World:
    evidence: Evidence
    listed: tuple[ListedJob, ...]
    right: tuple[str, ...]
    """Who is truly best for each job of the list."""


def world(rng: Rng, jobs: int = JOBS, listed: int = LISTED, fields: int = 6) -> World:
    """Rates of categories lie around a common one; how far is drawn too, so in some worlds categories say nothing."""
    spread = rng.choice([0.0, 0.5, 1.5])
    middle, rescue = rng.normal(-0.5, 1.0), rng.normal(-0.3, 1.0)
    costs = math.exp(rng.uniform(0, 3)), math.exp(rng.uniform(1.5, 4.5))
    kinds = [
        Kind(
            f"field-{k}", tuple(f"word{k}x{w}" for w in range(25)), *(_rate(a, spread, rng) for a in (middle, rescue)),
            *(c * math.exp(rng.normal(0, 0.5)) for c in costs),
        )
        for k in range(fields)
    ]  # fmt: skip
    share = rng.dirichlet(np.full(len(kinds), 2.0))
    of = rng.choice(len(kinds), jobs, p=share)
    first = rng.random(jobs) < np.array([k.first for k in kinds])[of]
    helped = first | (rng.random(jobs) < np.array([k.rescue for k in kinds])[of])
    alone = np.array([k.alone for k in kinds])[of] * np.exp(rng.normal(-0.125, 0.5, jobs))
    said = np.array([k.feedback for k in kinds])[of] * np.exp(rng.normal(-0.125, 0.5, jobs))
    frame = pl.DataFrame(
        {
            "key": [f"job{n}/main" for n in range(jobs)], "task": [f"job{n}" for n in range(jobs)],
            "suite": ["study"] * jobs, "category": [kinds[k].name for k in of],
            "text": [_text(kinds[k], rng) for k in of], "alone": first, "alone_cost": alone, "helped": helped,
            "helped_cost": alone + np.where(first, 0, said),
        }
    )  # fmt: skip
    frame = pl.concat([pl.DataFrame(schema=SHAPE), frame], how="diagonal")
    asked, right = [], []
    for n, k in enumerate(rng.choice(len(kinds), listed)):
        kind, value = kinds[k], math.exp(rng.uniform(2, 6.5))
        hours = value * rng.uniform(0.2, 1.1) / 50
        asked.append(ListedJob(f"row {n}", f"job {n}", _text(kind, rng), kind.name, value, hours, 1.0))
        ways = {
            AI: m.Approach(AI, kind.first, kind.alone),
            HELPED: m.Approach(
                HELPED, kind.first + (1 - kind.first) * kind.rescue, kind.alone + (1 - kind.first) * kind.feedback
            ),
            PEOPLE: m.Approach(PEOPLE, 1.0, hours * 50),
        }
        right.append(max(ways, key=lambda name: ways[name].expected_value(value)))
    return World(Evidence("agent", frame), tuple(asked), tuple(right))


def _rate(middle: float, spread: float, rng: Rng) -> float:
    return 1 / (1 + math.exp(-middle - spread * rng.normal()))


def _text(kind: Kind, rng: Rng) -> str:
    common = [f"common{w}" for w in range(40)]
    return " ".join([*rng.choice(kind.words, 8), *rng.choice(common, 12)])


def answers(
    seeds: Sequence[int], resamples: int = 1000, *, jobs: int = JOBS, fields: int = 6
) -> list[tuple[float, bool, bool]]:
    """(probability given to the likeliest approach, whether it is truly best, whether an answer was given)."""
    found = []
    for seed in seeds:
        made = world(np.random.default_rng([77, seed]), jobs, fields=fields)
        told: ListAdvice = advise(made.evidence, made.listed, AdviceConfig(wage=50, how=m.Resampling(resamples)))
        for advice, right in zip(told.each, made.right, strict=True):
            if advice.likely:
                sure = advice.answer == advice.likely
                found.append((advice.chances[advice.likely], advice.likely == right, sure))
    return found


def held_out(found: Sequence[tuple[float, bool, bool]]) -> Iterator[Row]:
    """Yield how often answers were right, by the probability that was given."""
    groups = {
        f"{100 * low:g} to {100 * high:g} %": [(p, ok) for p, ok, _ in found if low <= p < high]
        for low, high in zip((0.0, *BINS), BINS, strict=False)
    }
    groups["answers given (80 % and more)"] = [(p, ok) for p, ok, sure in found if sure]
    for name, inside in groups.items():
        if inside:
            told, right = (100 * float(np.mean(x)) for x in zip(*inside, strict=True))
            yield "held out", name, "jobs", str(len(inside))
            yield "held out", name, "probability on average", f"{told:.1f} %"
            yield "held out", name, "right", f"{right:.1f} %"


def few(seeds: Sequence[int]) -> Iterator[Row]:
    """Yield how many of the jobs on lists had an answer, and how many of these were right, with few jobs measured."""
    for jobs in FEW:
        for fields in FIELDS:
            name = f"{jobs} jobs measured, {fields} field{'s' * (fields > 1)}"
            given = [ok for _, ok, sure in answers(seeds, jobs=jobs, fields=fields) if sure]
            yield "few", name, "answered", f"{100 * len(given) / (LISTED * len(seeds)):.0f} %"
            if given:
                yield "few", name, "right", f"{100 * float(np.mean(given)):.0f} %"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    began = time.process_time()
    rows = [("about", "name", "figure", "value"), *held_out(answers(range(given.seeds))), *few(range(given.seeds))]
    print("\n".join(", ".join(row) for row in rows))
    print(f"{time.process_time() - began:.0f} s of processor time", file=sys.stderr)
    if given.write:
        with ROWS.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
