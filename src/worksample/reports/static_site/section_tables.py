"""Sections of figures as tables of a page: grouped headings, cells with interval and counts, and reasons below the
table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from worksample.metrics import Estimate
from worksample.reports.figure_formatting import DASH, unit_figure
from worksample.tasks.taxonomy import title_of

if TYPE_CHECKING:
    from worksample.reports.sections import Section

FEW = 3
"""Maximum number of lines of a table that a note names."""
NOTES = 12
"""Maximum number of notes below a table. metrics.json contains all notes."""


@dataclass(frozen=True, slots=True)
class Head:
    """A heading over `span` columns."""

    says: str
    span: int


@dataclass(frozen=True, slots=True)
class CellView:
    """A cell of a table. `text` is the figure or a dash. `interval` and `counts` are empty if the figure has none.
    `title` contains all other details.
    """

    text: str
    interval: str = ""
    counts: str = ""
    title: str = ""
    value: float | None = None
    """The number by which the table is sorted."""


@dataclass(frozen=True, slots=True)
class SectionView:
    id: str
    title: str
    source: str
    groups: tuple[Head, ...]
    """The upper headings, empty if no column is in a group (`Near-Term: pass` is in the group Near-Term)."""
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[CellView, ...]], ...]
    notes: tuple[str, ...]
    fault: str
    bare: bool
    """True if no cell has a value and no fault occurred. A page then shows the section folded."""


def view_of(section: Section) -> SectionView:
    """Return the view of a section."""
    parts = [c.partition(": ") if ": " in c else ("", "", c) for c in section.columns]
    groups = tuple(Head(title_of(name), len(list(run))) for name, run in groupby(p[0] for p in parts))
    rows = tuple((title_of(row.label), tuple(_cell(c) for c in row.cells)) for row in section.rows)
    return SectionView(
        id=section.id,
        title=section.title,
        source=section.source,
        groups=groups if any(g.says for g in groups) else (),
        heads=tuple(p[2] for p in parts),
        rows=rows,
        notes=_notes(section),
        fault=section.fault,
        bare=not section.fault and not any(_says(cell) for row in section.rows for cell in row.cells),
    )


def _says(cell: Estimate | str) -> bool:
    return cell.value is not None if isinstance(cell, Estimate) else cell not in ("", DASH)


def _cell(cell: Estimate | str) -> CellView:
    if isinstance(cell, str):
        return CellView(cell)
    said = (*((cell.reason,) if cell.reason else ()), *cell.notes, *(f"given: {c}" for c in cell.conditional_on))
    method = f"{100 * cell.level:g} % interval: {cell.method}" if cell.level is not None and cell.method else ""
    title = "; ".join((*said, *((method,) if method else ())))
    counts = f"n = {_of(cell)}" if cell.counts.planned else ""
    if cell.bounds is not None and cell.counts.valid:
        counts += f"; {' to '.join(unit_figure(end, cell.unit, cell.digits) for end in cell.bounds)} once all is graded"
    if cell.value is None:
        return CellView(DASH, counts=counts, title=title)
    ends = [DASH if end is None else unit_figure(end, cell.unit, cell.digits) for end in (cell.low, cell.high)]
    interval = "" if cell.low is None and cell.high is None else f"{ends[0]} – {ends[1]}"
    return CellView(unit_figure(cell.value, cell.unit, cell.digits), interval, counts, title, cell.value)


def _of(cell: Estimate) -> str:
    counts = cell.counts
    return f"{counts.valid:,}" if counts.valid == counts.planned else f"{counts.valid:,} of {counts.planned:,}"


def _notes(section: Section) -> tuple[str, ...]:
    """Return the notes of the section, followed by each different reason and note of its figures."""
    estimates = [(title_of(row.label), c) for row in section.rows for c in row.cells if isinstance(c, Estimate)]
    reasons = [f"{DASH} {e.name}: {e.reason}" for _, e in estimates if e.reason]
    notes = [(who, n) for who, e in estimates for n in e.notes]
    given = [f"given: {c}" for _, e in estimates for c in e.conditional_on]
    lines = len({row.label for row in section.rows})
    found: Sequence[str] = list(dict.fromkeys((*section.notes, *reasons, *_name_lines(notes, lines), *given)))
    left = len(found) - NOTES
    more = (f"{left} more {'note is' if left == 1 else 'notes are'} in metrics.json",) if left > 0 else ()
    return (*found[:NOTES], *more)


def _name_lines(notes: Sequence[tuple[str, str]], lines: int) -> list[str]:
    """Return each note once. A note names the lines of the table to which it applies, unless it applies to all of
    them.
    """
    whose: dict[str, dict[str, None]] = {}
    for who, note in notes:
        whose.setdefault(note, {})[who] = None
    return [note if len(who) == lines else f"{_names(list(who))}: {note}" for note, who in whose.items()]


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= FEW else f"{', '.join(names[:FEW])} and {len(names) - FEW} more"
