"""Cells of the table of coverage above 97 %, and how often an interval has to hold the truth there.

Reads docs/data/coverage.csv. Rows whose method is exact may cover more. Each other cell above 97 % is
listed with the smallest coverage (`least.py`) of any interval that holds 93 %, and 95 %, for all distributions over
the values that its tasks can have, or as within the chance of so many draws."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
from benchmarks.coverage.cells import Rows
from benchmarks.coverage.figures import SIZES
from benchmarks.coverage.least import MOST, Design, least
from benchmarks.coverage.worlds import PLANS, WORLDS, planned_points
from scipy.special import betainc, betaincinv
from scipy.stats import betabinom, binom

CEILING = 97.0
Make = Callable[[int], Design | None]


def credits(mean: float, repeats: int) -> Make:
    """The mean of so many trials of a task, whose chance is beta around the mean as the worlds draw it."""
    found = tuple(betabinom(repeats, mean, 1 - mean).pmf(np.arange(repeats + 1)))
    return lambda n: Design(n, tuple(np.arange(repeats + 1) / repeats), found)


def two(low: float, high: float, share: float) -> Make:
    return lambda n: Design(n, (low, high), (1 - share, share))


def gaps(first: np.ndarray, second: np.ndarray, weight: np.ndarray, repeats: int) -> tuple[float, ...]:
    """Chances of a task's differences, from -1 to 1, over tasks that pass with these chances."""
    times = np.arange(repeats + 1)
    one, other = (binom.pmf(times[:, None], repeats, chance) for chance in (first, second))
    both = np.einsum("it,jt,t->ij", one, other, weight)
    return tuple(float(np.trace(both, offset=k)) for k in range(-repeats, repeats + 1))


def paired(gain: float, repeats: int) -> Make:
    easy, weight = _middles()
    chances = gaps(easy * 0.6, easy * 0.6 + gain, weight, repeats)
    return lambda n: Design(n, tuple(np.arange(-repeats, repeats + 1) / repeats), chances)


def planned(name: str) -> Make:
    rate, between, shared, repeats = PLANS[name]

    def make(n: int) -> Design | None:
        points = planned_points(name, n)
        if points is None:
            return None
        easy, weight = _middles(300)
        size = 1 / between - 1
        one, other = (betaincinv(mean * size, (1 - mean) * size, easy) for mean in (rate, min(rate + points, 1 - 1e-9)))
        same = np.array(gaps(one, other, weight, repeats))
        apart = np.array(
            gaps(np.repeat(one, len(easy)), np.tile(other, len(easy)), np.outer(weight, weight).ravel(), repeats)
        )
        return Design(n, tuple(np.arange(-repeats, repeats + 1) / repeats), tuple(shared * same + (1 - shared) * apart))

    return make


def _middles(steps: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    return (np.arange(steps) + 0.5) / steps, np.full(steps, 1 / steps)


def graded(below: Callable[[np.ndarray], np.ndarray], mean: float, levels: np.ndarray) -> Make:
    """Scores of any value, whose chance to lie at or below a value is `below`."""
    share = below(levels)
    lower = np.diff(np.append(share, 1.0))
    lower[0] += share[0]
    upper = np.diff(share, prepend=0.0)
    return lambda n: Design(n, tuple(levels), tuple(lower), tuple(lower), tuple(upper), mean)


_EIGHTHS = np.arange(9) / 8
_TRIES = betabinom(5, 0.6, 1.4).pmf(np.arange(6))
_POINTS = betabinom(5, 2, 2).pmf(np.arange(6))
DESIGNS: dict[str, Make] = {
    "rate, 3 repeats": credits(0.1, 3), "rate, 2 instances": credits(0.1, 2), "rate, 4 instances": credits(0.1, 4),
    "full pass, 3 repeats": credits(0.3, 3), "timeout rate": credits(0.2, 3),
    "mean score, symmetric": graded(lambda x: betainc(2, 2, x), 0.5, _EIGHTHS),
    "mean score, mostly 0": graded(lambda x: 0.7 + 0.3 * betainc(3, 2, x), 0.18, _EIGHTHS),
    "S_partial": lambda n: Design(n, (0, 0.1, 0.2, 0.3, 0.4, 1), tuple(_POINTS)),
    "pass@2 of 5": lambda n: Design(n, (0, 0.4, 0.7, 0.9, 1), (*_TRIES[:4], _TRIES[4] + _TRIES[5])),
    "passed within 2": two(0, 1, 0.51),
    "agreement": two(1 / 3, 1, 0.85**3 + 0.15**3), "hard disagreement": two(0, 2 / 3, 1 - 0.85**3 - 0.15**3),
    "preference": lambda n: Design(n, (0, 0.5, 1), (0.5, 0.3, 0.2)),
    **{f"paired difference, {repeats} repeats, {said}": paired(gain, repeats)
       for repeats in (1, 3) for gain, said in ((0.0, "equal agents"), (0.1, "10 points"))},
    **{f"planned for 80 %: {name}": planned(name) for name in PLANS},
}  # fmt: skip
"""By row: the values of its tasks at a size."""
EXACT = re.compile(r"exact\b|order statistics|Gaffke's bounds over tasks$")


def exact_rows() -> set[str]:
    """Rows all of whose intervals are exact, seen on a few benchmarks."""
    methods: dict[str, set[str]] = {}
    for place, world in enumerate(WORLDS):
        for size in (10, 40):
            for seed in range(4):
                for row, figure, _ in world(np.random.default_rng([place, size, seed]), size):
                    if figure.method:
                        methods.setdefault(row, set()).add(figure.method)
    return {row for row, said in methods.items() if all(EXACT.match(m) for m in said)}


def covered(rows: Rows) -> tuple[int, dict[str, dict[int, float]]]:
    """(draws, row -> size -> coverage in %) of the table of coverage."""
    draws = int(re.search(r"coverage in % of (\d+)", rows[0][0])[1])  # type: ignore[index]
    out: dict[str, dict[int, float]] = {}
    for row, *cells in rows[1:]:
        if not row.endswith((": power", ": false alarms")):
            shares = zip(SIZES, cells, strict=True)
            out[row] = {size: float(cell.split(",")[0]) for size, cell in shares if not cell.startswith("none")}
    return draws, out


def chance(draws: int) -> float:
    """In %: what 97 % comes out below in 97.5 of 100 runs."""
    return CEILING + 196 * math.sqrt(0.97 * 0.03 / draws)


def said(row: str, size: int, share: float, draws: int) -> str:
    """A cell of the table: what was covered, and the least that can be."""
    make = DESIGNS.get(row)
    design = make(size) if make else None
    if design is not None and design.states <= MOST:
        found = [least(design, holds) for holds in (0.93, 0.95)]
        return f"{share}: " + " / ".join(f"{100 * f:.1f}" for f in found if f is not None)
    return f"{share} ±" if share <= chance(draws) else f"{share}"


def table(coverage: Rows) -> Rows:
    draws, rows = covered(coverage)
    exact = exact_rows()
    above = {
        row: {size: share for size, share in cells.items() if share > CEILING}
        for row, cells in rows.items()
        if row not in exact
    }
    found = [["cells above 97 %", *SIZES.values()]]
    for row, cells in above.items():
        if cells:
            found.append([row, *(said(row, size, cells[size], draws) if size in cells else "" for size in SIZES)])
    return found
