"""Tables in the layout of a paper's own."""

from __future__ import annotations

from worksample.metrics import Counts, Estimate
from worksample.metrics.ratings.preferences import HUMAN
from worksample.reports.sections.paper_layouts import paper_layouts
from worksample.reports.sections.section import Section, SectionRow


def section(id: str, figures: dict[str, float | None]) -> Section:
    rows = tuple(
        SectionRow(name, name, (Estimate(name, value, Counts(1, 1), reason="" if value is not None else "none"),))
        for name, value in figures.items()
    )
    return Section(id, id, "", ("x",), rows)


def test_rli_table_3_has_both_lists_sorted_by_their_own_figure_without_the_human() -> None:
    rates = section("automation", {"rli-cua": 0.008, "rli-cli": 0.017, "other": None})
    elo = section("elo", {HUMAN: 1000.0, "rli-cli": 436.0, "rli-cua": 441.0})
    [table] = paper_layouts([rates, elo])
    shown = [tuple(c.value if isinstance(c, Estimate) else c for c in row.cells) for row in table.rows]
    assert shown == [
        ("rli-cli", 0.017, "rli-cua", 441.0),
        ("rli-cua", 0.008, "rli-cli", 436.0),
        ("other", None, "", ""),
    ]
    assert not list(paper_layouts([rates])) and not list(paper_layouts([elo]))
