"""Sections in the layout of a paper's own table, made from sections that stand already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from worksample.metrics import Estimate
from worksample.metrics.ratings.preferences import HUMAN

from .section import Section, SectionRow

RLI_TABLE_3 = "rli-table-3"


def paper_layouts(sections: Sequence[Section]) -> Iterator[Section]:
    """Yield RLI's Table 3 if there are automation rates and Elo scores: two lists of agents side by side, each sorted
    by its own figure, the best first. The human is left out, as there.
    """
    found = {section.id: section for section in sections}
    rates, elo = _rank(found.get("automation")), _rank(found.get("elo"))
    if not rates or not elo:
        return
    blank = ("", "")
    rows = tuple(
        SectionRow(
            str(place + 1),
            None,
            (*(rates[place] if place < len(rates) else blank), *(elo[place] if place < len(elo) else blank)),
        )
        for place in range(max(len(rates), len(elo)))
    )
    columns = ("agent", "automation rate", "agent, by Elo", "Elo")
    notes = ("each side is sorted by its own figure; agents without a figure stand last",)
    yield Section(RLI_TABLE_3, "Automation rate and Elo", "RLI Table 3", columns, rows, notes)


def _rank(section: Section | None) -> list[tuple[str, Estimate]]:
    """Return the agents of a section with the first figure of each, the largest first."""
    if section is None:
        return []
    figures = [(row.label, cell) for row in section.rows for cell in row.cells[:1] if isinstance(cell, Estimate)]
    ranked = [one for one in figures if one[0] != HUMAN]
    return sorted(ranked, key=lambda one: (one[1].value is None, -(one[1].value or 0.0), one[0]))
