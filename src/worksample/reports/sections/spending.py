"""Spending on the models of agents, colleagues and judges, with the part that is unknown."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample.metrics import Estimate, Unit
from worksample.metrics.counts import Counts
from worksample.reports.cost_notes import cost_notes
from worksample.results.result_set import ResultSet
from worksample.store.dataframes import trials_df
from worksample.store.model_costs import Spending, of_agents, of_colleagues, of_judges

from .figure_settings import MeasureConfig
from .section import Section, SectionRow

TOKENS = {
    "input": "input_tokens",
    "cache read": "cache_read_tokens",
    "cache written": "cache_write_tokens",
    "output": "output_tokens",
    "of it reasoning": "reasoning_tokens",
}
"""Column -> the column of a trial with its value."""
WHAT_WAS_SPENT = "a total of amounts spent: no interval"
COLUMNS = ("calls", *TOKENS, "cost", "cost at most")


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield all spending over the experiments; nothing if only a part of the work is shown."""
    if config.where:
        return
    ids = [e.id for e in results.experiments]
    tries = pl.concat([trials_df(results.store, id) for id in ids], how="vertical_relaxed")
    rows = [_agent(mine) for mine in tries.sort("agent_name").partition_by("agent", maintain_order=True)]
    others = (of_colleagues(tries), of_judges(results.store, ids))
    rows += [_line(one.who, None, one, [""] * len(TOKENS)) for one in others if one.pieces]
    if any(row.cells[0] != "0" for row in rows):
        notes = (
            "every try and every round counts, failed and struck ones too; other figures count finished trials",
            "input: prompt tokens that are not from a cache; input, cache and output add up to all tokens",
            *cost_notes(tries),
        )
        title = "Money and tokens of models"
        yield Section("spending", title, "beyond the papers", COLUMNS, tuple(rows), notes)


def _agent(tries: pl.DataFrame) -> SectionRow:
    tokens = [f"{tries[column].sum():,}" for column in TOKENS.values()]
    return _line(tries["agent_name"][0] or tries["agent"][0], tries["agent"][0], of_agents(tries), tokens)


def _line(label: str, agent: str | None, spent: Spending, tokens: list[str]) -> SectionRow:
    counts = Counts(spent.pieces, spent.pieces - spent.unpriced, ungraded=spent.unpriced)
    told = {"trials or evaluations without a price": spent.unpriced, "not settled": spent.unsettled}
    counts = Counts(counts.planned, counts.valid, 0, counts.ungraded, {k: v for k, v in told.items() if v})
    cost, most = spent.cost, spent.at_most
    if not spent.pieces:
        cost = most = 0.0
    figures = (
        Estimate(name, value, counts, unit=Unit.USD, notes=(WHAT_WAS_SPENT,))
        if value is not None
        else Estimate(name, None, counts, unit=Unit.USD, reason="no price is known")
        for name, value in (("cost", cost), ("cost at most", most))
    )
    return SectionRow(label, agent, (f"{spent.calls:,}", *tokens, *figures))
