"""The smallest coverage that an interval can have on one distribution, if it is to hold the truth often enough on all.

Tasks' values lie on `levels`. Looked at are all intervals of a mean whose ends rise with every task's value and that
hold the true mean with a chance of `holds` at least, whatever the distribution over the levels is. Where such an
interval lies below a mean the data belong to a set that holds with some data all those that lie lower, task by task;
where it lies above it, to one that holds all higher ones. The two sets that a distribution falls into most often, while
none of those with the same mean falls into them more often than 1 - `holds`, are an integer program; no such
interval misses more often. Fewer distributions are looked at than there are, so that the truth may only be higher.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.special import gammaln

Floats = np.ndarray
MOST = 600
"""States beyond which nothing is worked out."""
NODES = 5000
"""After so many branches the bound that was reached stands: the same on any machine."""


@dataclass(frozen=True, slots=True)
class Design:
    """`n` tasks whose values are `levels` with these chances. `lower` and `upper` are the chances once values that lie
    between two levels are moved to the one below, or above: then the bound holds for them, too.
    """

    n: int
    levels: tuple[float, ...]
    chances: tuple[float, ...]
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    mean: float | None = None

    @property
    def truth(self) -> float:
        return float(np.dot(self.levels, self.chances)) if self.mean is None else self.mean

    @property
    def states(self) -> int:
        found = 1
        for k in range(1, len(self.levels)):
            found = found * (self.n + k) // k
        return found


def counts(n: int, levels: int) -> np.ndarray:
    """How many tasks have each level: all combinations."""
    if levels == 1:
        return np.array([[n]])
    parts = [np.insert(counts(n - first, levels - 1), 0, first, axis=1) for first in range(n + 1)]
    return np.concatenate(parts)


def probabilities(seen: np.ndarray, chances: Floats) -> Floats:
    """Of each combination (columns) under each distribution (rows)."""
    ways = gammaln(seen.sum(axis=1) + 1) - gammaln(seen + 1).sum(axis=1)
    return np.asarray(np.exp(ways + np.log(np.maximum(chances, 1e-300)) @ seen.T))


def same_mean(levels: Floats, mean: float, more: int = 60) -> Floats:
    """Distributions over the levels with this mean: all over two of them, and mixtures of those."""
    two = []
    for low in np.flatnonzero(levels <= mean + 1e-12):
        for high in np.flatnonzero(levels >= mean - 1e-12):
            chances = np.zeros(len(levels))
            apart = levels[high] - levels[low]
            part = (mean - levels[low]) / apart if apart > 1e-12 else 1.0
            chances[high] += part
            chances[low] += 1 - part
            two.append(chances)
    mixed = np.random.default_rng(0).dirichlet(np.full(len(two), 0.5), more) @ np.array(two)
    return np.concatenate([np.array(two), mixed])


def least(design: Design, holds: float) -> float | None:
    """The smallest coverage; None where there are too many states."""
    if design.states > MOST:
        return None
    levels = np.array(design.levels)
    seen = counts(design.n, len(levels))
    family = same_mean(levels, design.truth)
    if not design.lower:
        family = np.concatenate([family, np.array(design.chances)[None]])
    down, up = (probabilities(seen, np.array(c or design.chances)[None])[0] for c in (design.lower, design.upper))
    mean = seen @ levels / design.n
    return smallest(_rises(seen), probabilities(seen, family), (down, up), mean - design.truth, holds)


def _rises(seen: np.ndarray) -> np.ndarray:
    """Pairs of states of which the second has one task a level higher."""
    place = {tuple(row): at for at, row in enumerate(seen.tolist())}
    pairs = []
    for row in seen.tolist():
        for level in range(len(row) - 1):
            if row[level]:
                above = [*row]
                above[level] -= 1
                above[level + 1] += 1
                pairs.append((place[tuple(row)], place[tuple(above)]))
    return np.array(pairs)


def smallest(
    rises: np.ndarray,
    family: Floats,
    own: tuple[Floats, Floats],
    beside: Floats,
    holds: float,
    gap: float = 1e-3,
    nodes: int = NODES,
) -> float:
    """The smallest coverage over finitely many states of the data.

    `rises`: pairs of states of which the second raises both ends; `family`: chances of the states (columns) under each
    distribution; `own`: under the one that is looked at, for misses from below and from above; `beside`: how far a
    state's estimate lies from the truth, since an interval holds its own estimate.
    """
    states, size = len(beside), len(rises)
    below, over = (sp.csr_matrix((np.ones(size), (np.arange(size), at)), (size, states)) for at in rises.T)
    none, eye = sp.csr_matrix((size, states)), sp.eye(states)
    closed = sp.vstack([sp.hstack([over - below, none]), sp.hstack([none, below - over])])
    rows = [
        LinearConstraint(closed, -np.inf, 0),
        LinearConstraint(np.hstack([family, family]), -np.inf, 1 - holds),
        LinearConstraint(sp.hstack([eye, eye]), -np.inf, 1),
    ]
    may = np.concatenate([beside < -1e-9, beside > 1e-9]).astype(float)
    whole = np.ones(2 * states, dtype=np.int64)
    found = milp(
        -np.concatenate(own), integrality=whole, bounds=Bounds(0, may), constraints=rows,
        options={"node_limit": nodes, "mip_rel_gap": gap},
    )  # fmt: skip
    if found.mip_dual_bound is None:
        raise ArithmeticError(f"no bound: {found.message}")
    return float(1 + found.mip_dual_bound)
