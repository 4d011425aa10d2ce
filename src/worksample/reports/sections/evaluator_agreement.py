"""Agreement between programs, judges and people on the same work, by criterion, and the criteria that are failed most
often (UpBench 5.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import polars as pl

from worksample import metrics as m
from worksample.records import EvaluatorKind
from worksample.reports.chosen_experiments import is_private
from worksample.reports.sections import judge_calibration as calibration
from worksample.reports.sections.figure_settings import MeasureConfig
from worksample.reports.sections.section import Section, SectionRow
from worksample.results.evaluator_answers import WHOLE, evaluator_answers, majority_by_kind
from worksample.results.result_set import ResultSet

MOST = 200
"""Maximum number of listed disagreements."""
CRITERIA = 50
"""Maximum number of criteria with a line of their own, for each pair of kinds of evaluator. A suite may have thousands
of criteria.
"""
_PERSON = EvaluatorKind.PERSON.value
_COLUMNS = ("agreement", "on positives", "alpha, nominal", "AC1", "compared")


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield agreement between kinds of evaluator and between people by criterion, their disagreements, and the
    calibration of judges by people's labels.
    """
    table = evaluator_answers(results)
    hidden = is_private(results.store, results.experiments)
    rows = [*_people(results, config, table, hidden), *_kinds(results, config, table, hidden)]
    if rows:
        notes = (
            "a kind's answer is that of most of its evaluators; an even split is no answer",
            f"only the {CRITERIA} criteria with the most disagreement are listed",
            "people's own verdicts against each other: see agreement between evaluators",
        )
        title = "Agreement by criterion, and between people, judges and programs"
        yield Section("side-by-side", title, "RLI 3.4, UpBench 3.4, ALE C.3", _COLUMNS, tuple(rows), notes)
    parted = [] if hidden else _disagreements(results, majority_by_kind(table))
    if parted:
        more = len(parted) - MOST
        left = (f"{more} more are not listed",) if more > 0 else ()
        columns = ("criterion", "pass", "fail", "submission")
        yield Section("disagreements", "Where evaluators disagree", "", columns, tuple(parted[:MOST]), left)
    yield from criteria_sections(results, config, table, hidden)
    yield from calibration.sections(results, config, table)


def _people(results: ResultSet, config: MeasureConfig, table: pl.DataFrame, hidden: bool) -> Iterator[SectionRow]:
    """Yield the agreement between people, if several judged the same criterion."""
    people = table.filter((pl.col("kind") == _PERSON) & (pl.col("item") != WHOLE))
    twice = people.filter(pl.col("evaluator").n_unique().over("subject", "item") > 1)
    if twice.is_empty():
        return
    yield _row(config, "person with person, all criteria", twice, "evaluator")
    yield from _groups(results, config, "person with person", twice, "evaluator", hidden)


def _kinds(results: ResultSet, config: MeasureConfig, table: pl.DataFrame, hidden: bool) -> Iterator[SectionRow]:
    wide = majority_by_kind(table)
    for one, two in combinations((kind.value for kind in EvaluatorKind), 2):
        both = wide.filter(pl.col(one).is_not_null() & pl.col(two).is_not_null())
        long = both.unpivot([one, two], index=["subject", "item", "importance", "task"], variable_name="kind")
        name = f"{two} with {one}" if one == _PERSON else f"{one} with {two}"
        whole, parts = long.filter(pl.col("item") == WHOLE), long.filter(pl.col("item") != WHOLE)
        if not whole.is_empty():
            yield _row(config, f"{name}, verdicts", whole, "kind")
        if not parts.is_empty():
            yield _row(config, f"{name}, all criteria", parts, "kind")
            yield from _groups(results, config, name, parts, "kind", hidden)


def _groups(
    results: ResultSet, config: MeasureConfig, name: str, table: pl.DataFrame, by: str, hidden: bool
) -> Iterator[SectionRow]:
    """Yield rows of agreement by importance of the criteria and, unless the suite is private, by criterion."""
    for rows in table.drop_nulls("importance").partition_by("importance", maintain_order=True):
        yield _row(config, f"{name}, {rows['importance'][0]} criteria", rows, by)
    if not hidden:
        for rows in _least_agreed(table):
            yield _row(config, f"{name}: {results.criterion_label(rows['task'][0], rows['item'][0])}", rows, by)


def _least_agreed(table: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the answers on each criterion, for at most `CRITERIA` criteria. The criterion with most contested
    submissions comes first.
    """
    keys = ["task", "item"]
    contested = table.group_by(*keys, "subject").agg(apart=pl.col("value").n_unique() > 1)
    order = contested.group_by(keys).agg(pl.col("apart").mean()).sort("apart", *keys, descending=[True, False, False])
    chosen = order.head(CRITERIA).with_row_index("place").drop("apart")
    rows = table.join(chosen, on=keys, how="inner", maintain_order="left").sort("place", maintain_order=True)
    return rows.partition_by("place", maintain_order=True)


def _row(config: MeasureConfig, label: str, table: pl.DataFrame, by: str) -> SectionRow:
    item = table.select(pl.concat_str("subject", "item", separator="\x1f")).to_series()
    ballots = m.Ballots(item, table["value"], table[by], table["task"])
    many = m.VoteProtocol("all", planned=2, independent=2) if by == "kind" else m.THREE_VOTES
    found = m.measure_agreement(ballots, m.PASS_FAIL, many, config.how)
    cells = (found.share, found.positive, found.alpha_nominal, found.ac1)
    return SectionRow(label, None, (*cells, str(found.share.counts.valid)))


def _disagreements(results: ResultSet, wide: pl.DataFrame) -> list[SectionRow]:
    """Return a line for each item on which two kinds of evaluator disagree. Verdicts come before criteria."""
    kinds = [kind.value for kind in EvaluatorKind]
    apart = pl.max_horizontal(kinds) != pl.min_horizontal(kinds)
    rows = wide.filter(apart.fill_null(False)).sort(pl.col("item") != WHOLE, "key", "label", "item")
    out = []
    for row in rows.iter_rows(named=True):
        sides = [", ".join(k for k in kinds if row[k] == value) for value in (1.0, 0.0)]
        item = (
            row["item"]
            if row["item"] == WHOLE
            else results.criterion_texts.get((row["task"], row["item"]), row["item"])
        )
        out.append(SectionRow(f"{row['key']}: {row['label']}", row["agent"], (item, *sides, row["subject"])))
    return out


MOST_MISSED = 50
"""Maximum number of criteria with a line of their own. The criteria that are failed most often come first."""


def criteria_sections(
    results: ResultSet, config: MeasureConfig, table: pl.DataFrame, hidden: bool
) -> Iterator[Section]:
    """Yield the share of failed criteria by importance and, unless the suite is private, by criterion. Each agent has a
    column.
    """
    marks = table.filter(pl.col("item") != WHOLE).with_columns(missed=1 - pl.col("value"))
    if marks.is_empty():
        return
    agents = marks.select("who", "label").unique().sort("label", "who").rows()
    every = float(marks["missed"].sum())
    rows = [_line(config, "all criteria", marks, agents, every)]
    for part in marks.drop_nulls("importance").partition_by("importance", maintain_order=True):
        rows.append(_line(config, f"{part['importance'][0]} criteria", part, agents, every))
    if not hidden:
        order = marks.group_by("task", "item").agg(pl.col("missed").sum())
        order = order.sort("missed", "task", "item", descending=[True, False, False]).head(MOST_MISSED)
        for task, item, _ in order.iter_rows():
            part = marks.filter((pl.col("task") == task) & (pl.col("item") == item))
            rows.append(_line(config, results.criterion_label(task, item), part, agents, every))
    columns = (*(label for _, label in agents), "of all misses")
    notes = (
        "the share of answers that say a criterion is missed; several evaluators' answers on a work are averaged",
        f"of single criteria the {MOST_MISSED} that are missed most; a skipped criterion has no answer",
    )
    yield Section("criteria", "Which criteria are missed", "UpBench 5.5, Figure 8", columns, tuple(rows), notes)


def _line(
    config: MeasureConfig, label: str, part: pl.DataFrame, agents: list[tuple[str, str]], every: float
) -> SectionRow:
    cells: list[m.Estimate | str] = []
    for who, _ in agents:
        own = part.filter(pl.col("who") == who)
        found = m.mean_score(own["missed"], task=own["task"], instance=own["subject"], name="missed", how=config.how)
        cells.append(found if own.height else "-")
    missed = float(part["missed"].sum())
    return SectionRow(label, None, (*cells, f"{100 * missed / every:.1f} %" if every else "-"))
