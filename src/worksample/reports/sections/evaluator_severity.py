"""Effects of the evaluator and of the order of a pair on verdicts: which evaluators are stricter than others, and
whether the side shown first is preferred.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.metrics.estimate import Unit, undefined_estimate
from worksample.metrics.rounding import percent
from worksample.records import Evaluator, EvaluatorKind, Protocol
from worksample.results.pair_orders import judges_in, orders_in
from worksample.results.result_set import ResultSet

from .figure_settings import MeasureConfig
from .judge_consistency import answers_by_order
from .section import Section, SectionRow

NUMBERED = "people are numbered in the order of their evaluator ids: a report may be published"
_SCALES = ("completion", "quality")
MOST = 200
"""Maximum number of evaluators with a line of their own."""


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield sections on the rounds that decide, if two or more evaluators judged the same work."""
    yield from _severity(results, config)
    yield from _position(results, config)


def _votes(results: ResultSet) -> pl.DataFrame:
    """Return `item`, `task`, `evaluator`, `value` (1 for a pass, else 0), with each evaluator's last answer on an
    item.
    """
    parts = [pl.DataFrame(schema={**dict.fromkeys(("item", "task", "evaluator"), pl.String), "value": pl.Float64})]
    task = pl.col("instance").replace_strict(results.tasks, default=None, return_dtype=pl.String)
    for judged in results.judgments.deciding.get(Protocol.HOLISTIC, ()):
        given = results.keep_chosen(judged.given).filter(pl.col("payload") == "holistic").with_columns(task=task)
        value = (pl.col("score") >= m.HOLISTIC.positive).cast(pl.Float64)
        parts.append(given.select("task", "evaluator", item="subject", value=value))
    for judged in results.judgments.deciding.get(Protocol.RUBRIC, ()):
        given = results.keep_chosen(judged.given).select("evaluation", "subject", "evaluator", task=task)
        marks = judged.criteria.filter(pl.col("skip").is_null() & pl.col("passed").is_not_null())
        marks = marks.select("evaluation", "name", value=pl.col("passed").cast(pl.Float64))
        item = pl.concat_str("subject", "name", separator="\x1f")
        each = given.join(marks, on="evaluation", maintain_order="left")
        parts.append(each.select("task", "evaluator", "value", item=item))
    columns = ("item", "task", "evaluator", "value")
    votes = pl.concat([part.select(columns) for part in parts])
    return votes.unique(["item", "evaluator"], keep="last", maintain_order=True)


def _severity(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield the mean difference between each evaluator's answers and the other evaluators' answers on the same
    items.
    """
    votes = _votes(results)
    votes = votes.filter(pl.len().over("item") > 1)
    if votes.is_empty():
        return
    others = (pl.col("value").sum().over("item") - pl.col("value")) / (pl.len().over("item") - 1)
    votes = votes.with_columns(gap=pl.col("value") - others, others=others)
    rows = []
    names = _names(results, votes["evaluator"].unique().to_list())
    for who in list(names)[:MOST]:
        own = votes.filter(pl.col("evaluator") == who)
        gap = m.mean_score(own["gap"], task=own["task"], unit=Unit.POINTS, name="passes more often", how=config.how)
        means = (float(str(own[column].mean())) for column in ("value", "others"))
        rows.append(SectionRow(names[who], None, (gap, *(f"{percent(x)} %" for x in means), str(own.height))))
    columns = ("passes more often", "passes", "others' passes", "items")
    notes = [
        "minus the mean of the others on the same items; tasks are the units",
        "intervals are not corrected for many tests: of twenty equal evaluators, one seems strict or lenient by chance",
        NUMBERED,
    ]
    if len(names) > MOST:
        notes.append(f"the first {MOST} of {len(names)}")
    title = "Strict and lenient evaluators"
    yield Section("severity", title, "beyond the papers", columns, tuple(rows), tuple(notes))


def _position(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield the share of votes for the side that was shown first, among votes that prefer one side."""
    counting = results.judgments.deciding.get(Protocol.PAIRWISE, ())
    if not counting:
        return
    said = pl.concat([results.keep_chosen(j.given, "subject", "second") for j in counting])
    said = said.filter((pl.col("payload") == "pairwise") & pl.col("second").is_not_null())
    if said.is_empty():
        return
    answers = _preferred_sides(results, said)
    names = _names(results, answers["evaluator"].unique().to_list())
    lines = [("all evaluators", answers)]
    if len(names) > 1:
        lines += [(names[who], answers.filter(pl.col("evaluator") == who)) for who in list(names)[:MOST]]
    rows = [SectionRow(who, None, tuple(_first(config, part, s) for s in _SCALES)) for who, part in lines]
    notes = (
        "50 % means no effect, since the side shown first is drawn at random; ties are left out",
        "a judge is asked in both orders, and each answer counts: see also whether judges agree with themselves",
        NUMBERED,
    )
    columns = ("first preferred: completion", "first preferred: quality")
    yield Section("position", "Does the first of a pair win", "beyond the papers", columns, tuple(rows), notes)


def _preferred_sides(results: ResultSet, said: pl.DataFrame) -> pl.DataFrame:
    """Return a row per answer and scale with the side on which the preferred one was shown.

    A judge's two orders are two answers; of other evaluators the last answer on a pair counts.
    """
    orders = orders_in(results.store, said, judges_in(results.store, [said]))
    columns = ("evaluation", "evaluator", "instance", "scale", "side")
    alone = said.join(orders, on="evaluation", how="anti", maintain_order="left")
    alone = alone.unique(["subject", "second", "evaluator"], keep="last", maintain_order=True)
    parts = [alone.with_columns(scale=pl.lit(scale), side=pl.col(scale)).select(columns) for scale in _SCALES]
    task = pl.col("instance").replace_strict(results.tasks, default=None, return_dtype=pl.String)
    return pl.concat([*parts, answers_by_order(orders).select(columns)]).with_columns(task=task)


def _first(config: MeasureConfig, answers: pl.DataFrame, scale: str) -> m.Estimate:
    mine = answers.filter(pl.col("scale") == scale)
    kept = mine.filter(pl.col("side").is_in(["first", "second"]))
    if kept.is_empty():
        return undefined_estimate(scale, f"all {mine.height} answers are ties")
    first = kept["side"] == "first"
    return m.rate(first, task=kept["task"], instance=kept["evaluation"], name=scale, how=config.how)


def _names(results: ResultSet, ids: list[str]) -> dict[str, str]:
    """Return evaluators' names by id: people by number, others by name."""
    kinds = {e.id: e for e in results.store.find(Evaluator, id=ids)} if ids else {}
    out, number = {}, 0
    for id in sorted(ids):
        known = kinds.get(id)
        if known is None or known.type is EvaluatorKind.PERSON:
            number += 1
            out[id] = f"person {number}"
        else:
            out[id] = known.name
    return out
