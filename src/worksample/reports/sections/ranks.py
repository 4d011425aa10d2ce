"""Ranking of agents: ranks with intervals, probabilities of being best, every pair with Holm's correction."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.metrics.comparison.ranking import MOST_AGENTS
from worksample.results.result_set import ResultSet, state_of

from .figure_settings import MeasureConfig
from .result_rows import agent_groups, attempts_of
from .section import Section, SectionRow


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield ranks by passing under the experiments' protocol, if two or more agents have graded work."""
    frame = results.judged_frame(results.primary)
    if frame is None:
        return
    groups = [g for g in agent_groups(attempts_of(frame)) if g.rows["passed"].is_not_null().any()]
    if len(groups) < 2:
        return
    if len(groups) > MOST_AGENTS:
        many = f"{len(groups):,} agents are too many for all pairs"
        note = f"{many}: choose at most {MOST_AGENTS}, as by --where agent=NAME"
        yield Section("ranks", "Ranks", "beyond the papers", ("rank", "best"), (), (note,))
        return
    labels = {g.rows["who"][0]: g.label for g in groups}
    found = m.rank_agents({g.rows["who"][0]: _passes(g.rows) for g in groups}, config.how)
    ids = {g.rows["who"][0]: g.agent for g in groups}
    order = sorted(found.ranks, key=lambda who: (found.ranks[who].value or 0.0, labels[who]))
    rows = tuple(SectionRow(labels[who], ids[who], (found.ranks[who], found.best[who])) for who in order)
    notes = (
        "a rank is bounded by the agents that are certainly ahead and certainly behind, corrected for all its pairs",
        "best: the share of resamples of the tasks in which it passes most",
    )
    yield Section("ranks", "Ranks", "beyond the papers", ("rank", "best"), rows, notes)
    lines = tuple(
        SectionRow(
            f"{labels[p.second]} minus {labels[p.first]}",
            None,
            (p.difference, _p(p.p), _p(p.holm), "-" if p.ahead is None else f"{100 * p.ahead:.1f} %"),
        )
        for p in found.pairs
    )
    columns = ("full pass", "p", "p (Holm)", "probability of being better")
    said = ("on the instances that both did; p (Holm) is corrected for all pairs, the intervals are not",)
    yield Section("pairs", "Every pair of agents", "beyond the papers", columns, lines, said)


def _passes(rows: pl.DataFrame) -> m.TrialColumns:
    rows = rows.with_columns(pl.col("passed").cast(pl.Float64), state=state_of("passed"))
    return m.TrialColumns(rows["passed"], rows["task"], rows["instance_name"], rows["state"])


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"
