"""Comparisons that come out alike in every project.

An outside case: five ties gave 1000 [1000, 1000] without a note; a win and a loss in each of six projects gave the
same, from the bootstrap and from the sandwich. Projects that are alike say little of one that is not: here an end lies
where it would be if as many had gone the other way as nobody would have seen one of.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample import metrics as m

HUMAN = "human"


def check(room: Path, request: pytest.FixtureRequest) -> None:
    ties = [(f"p{i}", "a", HUMAN, 0.5) for i in range(5)]
    even = [(f"p{i}", "a", HUMAN, won) for i in range(6) for won in (1.0, 0.0)]
    thirds = [(f"p{i}", "a", HUMAN, won) for i in range(6) for won in (1.0, 1.0, 0.0)]
    three = [(f"p{i}", one, two, 0.5) for i in range(6) for one, two in (("a", HUMAN), ("b", HUMAN), ("a", "b"))]
    for rows in (ties, even, thirds, three):
        for interval in ("bootstrap", "sandwich"):
            for weight in ("pair", "comparison"):
                _has_width(rows, m.EloOptions(interval=interval, weight=weight))  # type: ignore[arg-type]
    gap = _table(three, m.EloOptions()).difference("a", "b")
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low < -100
    assert gap.high > 100


def _table(rows: list[tuple[str, str, str, float]], options: m.EloOptions) -> m.EloTable:
    project, first, second, preference = zip(*rows, strict=True)
    return m.elo_ratings(m.pair_sums(project, first, second, preference), options, m.Resampling(resamples=100))


def _has_width(rows: list[tuple[str, str, str, float]], options: m.EloOptions) -> None:
    for agent, found in _table(rows, options).ratings.items():
        if agent == HUMAN:
            continue
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        # One project that is lost outright is no surprise after five or six that came out alike.
        assert found.low < found.value - 100
        assert found.high > found.value + 100
        assert any("nearly equal outcomes" in note for note in found.notes)
        assert found.error is None
