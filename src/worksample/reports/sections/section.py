"""A table of figures: what `worksample metrics` prints, what a report shows, what a notebook reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from worksample.metrics import Estimate

Cell = Estimate | str


@dataclass(frozen=True, slots=True)
class SectionRow:
    """One line. `agent` is the agent's id (an entrant's name where it is no agent of ours), None for a line that is
    not one agent's. `cells` stand under the section's `columns`.
    """

    label: str
    agent: str | None
    cells: tuple[Cell, ...]

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        cells = [cell if isinstance(cell, str) else cell.as_dict() for cell in self.cells]
        return {"label": self.label, "agent": self.agent, "cells": cells}


@dataclass(frozen=True, slots=True)
class Section:
    """Figures of one kind. `source` says which paper and section defines them; `fault` why they could not be had."""

    id: str
    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[SectionRow, ...]
    notes: tuple[str, ...] = ()
    fault: str = ""

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "columns": list(self.columns),
            "rows": [row.plain() for row in self.rows],
            "notes": list(self.notes),
            "fault": self.fault,
        }
