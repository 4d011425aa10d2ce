"""Success in relation to hours, money and configuration: time horizons, budgets, and effects of models and
harnesses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.records import Agent
from worksample.results.result_set import ResultSet

from .figure_settings import MeasureConfig
from .result_rows import agent_groups, attempts_of, is_illustrative
from .section import Section, SectionRow

_QUANTILES = (0.1, 0.25, 0.5, 0.75, 1.0)
_BUDGETS = (("cost", "US dollars", "${:,g}"), ("seconds", "seconds", "{:,g} s"), ("tokens", "tokens", "{:,g}"))


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield effects of model and harness, time horizons and budget curves, if their data exist."""
    frame = results.judged_frame(results.primary)
    if frame is None:
        return
    first = attempts_of(frame)
    yield from _effects(config, first)
    yield from _horizon(results, config, first)
    for column, unit, form in _BUDGETS:
        yield from _budget(config, first, (column, unit, form))


def _effects(config: MeasureConfig, frame: pl.DataFrame) -> Iterator[Section]:
    """Yield spreads over models under one harness, and over harnesses under one model."""
    known = frame.filter(pl.col("harness").is_not_null() & pl.col("model").is_not_null() & (pl.col("model") != ""))
    known = known.with_columns(credit=pl.col("passed").cast(pl.Float64))
    arms = known.partition_by("arm", maintain_order=True)
    rows = [row for part in arms for row in _spreads(config, part, "" if len(arms) == 1 else part["arm"][0])]
    if rows:
        columns = ("spread", "deviation without chance", "full pass on the common tasks")
        yield Section("effects", "Models and harnesses", "ALE D.4", columns, tuple(rows))


def _spreads(config: MeasureConfig, known: pl.DataFrame, arm: str) -> Iterator[SectionRow]:
    """Yield the spreads over models and harnesses in one arm."""
    trials = m.Configurations(known["harness"], known["model"], known["task"], known["credit"])
    for held, varied, effect in (
        ("harness", "model", m.model_effect),
        ("model", "harness", m.harness_effect),
    ):
        many = "models" if varied == "model" else "harnesses"
        counts = known.group_by(held).agg(pl.col(varied).n_unique().alias("many")).sort(held)
        for value in counts.filter(pl.col("many") > 1)[held].to_list():
            found = effect(trials, value, config.how)
            rates = ", ".join(f"{name} {100 * rate:.1f} %" for name, rate in found.rates.items())
            label = f"{many} under {value}" + (f" ({arm})" if arm else "")
            yield SectionRow(label, None, (found.spread, found.deviation, rates))


def _horizon(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> Iterator[Section]:
    """Yield the human hours at which success is 50 % and 80 %."""
    invented = is_illustrative(frame, "hours_source")
    hours = frame.select(pl.when(pl.col("hours_middle") > 0).then("hours_middle").alias("hours")).to_series()
    out = invented & (not config.illustrative) & hours.is_not_null()
    frame = frame.with_columns(hours).with_columns(pl.when(~out).then("hours").alias("hours"))
    if not frame["hours"].is_not_null().any():
        return
    rows, half = [], {}
    for group in agent_groups(frame):
        found = m.time_horizon(group.rows["hours"], group.rows["passed"], task=group.rows["task"], how=config.how)
        half[group.label] = group.agent, found.horizons[0.5]
        rows.append(group.line(found.horizons[0.5], found.horizons[0.8], found.slope))
    count = frame.filter(out)["instance"].n_unique()
    notes = [f"{count} instances with only illustrative hours are left out"] if count else []
    if config.illustrative and invented.any():
        notes.append("hours that are only illustrative are counted")
    columns = ("50 % horizon (h)", "80 % horizon (h)", "slope per doubling")
    yield Section("horizon", "Time horizon", "beyond the papers", columns, tuple(rows), tuple(notes))
    yield from _trend(results, config, half)


def _trend(results: ResultSet, config: MeasureConfig, half: dict[str, tuple[str, m.Estimate]]) -> Iterator[Section]:
    """Yield the longest horizon by each release date, and the days in which horizons double."""
    ours = {id for experiment in results.experiments for id in experiment.agents}
    known = {id: results.store.get(Agent, id).release_date for id in sorted(ours)}
    table = [(known.get(agent), label, found) for label, (agent, found) in half.items()]
    dated = sorted((day, label, found) for day, label, found in table if day and found.value is not None)
    if len({day for day, _, _ in dated}) < 2:
        return
    doubling = m.doubling_time([e.value for _, _, e in table], [day for day, _, _ in table], config.how)
    rows, longest = [], 0.0
    for day, label, found in dated:
        if (found.value or 0.0) > longest:
            longest = found.value or 0.0
            rows.append(SectionRow(day.isoformat(), None, (found, label, "")))
    rows.append(SectionRow("all agents", None, ("", "", doubling)))
    columns = ("longest 50 % horizon so far (h)", "agent", "doubling time (days)")
    notes = ("each line is longer than all before it; the doubling time uses all agents with a horizon and a date",)
    yield Section("horizon-trend", "Time horizon over release dates", "beyond the papers", columns, tuple(rows), notes)


def _budget(config: MeasureConfig, frame: pl.DataFrame, what: tuple[str, str, str]) -> Iterator[Section]:
    """Yield the score if no trial could use more than a budget, at budgets that all agents share."""
    column, unit, form = what
    spent = frame.filter(pl.col("score").is_not_null() & (pl.col(column) > 0))[column].cast(pl.Float64)
    if not len(spent):
        return
    budgets = config.budgets if column == "cost" else ()
    chosen = budgets or tuple(sorted({_round_up(float(spent.quantile(q) or 0)) for q in _QUANTILES}))
    rows = []
    for group in agent_groups(frame):
        r = group.rows
        points = m.score_against_budget(
            r[column].cast(pl.Float64),
            r["score"],
            chosen,
            task=r["task"],
            instance=r["instance_name"],
            how=config.how,
        )
        rows.append(group.line(*(p.score for p in points)))
    notes = ("a trial that used more counts 0, since its work at that point is not known",)
    columns = tuple(form.format(b) for b in sorted(set(chosen)))
    yield Section(
        f"budget-{column}", f"Score against {unit} per trial", "beyond the papers", columns, tuple(rows), notes
    )


def _round_up(value: float) -> float:
    """Round upwards to two digits, so that spent amounts stay within the budget."""
    if value <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.12g}")
