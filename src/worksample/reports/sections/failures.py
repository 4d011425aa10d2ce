"""Failures of agents' work by tag (RLI 4.3, Table 2), and the time spent on judging (RLI B.3, Figure 11)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from sqlalchemy import select

from worksample import metrics as m
from worksample.metrics.estimate import Unit, undefined_estimate
from worksample.people.access.evaluator_profile import profile_of
from worksample.records import Evaluation, Evaluator, EvaluatorKind, Purpose, Tags
from worksample.results.evaluator_answers import rounds_of
from worksample.results.result_set import ResultSet
from worksample.store import Store, schema

from .figure_settings import MeasureConfig
from .result_rows import agent_groups, attempts_of
from .section import Section, SectionRow

_AT_ONCE = 500
NOTHING = "nothing wrong"


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield failures by agent, people's agreement on them, and people's minutes by round."""
    tagged = _read_tagged(results)
    if tagged is not None and not tagged.is_empty():
        yield _shares(results, config, tagged)
        yield from _agreement(config, tagged)
    yield from _minutes(results, config)


def _read_tagged(results: ResultSet) -> pl.DataFrame | None:
    """Return a row per evaluation of a round of failures: subject, task, who, evaluator, at, tags."""
    judging, rounds = rounds_of(results, [Purpose.FAILURES])
    if not rounds:
        return None
    given = [judging.read_round(r, [r.id]).given.filter(pl.col("payload") == "tags") for r in rounds]
    rows = pl.concat(given).select("evaluation", "subject", "evaluator", "at")
    told = dict(_read_tags(results.store, rows["evaluation"].to_list()))
    rows = rows.with_columns(
        pl.Series("tags", [told.get(e, []) for e in rows["evaluation"]], dtype=pl.List(pl.String()))
    )
    frame = attempts_of(results.frame(results.primary), None).drop_nulls("submission")
    frame = frame.unique("submission", maintain_order=True).select("task", "who", "label", subject="submission")
    return rows.join(frame, on="subject", how="inner", maintain_order="left")


def _read_tags(store: Store, evaluations: list[str]) -> Iterator[tuple[str, list[str]]]:
    table = schema.evaluations.c
    with store.database.reading() as connection:
        for start in range(0, len(evaluations), _AT_ONCE):
            query = select(table.body).where(table.id.in_(evaluations[start : start + _AT_ONCE]))
            for body in connection.execute(query).scalars():
                said = Evaluation.model_validate_json(body)
                if isinstance(said.payload, Tags):
                    yield said.id, sorted(set(said.payload.tags))


def _names(tagged: pl.DataFrame) -> list[str]:
    """Return the tags in use, most frequent first."""
    counts = tagged.explode("tags").drop_nulls("tags")["tags"].value_counts()
    return counts.sort("count", "tags", descending=[True, False])["tags"].to_list()


def _shares(results: ResultSet, config: MeasureConfig, tagged: pl.DataFrame) -> Section:
    """Return the share of each agent's deliverables with each tag. If evaluators disagree on a deliverable, the share
    of evaluators who chose the tag counts.
    """
    names = _names(tagged)
    every = [pl.col("tags").list.contains(name).cast(pl.Float64).alias(name) for name in names]
    none = (pl.col("tags").list.len() == 0).cast(pl.Float64).alias(NOTHING)
    per = tagged.with_columns(*every, none).group_by("subject", maintain_order=True)
    table = per.agg(pl.col("task", "who", "label").first(), pl.col(*names, NOTHING).mean())
    slots = attempts_of(results.frame(results.primary), None)
    rows = []
    for group in agent_groups(slots):
        own = table.filter(pl.col("who") == group.rows["who"][0])
        ungraded = int(group.rows["submission"].n_unique()) - own.height
        rows.append(group.line(*(_share(config, own, name) for name in (*names, NOTHING)), str(max(ungraded, 0))))
    if len(rows) > 1:
        cells = [_share(config, table, name) for name in (*names, NOTHING)]
        rows.append(SectionRow("all agents", None, (*cells, "")))
    notes = (
        "a deliverable may have several: shares do not add up to 100 %",
        "if evaluators of a deliverable differ, it counts by the share of them that saw the failure",
    )
    heads = (*(name.replace("_", " ") for name in names), NOTHING, "not looked at")
    return Section("failures", "What is wrong with the work", "RLI 4.3, Table 2", heads, tuple(rows), notes)


def _share(config: MeasureConfig, table: pl.DataFrame, name: str) -> m.Estimate:
    if table.is_empty():
        return undefined_estimate(name, "nobody examined its deliverables")
    return m.mean_score(table[name], task=table["task"], name=name, how=config.how)


def _agreement(config: MeasureConfig, tagged: pl.DataFrame) -> Iterator[Section]:
    """Yield people's agreement on each tag, on work that several people evaluated."""
    twice = tagged.filter(pl.col("evaluator").n_unique().over("subject") > 1)
    twice = twice.unique(["subject", "evaluator"], keep="last", maintain_order=True)
    if twice.is_empty():
        return
    rows = []
    for name in _names(tagged):
        seen = twice["tags"].list.contains(name).cast(pl.Float64)
        found = m.measure_agreement(
            m.Ballots(twice["subject"], seen, twice["evaluator"], twice["task"]), m.PASS_FAIL, how=config.how
        )
        rows.append(SectionRow(name.replace("_", " "), None, (found.share, found.positive, found.ac1)))
    columns = ("agreement", "on those that have it", "AC1")
    yield Section("failure-agreement", "Agreement on what is wrong", "RLI 4.3", columns, tuple(rows))


def _minutes(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield the minutes that people needed for an evaluation and for a project, by round."""
    rows = []
    judging, rounds = rounds_of(results, Purpose)
    for round in rounds:
        if round.by is not EvaluatorKind.PERSON:
            continue
        judged = judging.read_round(round, [round.id])
        every = results.keep_chosen(judged.given)
        given = every.filter(pl.col("minutes").is_not_null())
        if given.is_empty():
            continue
        per = given.group_by("instance", maintain_order=True).agg(pl.col("minutes").sum(), pl.len().alias("n"))
        each = given.join(per.select("instance", "n"), on="instance", maintain_order="left")
        middle = float(str(each["minutes"].median()))
        cells = (
            m.mean_score(given["minutes"], task=given["instance"], name="minutes", unit=Unit.NUMBER, how=config.how),
            f"{middle:.1f}",
            m.mean_score(per["minutes"], name="minutes of a project", unit=Unit.NUMBER, how=config.how),
            f"{float(given['minutes'].sum()) / 60:.1f}",
            _cost(results, config, given),
            str(given.height),
            str(every.height - given.height),
        )
        rows.append(SectionRow(f"{round.purpose} ({round.protocol}): {round.id}", None, cells))
    if rows:
        columns = ("minutes", "median", "minutes of a project", "hours", "pay (USD)", "timed", "without a time")
        notes = ("means count each project once", "pay: each evaluator's own rate, or --hourly if there is none")
        yield Section("judging-time", "Time and cost of judging", "RLI B.3, Figure 11", columns, tuple(rows), notes)


def _cost(results: ResultSet, config: MeasureConfig, given: pl.DataFrame) -> str:
    """Return the cost of people's minutes at the pay rate of each evaluator, or at the rate `--hourly` if the evaluator
    has none.
    """
    total, unpaid = 0.0, 0
    for evaluator, minutes in given.group_by("evaluator", maintain_order=True).agg(pl.col("minutes").sum()).iter_rows():
        who = results.store.find(Evaluator, id=evaluator)
        own = profile_of(who[0]).pay_rate if who else None
        rate = config.hourly if own is None else own
        total += minutes / 60 * (rate or 0.0)
        unpaid += rate is None
    if not unpaid:
        return f"{total:,.2f}"
    return f"{total:,.2f} or more" if total else "-"
