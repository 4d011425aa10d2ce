"""`criteria.toml`: the one tree for rubric and checkpoints."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from worksample.records import By, Criteria, Criterion, Importance

from .faults import Faults
from .table import Table, read_toml

DEPTH = 8
"""Levels of nesting."""
_ID = r"[a-z0-9][a-z0-9_-]*"


def read_criteria(path: Path, faults: Faults) -> Criteria:
    """The tree; an empty one where the file is missing, and faults for what is wrong in it."""
    if not path.exists():
        return Criteria()
    table = read_toml(path, path.name, faults)
    nodes = [_node(t, 0) for t in table.tables("criterion")]
    if not nodes and not table.broken:
        table.fault("criterion", "there is none", "one [[criterion]] at least")
    table.done()
    kept = tuple(n for n in nodes if n is not None)
    if len(kept) != len(nodes):
        return Criteria()
    try:
        return Criteria(criteria=kept)
    except ValidationError as error:
        for one in error.errors():
            faults.add(path.name, "criterion", one["msg"].removeprefix("Value error, "))
        return Criteria()


def _node(table: Table, depth: int) -> Criterion | None:
    before = len(table.faults.found)
    parts = [_node(t, depth + 1) for t in table.tables("part")] if depth < DEPTH else []
    if depth >= DEPTH and table.has("part"):
        table.fault("part", f"criteria nest at most {DEPTH} levels deep")
    id = table.text("id", pattern=_ID, says="lower case letters, digits, _ and -")
    text = table.text("text")
    points = table.number("points", low=0, above=True)
    importance = table.text("importance", "", choices=[i.value for i in Importance])
    by = table.text("by", By.PROGRAM.value, choices=[b.value for b in By])
    gate = table.flag("gate", False)
    implies = table.flag("implies_others", False)
    if implies and depth:
        table.fault("implies_others", "belongs to the last criterion of the whole file")
    table.done()
    kept = tuple(p for p in parts if p is not None)
    if len(table.faults.found) > before or len(kept) != len(parts):
        return None
    try:
        return Criterion(
            id=id, text=text, points=points, importance=Importance(importance) if importance else None, by=By(by),
            gate=gate, implies_others=implies, parts=kept,
        )  # fmt: skip
    except ValidationError as error:
        table.fault("points", error.errors()[0]["msg"].removeprefix("Value error, "))
        return None
