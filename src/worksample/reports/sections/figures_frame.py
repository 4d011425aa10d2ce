"""Sections as one long table, for notebooks and files."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from worksample.metrics import Estimate, tabulate

from .section import Section

_HEAD = ("section", "row", "agent", "column", "group")


def figures_df(sections: Iterable[Section]) -> pl.DataFrame:
    """One row per figure: section, row, agent, column, group (the row's own text, such as the tier), then the columns
    of `worksample.metrics.tabulate`: printed, value, low, high, level, unit, counts, method, reason, notes.
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
