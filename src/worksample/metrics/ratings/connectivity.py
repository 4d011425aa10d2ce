"""Connectivity of comparisons. It decides whether ratings of the agents exist.

The likelihood has a unique maximum if and only if the directed graph "has won or tied against" is strongly connected
(Ford 1957).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worksample.metrics.column_checks import Flags, Floats, Ints

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Connectivity:
    """Connected groups of agents.

    `components` are the largest sets of agents within which ratings exist. `main` is the set with the anchor, or the
    largest set if there is no anchor. `reasons` says, for each agent outside the main set, why it cannot be rated.
    """

    components: tuple[tuple[str, ...], ...]
    main: tuple[str, ...]
    reasons: dict[str, str]

    @property
    def identifiable(self) -> bool:
        return len(self.components) == 1

    @property
    def says(self) -> str:
        """A sentence about the agents that cannot be rated. It is empty if all agents can be rated."""
        if self.identifiable:
            return ""
        grouped: dict[str, list[str]] = {}
        for agent, reason in self.reasons.items():
            grouped.setdefault(reason, []).append(agent)
        return "; ".join(f"{_list_agents(agents)}: {reason}" for reason, agents in grouped.items())


def _list_agents(agents: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(agents[:_SHOWN])
    return f"{shown} and {len(agents) - _SHOWN} more" if len(agents) > _SHOWN else shown


def check_connectivity(
    agents: tuple[str, ...], first: Ints, second: Ints, preference: Floats, anchor: str | None = None
) -> Connectivity:
    """Return the connected groups of agents. `preference` is the mean preference for the first agent of each pair."""
    from scipy.sparse.csgraph import connected_components

    size = len(agents)
    if size == 0:
        return Connectivity((), (), {})
    wins = _wins(size, first, second, preference)
    graph = wins.astype(np.int8)
    parts, of = connected_components(graph, directed=True, connection="strong")
    _, island = connected_components(graph, directed=True, connection="weak")
    names = np.array(agents, dtype=object)
    components = tuple(sorted((tuple(names[of == part]) for part in range(parts)), key=lambda c: (-len(c), c)))
    main = next((c for c in components if anchor in c), components[0])
    inside = np.isin(names, list(main))
    beats, loses = _reachable(wins.T, inside), _reachable(wins, inside)
    reasons = {}
    for place in np.flatnonzero(~inside):
        reasons[agents[place]] = _reason(
            alone=island[place] != island[np.flatnonzero(inside)[0]],
            above=bool(beats[place]),
            below=bool(loses[place]),
            wins=bool(wins[place].any()),
            losses=bool(wins[:, place].any()),
        )
    return Connectivity(components, main, reasons)


def _reason(*, alone: bool, above: bool, below: bool, wins: bool, losses: bool) -> str:
    if not wins and not losses:
        return "was never compared"
    if alone:
        return "no chain of comparisons links it with the rest"
    if above:
        return "never loses or ties" if not losses else "no agent below it ever wins or ties against its group"
    if below:
        return "never wins or ties" if not wins else "its group never wins or ties against any agent above it"
    return "is comparable with the rest only through agents that themselves cannot be rated"


def _wins(size: int, first: Ints, second: Ints, preference: Floats) -> Flags:
    wins = np.zeros((size, size), dtype=bool)
    wins[first, second] = preference > 0
    wins[second, first] = preference < 1
    return wins


def _reachable(edges: Flags, start: Flags) -> Flags:
    """Return a flag per node that is true if a path of edges leads from a node in `start` to the node. `edges` is
    indexed by [from, to].
    """
    seen = start.copy()
    while True:
        more = seen | edges[seen].any(axis=0)
        if (more == seen).all():
            return seen
        seen = more


def reach(size: int, pairs: tuple[Ints, Ints], wins: tuple[Flags, Flags], start: int) -> tuple[Flags, Flags]:
    """Return two arrays of shape (graphs, agents): the agents that `start` reaches by a chain of wins or ties, and the
    agents that reach `start`. Both include `start` itself.

    Many graphs over the same pairs are searched at once. `wins` contains two arrays of shape (pairs, graphs): whether
    the first agent of the pair has won or tied against the second, and whether the second has won or tied against the
    first.
    """
    graphs = wins[0].shape[1]
    edges = np.zeros((graphs, size, size), dtype=np.float32)
    edges[:, pairs[0], pairs[1]] = wins[0].T
    edges[:, pairs[1], pairs[0]] = wins[1].T
    below, above = (_spread(turned, start) for turned in (edges, edges.transpose(0, 2, 1)))
    return below, above


def _spread(edges: NDArray[np.float32], start: int) -> Flags:
    seen = np.zeros((len(edges), 1, edges.shape[1]), dtype=np.float32)
    seen[:, 0, start] = 1
    while True:
        more = np.minimum(seen + seen @ edges, 1) > 0
        if (more == (seen > 0)).all():
            return np.asarray(more[:, 0])
        seen = more.astype(np.float32)
