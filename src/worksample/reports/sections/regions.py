"""At which value of a job AI alone, AI with feedback, or a human is best, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m

from .material import Material
from .section import Section, SectionRow

ALL = "all"
_PLACES = (0.1, 0.5, 0.9)
"""Quantiles of the jobs' own values at which probabilities are told."""
_HUMAN = "human"


def feedback_regions(material: Material, jobs: pl.DataFrame) -> Iterator[Section]:
    """One row per agent and arm, part of the work and approach. jobs: a row per chain (`first`, `once`: the first
    attempt's verdict and cost; `passed`, `cost`, `led`: the last verdict and all that was spent; `price`).
    """
    priced = jobs.filter(pl.col("price").is_not_null())
    if not material.config.illustrative:
        priced = priced.filter(~pl.col("illustrative"))
    if not priced.height:
        return
    prices = priced.unique("key")["price"]
    values = list(dict.fromkeys(float(f"{prices.quantile(place):.3g}") for place in _PLACES))
    rows, small = [], set()
    for part, frame in _parts(material, priced):
        for group in material.agents(frame):
            found = choice_of(group.rows, material.how)
            if isinstance(found, str):
                small.add(part if part != ALL else f"{group.label}: {found}")
                continue
            at = [found.best(value) for value in values]
            for region in found.regions:
                chances = (
                    m.Estimate(f"best at ${v:g}", best[region.approach], found.counts, unit=m.Unit.SHARE)
                    for v, best in zip(values, at, strict=True)
                )
                label = f"{group.label}: {region.approach}"
                rows.append(SectionRow(label, group.agent, (part, region.low, region.high, region.exists, *chances)))
    columns = ("part", "best from", "best to", "has a region", *(f"best at ${value:g}" for value in values))
    notes = [
        "a human succeeds always, at the job's price; values at the 10th, 50th and 90th percentile of the jobs' prices",
        "probabilities over worlds that fit the same jobs; nothing: doing it in no way",
    ]
    if small:
        notes.append(f"not told, for want of jobs done and paid for in each way: {'; '.join(sorted(small))}")
    title = "Which approach is best at which value, and how surely"
    yield Section("feedback-regions", title, "UpBench 5.4.1", columns, tuple(rows), tuple(notes))


def choice_of(jobs: pl.DataFrame, how: m.Resampling) -> m.Choice | str:
    """How sure it is which approach is best for these jobs; or why nobody can say.

    Were jobs left out since what led on from their failure has no price, those that passed at once would be left.
    """
    if (jobs["led"].is_null() & jobs["passed"].is_not_null()).any():
        return "the time of people who gave feedback has no price (--hourly), or is not known"
    spent = jobs.select((pl.col("cost") + pl.col("led")).cast(pl.Float64)).to_series()
    sure = pl.Series([True] * jobs.height, dtype=pl.Boolean)
    ways = {
        "AI alone": m.Outcomes(jobs["first"], jobs["once"].cast(pl.Float64)),
        "AI with feedback": m.Outcomes(jobs["passed"], spent),
        _HUMAN: m.Outcomes(sure, jobs["price"].cast(pl.Float64), assumed=True),
    }
    return m.choose_from_jobs(ways, task=jobs["task"], nothing=True, how=how)


def _parts(material: Material, jobs: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """All of the work, and each group of it where there are several."""
    yield ALL, jobs
    by = material.config.by or "category"
    if by == "agent":
        return
    grouped = material.with_group(jobs, by)
    if grouped["group"].n_unique() > 1:
        for rows in grouped.sort("group", maintain_order=True).partition_by("group", maintain_order=True):
            yield rows["group"][0], rows
