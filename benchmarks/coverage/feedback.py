"""Coverage of figures about feedback: lifts, rescue, feedback less retry, and the regions in which each way of having
jobs done pays best. Simulated studies of up to 322 jobs whose truth is known.
"""

from __future__ import annotations

import math

import numpy as np
from benchmarks.coverage.cells import Cell, Found, Kept, Rng, Rows, Table, World, run

from worksample import metrics as m

JOBS = (40, 100, 322)
EFFECT = 0.17
"""What people's feedback rescues more than a retry where it has an effect."""
VALUES = (10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
"""US dollars of task value at which regions are called."""
BINS = (0.5, 0.65, 0.8, 0.85, 0.95, 0.99, 1.0)


def lifts(rng: Rng, n: int) -> Found:
    """Jobs differ in difficulty: what passes at first is easy, and what is tried again is what was hard."""
    ease = rng.beta(1.2, 1.8, n)
    first = rng.random(n) < ease
    again = [None if f else bool(g) for f, g in zip(first, rng.random(n) < ease, strict=True)]
    found = m.success_lifts(first, again)
    p1 = 1.2 / 3
    both = 1 - 1.8 * 2.8 / (3 * 4)
    yield "p1", found.p1, p1
    yield "p overall", found.p_overall, both
    yield "absolute lift", found.absolute, both - p1
    yield "relative lift", found.relative, (both - p1) / p1
    yield "rescue rate", found.rescue, (both - p1) / (1 - p1)


def arms(rng: Rng, n: int) -> Found:
    """Both arms work on the same failed jobs, of which about three in five fail at first."""
    for name, effect in (("no effect", 0.0), (f"{EFFECT:.0%} more", EFFECT)):
        ease = rng.beta(1.2, 1.8, n)
        hard = np.flatnonzero(rng.random(n) >= ease)
        chance = 0.85 * ease[hard]
        job = np.arange(len(hard))
        retry, fed = (m.TrialColumns((rng.random(len(hard)) < chance + e).astype(float), job) for e in (0.0, effect))
        yield f"feedback less retry, {name}", m.paired_difference(retry, fed).difference, effect


def regions(rng: Rng, n: int) -> Found:
    """A firm like any other: rates, costs and prices are drawn first, then jobs from them. What is said at some values
    is a cell whose truth is whether it is right.
    """
    yield from _firm(rng, n, measured=False)


def people(rng: Rng, n: int) -> Found:
    """The same where people did the jobs, too, and fail at some; with the agent they do more of them at less."""
    yield from _firm(rng, n, measured=True)


def _firm(rng: Rng, n: int, *, measured: bool) -> Found:
    p1, rescue = rng.uniform(0.02, 0.7), rng.uniform(0.02, 0.7)
    prices = np.exp(rng.uniform(math.log(0.5), math.log(20))), np.exp(rng.uniform(math.log(5), math.log(80)))
    wage = np.exp(rng.uniform(math.log(30), math.log(300)))
    first = rng.random(n) < p1
    helped = first | (rng.random(n) < rescue)
    alone = prices[0] * np.exp(rng.normal(-0.245, 0.7, n))
    extra = np.where(first, 0.0, prices[1] * np.exp(rng.normal(-0.18, 0.6, n)))
    human = wage * np.exp(rng.normal(-0.5, 1.0, n))
    every = p1 + (1 - p1) * rescue
    truth = [
        m.Approach("AI alone", p1, float(prices[0])),
        m.Approach("AI with feedback", every, float(prices[0] + (1 - p1) * prices[1])),
        m.Approach("human", 1.0, float(wage)),
    ]
    columns = [m.Outcomes(first, alone), m.Outcomes(helped, alone + extra), m.Outcomes([True] * n, human, assumed=True)]
    if measured:
        skill, both, help_ = rng.uniform(0.3, 0.99), rng.uniform(0.3, 0.99), rng.uniform(0.2, 1.2)
        truth[2:] = [m.Approach("person with AI", both, float(wage * help_)), m.Approach("human", skill, float(wage))]
        shared = wage * help_ * np.exp(rng.normal(-0.5, 1.0, n))
        columns[2:] = [m.Outcomes(rng.random(n) < both, shared), m.Outcomes(rng.random(n) < skill, human)]
    chosen = m.choose_from_jobs(dict(zip((a.name for a in truth), columns, strict=True)))
    assert not isinstance(chosen, str)
    decision = m.decide_by_value(truth)
    for value in VALUES:
        for name, chance in chosen.best(value).items():
            lower = max(b for b in (0.0, *BINS) if b <= chance)
            right = float(decision.best(value) == name)
            yield (
                f"{'measured ' if measured else ''}called {lower:g}",
                m.Estimate("right", chance, m.Counts(1, 1), right - 1, right, 0.95),
                1.0,
            )
    true = {r.approach: r for r in decision.regions}
    for region in chosen.regions:
        for end in ("low", "high"):
            at = getattr(true[region.approach], end) if region.approach in true else None
            told = getattr(region, end)
            if at and told.value is not None and not measured:
                yield f"end of a region: {region.approach} {'from' if end == 'low' else 'to'}", told, at


WORLDS: tuple[World, ...] = (lifts, arms, regions, people)


def tables(seeds: int, sizes: tuple[int, ...], kept: Kept | None = None) -> Rows:
    """Return all cells: how often intervals hold the truth, and how often calls by probability are right."""
    found = run(tuple(enumerate(WORLDS, 100)), seeds, sizes, kept)
    rows, holds = (
        [["table", "row", *(f"{n} jobs" for n in sizes)]],
        f"interval holds the truth, in % of {seeds} studies",
    )
    for row, cells in found.items():
        if "called" in row:
            continue
        rows.append([holds, row, *(str(cells.get(s, Cell())) for s in sizes)])
        if "less retry" in row:
            power = (f"{100 * c.alarms / max(1, c.seeds - c.none):.1f}" for c in (cells[s] for s in sizes))
            rows.append([holds, f"{row}: excludes 0", *power])
    rows += _calls(found, "", "approach called best with a probability, in % right", sizes)
    return rows + _calls(found, "measured ", "the same if people are measured, too", sizes)


def _calls(found: Table, kind: str, table: str, sizes: tuple[int, ...]) -> Rows:
    """Return rows of what was called, by the probability given."""
    rows = []
    for low, high in zip((0.0, *BINS), BINS, strict=False):
        cells = found.get(f"{kind}called {low:g}", {})
        sized = [cells.get(s, Cell()) for s in sizes]
        right = [f"{100 * c.covers:.1f} of {c.seeds}" if c.seeds else "-" for c in sized]
        rows.append([table, f"{100 * low:g} to {100 * high:g} %", *right])
    return rows
