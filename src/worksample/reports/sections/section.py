"""A table of figures for `worksample metrics`, reports and notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from worksample.metrics import Estimate, tabulate

Cell = Estimate | str


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A line of a table of figures. `agent` is the agent's id, or the name of an entrant; it is None if the line is not
    about a single agent. `cells` have the order of the section's `columns`.
    """

    label: str
    agent: str | None
    cells: tuple[Cell, ...]

    def plain(self) -> dict[str, Any]:
        """Return the line as JSON types."""
        cells = [cell if isinstance(cell, str) else cell.as_dict() for cell in self.cells]
        return {"label": self.label, "agent": self.agent, "cells": cells}


@dataclass(frozen=True, slots=True)
class Section:
    """A table of figures of one kind. `source` names the paper and its section that define the figures. `fault` says
    why the figures are missing.
    """

    id: str
    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[SectionRow, ...]
    notes: tuple[str, ...] = ()
    fault: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the section as JSON types."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "columns": list(self.columns),
            "rows": [row.plain() for row in self.rows],
            "notes": list(self.notes),
            "fault": self.fault,
        }


_HEAD = ("section", "row", "agent", "column", "group")


def figures_df(sections: Iterable[Section]) -> pl.DataFrame:
    """Return one row per figure: section, row, agent, column, group (the row's own text, such as the tier), then the
    columns of `worksample.metrics.tabulate`: printed, value, low, high, level, unit, counts, method, reason, notes.
    """
    places, cells = [], []
    for section in sections:
        for row in section.rows:
            words = [cell for cell in row.cells if isinstance(cell, str)]
            group = words[0] if words and isinstance(row.cells[0], str) else ""
            for column, cell in zip(section.columns, row.cells, strict=True):
                if isinstance(cell, Estimate):
                    places.append((section.id, row.label, row.agent, column, group))
                    cells.append(cell)
    head = pl.DataFrame(places, schema=dict.fromkeys(_HEAD, pl.String), orient="row")
    return head if not cells else pl.concat([head, tabulate(cells).drop("group")], how="horizontal")
