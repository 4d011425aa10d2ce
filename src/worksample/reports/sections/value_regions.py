"""Regions of job values in which each approach is best, with intervals (UpBench 5.4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from worksample import metrics as m
from worksample.metrics.money.job_value_regions import NOTHING
from worksample.records import Feedback
from worksample.reports.cost_notes import cost_marks
from worksample.results.result_set import ResultSet

from .figure_settings import MeasureConfig
from .result_rows import agent_groups
from .section import Section, SectionRow

ALONE, WITH_FEEDBACK, HUMAN = "AI alone", "AI with feedback", "human"
CONTROLS = {Feedback.RETRY: "AI with retries, without feedback", Feedback.UNCHANGED: "AI graded again"}
"""Names of the approaches of control arms, whose agent learns nothing from anybody."""
WITHOUT_PRICE = "the time of people who gave feedback has no price (--hourly), or is not known"
_PLACES = (0.1, 0.5, 0.9)
"""Quantiles of the values of the jobs. Probabilities are shown at these job values."""
_SELDOM = 0.005

Chosen = Callable[[pl.DataFrame, m.Resampling], "m.Choice | str"]
"""Function that returns how certainly each approach is best for some jobs, or a text with the reason why that is
unknown.
"""


@dataclass(frozen=True)
class RegionTable:
    """Headings and notes of a table of regions. `by` is the name of the column for parts of the work, if the table has
    parts.
    """

    id: str
    title: str
    source: str
    notes: tuple[str, ...]
    by: str = ""


def feedback_regions(results: ResultSet, config: MeasureConfig, jobs: pl.DataFrame) -> Iterator[Section]:
    """Yield one row per agent and arm, and approach; for all of the work, and part by part.

    jobs: a row per chain (`first`, `once`: the first attempt's verdict and cost; `passed`, `cost`, `led`: the last
    verdict and everything spent; `price`). Control arms are left out: nobody would choose them, and they share their
    first attempts with the others.
    """
    control = pl.col("arm").is_in(control_arms(results))
    controls = jobs.filter(control)["label"].unique().sort().to_list()
    jobs = jobs.filter(~control)
    priced = jobs.filter(pl.col("price").is_not_null())
    if not config.illustrative:
        priced = priced.filter(~pl.col("illustrative"))
    if not priced.height:
        return
    values = values_of(priced.unique("key")["price"])
    id, title, source = "feedback-regions", "The best approach by job value, with probabilities", "UpBench 5.4.1"
    notes = (
        "a human succeeds always, at the job's price; values at the 10th, 50th and 90th percentile of the jobs' prices",
        "probabilities over simulated worlds that fit the same jobs; nothing: not doing the job",
        "people are assumed to succeed always: at high values they are best in nearly every world",
        *(f"{label} is a control, and has no regions" for label in controls),
        *(f"costs of {group.label}: {said}" for group in agent_groups(priced) for said in cost_marks(group.rows)),
    )
    yield regions_table(config, RegionTable(id, title, source, notes), [("", priced)], (values, choice_of))
    if len(parts := _parts(results, config, priced)) > 1:
        by = config.by or "category"
        told = RegionTable(f"{id}-by", f"{title}, part by part", source, notes, by)
        yield regions_table(config, told, parts, (values, choice_of))


def approach_names(results: ResultSet) -> dict[str, str]:
    """Return arm -> the name of the approach that its re-attempts are."""
    return {arm.name: CONTROLS.get(arm.feedback, WITH_FEEDBACK) for e in results.experiments for arm in e.arms}


def control_arms(results: ResultSet) -> list[str]:
    """Return the names of arms whose agent learns nothing from anybody between attempts."""
    return [arm for arm, name in approach_names(results).items() if name != WITH_FEEDBACK]


def values_of(prices: pl.Series) -> tuple[float, ...]:
    """Return the job values in US dollars at which probabilities are shown. There are none if no job has a price."""
    if not prices.is_not_null().any():
        return ()
    return tuple(dict.fromkeys(float(f"{prices.quantile(place):.3g}") for place in _PLACES))


def regions_table(
    config: MeasureConfig,
    told: RegionTable,
    parts: Sequence[tuple[str, pl.DataFrame]],
    asked: tuple[Sequence[float], Chosen],
) -> Section:
    """Return a row per agent and approach, for each part. asked: the values, and the function that chooses an approach
    for some jobs.
    """
    values, choice = asked
    rows, small = [], []
    for part, frame in parts:
        for group in agent_groups(frame):
            found = choice(group.rows, config.how)
            if isinstance(found, str):
                small.append(f"{group.label}{f' in {part}' if told.by else ''}: {found}")
                continue
            for label, cells in _lines(found, values):
                rows.append(SectionRow(f"{group.label}: {label}", group.agent, (part, *cells) if told.by else cells))
    columns = ("best from", "best to", "has a region", *(f"best at ${value:g}" for value in values))
    notes = told.notes
    if small:
        notes = (
            *notes,
            f"left out because too few jobs were done and paid for in each way: {'; '.join(sorted(small))}",
        )
    return Section(told.id, told.title, told.source, (told.by, *columns) if told.by else columns, tuple(rows), notes)


def _lines(found: m.Choice, values: Sequence[float]) -> Iterator[tuple[str, tuple[m.Estimate | str, ...]]]:
    """Yield a line for each approach. Doing nothing has a line only if it may be best."""
    at = [found.best(value) for value in values]
    for region in found.regions:
        if region.approach == NOTHING and (region.exists.value or 0) < _SELDOM:
            continue
        low: m.Estimate | str = region.low if region.low.value is not None else "at no value"
        high: m.Estimate | str = region.high if region.high.value is not None else "any" if low is region.low else "-"
        chances = (
            m.Estimate(f"best at ${v:g}", best[region.approach], found.counts, unit=m.Unit.SHARE)
            for v, best in zip(values, at, strict=True)
        )
        yield region.approach, (low, high, region.exists, *chances)


def choice_of(jobs: pl.DataFrame, how: m.Resampling) -> m.Choice | str:
    """Return how certainly each approach is best for these jobs, or why that is unknown.

    If later feedback has no price, the choice is refused: without those jobs, only jobs that passed at once would be
    left.
    """
    if not jobs.select(feedback_has_price()).item():
        return WITHOUT_PRICE
    spent = jobs.select((pl.col("cost") + pl.col("led")).cast(pl.Float64)).to_series()
    sure = pl.Series([True] * jobs.height, dtype=pl.Boolean)
    ways = {
        ALONE: m.Outcomes(jobs["first"], jobs["once"].cast(pl.Float64)),
        WITH_FEEDBACK: m.Outcomes(jobs["passed"], spent),
        HUMAN: m.Outcomes(sure, jobs["price"].cast(pl.Float64), assumed=True),
    }
    return m.choose_from_jobs(ways, task=jobs["task"], nothing=True, how=how)


def feedback_has_price() -> pl.Expr:
    """Return whether everything that led from one attempt of a chain to the next has a price."""
    return ~(pl.col("led").is_null() & pl.col("passed").is_not_null()).any()


def _parts(results: ResultSet, config: MeasureConfig, jobs: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return each group of the work."""
    by = config.by or "category"
    if by == "agent":
        return []
    rows = results.with_group(jobs, by).sort("group", maintain_order=True)
    return [(part["group"][0], part) for part in rows.partition_by("group", maintain_order=True)]
