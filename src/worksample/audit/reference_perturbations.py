"""Copies of the reference with changed figures: one changed within the tolerance must still score full, one changed
beyond it must not.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from worksample.files.tables.delimited import SAMPLE, BrokenText, records, sniff

MAX_PER_FILE = 4


@dataclass(frozen=True)
class Perturbation:
    """A deliverable of the reference with one changed figure."""

    path: str
    where: str
    data: bytes
    within: bool


def perturb(path: str, data: bytes, settings: dict[str, Any]) -> Iterator[Perturbation]:
    """Yield changed CSV and JSON deliverables: some figures moved by half their tolerance, and by far more than it.

    The package states the tolerance in `settings.tolerance`: a number, or a table of column (or key) -> number. Without
    one only the large change is made.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return
    tolerance = settings.get("tolerance", settings.get("tolerances"))
    if path.endswith(".csv"):
        yield from _csv(path, text, tolerance)
    elif path.endswith(".json"):
        yield from _json(path, text, tolerance)


def _stated_tolerance(tolerance: object, name: str) -> float | None:
    if isinstance(tolerance, dict):
        tolerance = tolerance.get(name)
    return float(tolerance) if isinstance(tolerance, (int, float)) and not isinstance(tolerance, bool) else None


def _far_value(value: float, tolerance: float | None) -> float:
    """Return a value that is clearly wrong: a third larger, and ten times the tolerance away."""
    return value + max(abs(value) / 3, 10 * (tolerance or 0), 1.0)


def _csv(path: str, text: str, tolerance: object) -> Iterator[Perturbation]:
    dialect = sniff(text[:SAMPLE], whole=len(text) <= SAMPLE)
    try:
        rows = [record.cells for record in records(io.StringIO(text, newline=""), dialect)]
    except BrokenText:
        return
    if len(rows) < 2:
        return
    done: set[str] = set()
    for number, row in enumerate(rows[1:], start=1):
        for column, cell in enumerate(row):
            name = rows[0][column] if column < len(rows[0]) else ""
            if name in done or len(done) >= MAX_PER_FILE:
                continue
            try:
                value = float(cell)
            except ValueError:
                continue
            if "." not in cell:
                # Whole numbers are as often names (years, ids) as amounts: changing them proves little.
                continue
            done.add(name)
            stated = _stated_tolerance(tolerance, name)
            for within, moved in _moves(value, stated):
                copy = [list(r) for r in rows]
                copy[number][column] = f"{moved:.6f}"
                out = io.StringIO()
                csv.writer(out, delimiter=dialect.separator, lineterminator="\n").writerows(copy)
                yield Perturbation(path, f"{name}, row {number}", out.getvalue().encode(), within)


def _json(path: str, text: str, tolerance: object) -> Iterator[Perturbation]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return
    for steps, value in list(_figures(document, ()))[:MAX_PER_FILE]:
        name = next((s for s in reversed(steps) if isinstance(s, str)), "")
        for within, moved in _moves(value, _stated_tolerance(tolerance, name)):
            copy = json.loads(text)
            node = copy
            for step in steps[:-1]:
                node = node[step]
            node[steps[-1]] = moved
            yield Perturbation(path, ".".join(map(str, steps)), json.dumps(copy, indent=2).encode(), within)


def _figures(node: object, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], float]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _figures(value, (*steps, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _figures(value, (*steps, index))
    elif isinstance(node, float) and steps:
        yield steps, node


def _moves(value: float, tolerance: float | None) -> Iterator[tuple[bool, float]]:
    if tolerance:
        yield True, value + tolerance / 2
    yield False, _far_value(value, tolerance)
