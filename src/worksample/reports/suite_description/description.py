"""A description as tables and plots on one page, and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worksample.errors import UsageError
from worksample.metrics import Estimate
from worksample.reports.plots import Axis, Canvas, Plot, count_bars, histogram, loglog
from worksample.reports.static_site.page_templates import Pages
from worksample.tasks import SuiteFile
from worksample.tasks.taxonomy import lookup

from .census import Census, take_census
from .census_tables import NONE, DescriptionTable, file_counts, shares, tables_of
from .market_sample import Market
from .project_classes import WorkClass


@dataclass(frozen=True, slots=True)
class DescribeConfig:
    """Settings of a description. `market`: a sample to compare the suite with. `illustrative`: count illustrative
    prices and hours.
    """

    market: Market | None = None
    illustrative: bool = False


@dataclass(frozen=True, slots=True)
class Description:
    census: Census
    tables: tuple[DescriptionTable, ...]
    correlation: Estimate
    """Pearson's r of the logarithms of dollars and hours (RLI C.5)."""
    config: DescribeConfig

    def plain(self) -> dict[str, Any]:
        """Return the description as JSON types."""
        market = self.config.market
        return {
            "suite": self.census.name,
            "tasks": self.census.tasks,
            "instances": len(self.census.items),
            "market": {"name": market.name, "jobs": market.jobs} if market else None,
            "tables": [t.plain() for t in self.tables],
            "correlation": self.correlation.as_dict(),
        }


def describe(suite: SuiteFile, config: DescribeConfig | None = None) -> Description:
    """Describe a suite. Raises the errors of `ingest_suite`."""
    return description_of(take_census(suite), config or DescribeConfig())


def description_of(census: Census, config: DescribeConfig) -> Description:
    """Return the description of a census."""
    from worksample.metrics import correlate

    pairs = [(d, h) for _, d, h in _points(census, illustrative=config.illustrative)]
    r = correlate([h for _, h in pairs], [d for d, _ in pairs], log=True, name="r of log dollars and log hours")
    return Description(census, tables_of(census, config.market, illustrative=config.illustrative), r, config)


def _points(census: Census, *, illustrative: bool) -> list[tuple[str, float, float]]:
    counted = [i for i in census.items if illustrative or not i.illustrative]
    return [(i.key, i.dollars, i.hours.middle) for i in counted if i.dollars is not None and i.hours is not None]


def write_description(found: Description, out: Path) -> None:
    """Write index.html, describe.json, style.css and plots/ into `out`."""
    pages = Pages(out, f"Suite {found.census.name}")
    pages.style()
    (out / "describe.json").write_text(json.dumps(found.plain(), indent=1), encoding="utf-8")
    plots = draw_description(found, Canvas(out / "plots"))
    market = found.config.market
    pages.page(
        "describe.html",
        "index.html",
        "",
        heading=f"Suite {found.census.name}",
        tables=found.tables,
        plots=plots,
        size=(len(found.census.items), found.census.tasks),
        market=f"{market.name} ({market.jobs} jobs)" if market else "",
        correlation=found.correlation,
    )


def draw_description(found: Description, canvas: Canvas) -> list[Plot]:
    """Draw the plots that the description supports, and return them."""
    import polars as pl

    census, market = found.census, found.config.market
    kinds = dict.fromkeys(k.value for k in WorkClass)
    by_class = {n: (a, b) for n, a, b in shares(census, market, lambda i: i.kind.value, lambda r: r.kind.value)}
    for name, caption, rows in (
        ("classes", "RLI's three classes of work.", [(k, *by_class[k]) for k in kinds if k in by_class]),
        ("categories", "Categories.", list(shares(census, market, lambda i: i.category or NONE, lambda r: r.category))),
    ):
        whole, jobs = len(census.items) or 1, market.jobs if market else 0
        series = {census.name: [a / whole for _, a, _ in rows]}
        if jobs and market:
            series[market.name if market.name != census.name else f"{market.name} (market)"] = [
                b / jobs for *_, b in rows
            ]
        count_bars(canvas, Axis(name, caption, "share", share=True), [short(n) for n, *_ in rows], series)
    files = file_counts(census)
    counts = zip(("inputs", "reference", "deliverables"), list(zip(*files, strict=True))[1:], strict=False)
    series = {part: [float(n) for n in column] for part, column in counts if any(column)}
    count_bars(
        canvas,
        Axis("files", f"In how many instances a file type occurs: {', '.join(series)}.", "instances"),
        [f[0] for f in files],
        series,
    )
    counted = [i for i in census.items if found.config.illustrative or not i.illustrative]
    money = {census.name: [i.dollars for i in counted if i.dollars is not None]}
    hours = {census.name: [i.hours.middle for i in counted if i.hours is not None]}
    if market:
        money["market"] = [r.dollars for r in market.rows if r.dollars is not None for _ in range(min(r.count, 1000))]
        hours["market"] = [r.hours for r in market.rows if r.hours is not None for _ in range(min(r.count, 1000))]
    histogram(canvas, Axis("prices", "Prices; dashed: the median.", "US dollars"), money)
    histogram(canvas, Axis("hours", "Human hours; dashed: the median.", "hours"), hours)
    points = [p for p in _points(census, illustrative=found.config.illustrative) if p[1] > 0 and p[2] > 0]
    frame = pl.DataFrame(
        [(k, "all", h, d) for k, d, h in points],
        schema={"instance": pl.String, "series": pl.String, "hours": pl.Float64, "dollars": pl.Float64},
        orient="row",
    )
    loglog(
        canvas,
        Axis("cost-hours", "Price against human hours, one point per instance.", "US dollars"),
        frame,
        found.correlation,
    )
    return canvas.plots


def short(category: str) -> str:
    """Return the title of a category of a taxonomy; any other text unchanged."""
    try:
        return lookup(category).title
    except UsageError:
        return category
