"""Cells of a table of coverage, tables of text, and a file that keeps cells, so that a long run can be resumed.

The file has a line of JSON per finished block of seeds. A line that a kill tore is made again. Two benchmarks of every
world are drawn again at the start: if their figures differ, other code made the world's lines, and they do not count.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from worksample.metrics import Estimate

Rng = np.random.Generator
Found = Iterator[tuple[str, Estimate, float]]
"""What a world says: the row, the figure, the truth."""
World = Callable[[Rng, int], Found]
BLOCK = 50
"""Seeds that are kept together: some seconds of work."""
PROBES = 2
Rows = list[list[str]]
"""A table of text; its first row is the head."""


def markdown(rows: Rows) -> str:
    """Return a table as a page has it."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def read_rows(file: Path) -> Rows:
    """Return the rows of a CSV file, its head included."""
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


def write_rows(rows: Rows, file: Path) -> None:
    """Write a table as CSV."""
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines, lineterminator="\n").writerows(rows)


@dataclass
class Cell:
    """One row at one size."""

    seeds: int = 0
    none: int = 0
    held: int = 0
    alarms: int = 0
    width: float = 0.0

    def add(self, e: Estimate, truth: float) -> None:
        self.seeds += 1
        if e.level is None:
            self.none += 1
            return
        low, high = (-math.inf if e.low is None else e.low), (math.inf if e.high is None else e.high)
        # Plain numbers, since a file keeps them: worlds may say their truth in numpy's.
        self.held += bool(low - 1e-9 <= truth <= high + 1e-9)
        self.alarms += bool(low > 0 or high < 0)
        self.width += float(min(high - low, 1e9))

    def merge(self, other: Cell) -> None:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def covers(self) -> float:
        return self.held / max(1, self.seeds - self.none)

    def __str__(self) -> str:
        if self.none == self.seeds:
            return "none"
        none = f", none {100 * self.none / self.seeds:.0f}" if self.none else ""
        return f"{100 * self.covers:.1f}{none}"


Table = dict[str, dict[int, Cell]]
"""Row -> size -> cell."""
Part = tuple[int, int, int, int]
"""Place of the world, size, first seed, number of seeds."""


def cells_of(world: World, part: Part) -> dict[str, Cell]:
    """Row -> cell. A world at a seed is the same whatever else is asked for."""
    place, size, first, seeds = part
    out: dict[str, Cell] = {}
    for seed in range(first, first + seeds):
        for row, estimate, truth in world(np.random.default_rng([place, size, seed]), size):
            out.setdefault(row, Cell()).add(estimate, truth)
    return out


def probe(world: World, place: int, size: int) -> str:
    """A digest of the figures of the first benchmarks, to six digits."""

    def short(end: float | None) -> str:
        return "-" if end is None else f"{end:.6g}"

    told = [
        " ".join((row, *(short(x) for x in (truth, e.value, e.low, e.high))))
        for seed in range(PROBES)
        for row, e, truth in world(np.random.default_rng([place, size, seed]), size)
    ]
    return sha256("\n".join(told).encode()).hexdigest()[:16]


@dataclass
class Kept:
    """The file of finished blocks; without a path nothing is kept."""

    path: Path | None = None

    def __post_init__(self) -> None:
        self.done: dict[tuple[Part, str], dict[str, Cell]] = {}
        if self.path is None or not self.path.exists():
            return
        whole = self.path.read_bytes()
        torn = len(whole) - len(whole[: whole.rfind(b"\n") + 1])
        if torn:
            with self.path.open("r+b") as file:
                file.truncate(len(whole) - torn)
        for line in whole[: len(whole) - torn].splitlines():
            said = json.loads(line)
            cells = {row: Cell(**cell) for row, cell in said["cells"].items()}
            self.done[tuple(said["part"]), said["probe"]] = cells

    def cells(self, world: World, part: Part, mark: str) -> dict[str, Cell]:
        """Those of the file, else made and put there."""
        found = self.done.get((part, mark))
        if found is None:
            found = cells_of(world, part)
            if self.path is not None:
                cells = {row: asdict(cell) for row, cell in found.items()}
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"part": part, "probe": mark, "cells": cells}) + "\n")
        return found


def run(worlds: Sequence[tuple[int, World]], seeds: int, sizes: tuple[int, ...], kept: Kept | None = None) -> Table:
    """All cells; block after block, so that stopping leaves every row with about as many seeds."""
    kept = kept or Kept()
    out: Table = {}
    grid = [(world, place, size) for place, world in worlds for size in sizes]
    marks = {(place, size): probe(world, place, size) if kept.path else "" for world, place, size in grid}
    blocks: dict[tuple[int, int], list[dict[str, Cell]]] = {key: [] for key in marks}
    for first in range(0, seeds, BLOCK):
        for world, place, size in grid:
            part = (place, size, first, min(BLOCK, seeds - first))
            blocks[place, size].append(kept.cells(world, part, marks[place, size]))
    for (_, size), each in blocks.items():
        for cells in each:
            for row, cell in cells.items():
                out.setdefault(row, {}).setdefault(size, Cell()).merge(cell)
    return out
