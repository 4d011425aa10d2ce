"""Full pass, score and resources per agent; by tier, category and platform; rolled up; timeouts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from worksample import metrics as m
from worksample.errors import Cause
from worksample.metrics import Estimate, Unit
from worksample.records import Protocol
from worksample.reports.cost_notes import cost_marks, mark_columns
from worksample.results.result_set import NONE, ResultSet, state_of
from worksample.tasks.taxonomy import TAXONOMIES, categories

from .figure_settings import MeasureConfig
from .result_rows import Group, agent_groups, attempts_of, groups, unseen_notes
from .section import Section, SectionRow

if TYPE_CHECKING:
    from worksample.models import Price

FEW = 4
"""Maximum number of categories that a note names."""
GRADED = (Protocol.PROGRAM, Protocol.CHECKPOINTS, Protocol.RUBRIC)


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield the sections on scores in 0..1, for each protocol that gives them."""
    for protocol in GRADED:
        frame = results.judged_frame(protocol)
        if frame is None:
            continue
        suffix = "" if protocol is results.primary else f"-{protocol}"
        first = attempts_of(frame, able=False)
        yield _scores(results, config, frame, first, protocol, suffix)
        if not suffix and config.by == "":
            yield from _breakdowns(results, config, first)
            yield from timeouts(results, config, attempts_of(first))


def trials_of(rows: pl.DataFrame) -> m.TrialColumns:
    """Return one agent's rows in the form of the metrics."""
    return m.TrialColumns(rows["score"], rows["task"], rows["instance_name"], rows["state"], rows["broken"])


def passes_of(rows: pl.DataFrame) -> m.TrialColumns:
    """Return the rows with score 1 if the verdict passed and 0 if not; the protocol defines passing."""
    rows = rows.with_columns(state=state_of("passed"), score=pl.col("passed").cast(pl.Float64))
    return trials_of(rows)


def _scores(
    results: ResultSet, config: MeasureConfig, frame: pl.DataFrame, first: pl.DataFrame, protocol: Protocol, suffix: str
) -> Section:
    listed = _list_price_columns(config)
    spent = ("steps", "cost", "median cost", *listed, "seconds", "median seconds", "tokens")
    columns = ("full pass", "mean score", "S_partial", "run sd", "sd of run means", "sd of the mean", *spent)
    rows = [_score_line(config, group) for group in groups(results, config, first)]
    notes = [
        "full pass is ALE's full pass and TheAgentCompany's S_full; S_partial is 0.5 score + 0.5 S_full",
        *left_out(frame),
        *unseen_notes(frame),
        *config.overlap_notes,
    ]
    if listed:
        notes.append("list price: every prompt token at the price of a fresh one, by the prices given; cost: as billed")
    if len(listed) > 1:
        notes.append("list price, cached: tokens of the cache at the prices that are given for them")
    if (frame["attempt"].max() or 1) != 1:
        notes.append("first attempts only; re-attempts are in the lifts")
    title = f"Pass and score ({protocol})"
    return Section(
        f"scores{suffix}", title, "ALE 3.3, TAC 4.1", config.table_columns(*columns), tuple(rows), tuple(notes)
    )


LISTED = ("list price", "list price, cached")
"""Columns of list prices; the second is shown only if a price of cached tokens was given."""


def _list_price_columns(config: MeasureConfig) -> tuple[str, ...]:
    prices = config.prices.values()
    cached = any(p.cache_read is not None or p.cache_write is not None for p in prices)
    return LISTED[: 2 if cached else 1] if prices else ()


def list_cost(config: MeasureConfig, *, cached: bool = False) -> pl.Expr:
    """Return US dollars of a trial's own model calls at list price; null if its model has no price.

    Every prompt token counts as a fresh one (TAC 4.1); with `cached`, cached tokens have the prices given for them.
    Prices are the same for every call, so a trial's token totals are enough.
    """
    whole = pl.lit(0.0)
    for kind in ("input", "output", "cache_read", "cache_write"):
        side = kind if cached or kind == "output" else "input"
        each = {name: _at(price, side) for name, price in config.prices.items()}
        rate = pl.col("model").replace_strict(each, default=None, return_dtype=pl.Float64)
        whole = whole + pl.col(f"{kind}_tokens") * rate
    return whole / 1_000_000


def _at(price: Price, side: str) -> float:
    """Return one component of a price; the price of fresh input if the component has none."""
    figure: float | None = getattr(price, side)
    return price.input if figure is None else figure


def left_out(frame: pl.DataFrame) -> Iterator[str]:
    """Describe the planned trials that are not in any rate."""
    lacking = frame.filter(pl.col("state") == "not_attemptable").height
    if lacking:
        yield f"{lacking} planned trials could not be attempted by their agent and are in no rate"


def _score_line(config: MeasureConfig, group: Group) -> SectionRow:
    listed, how = _list_price_columns(config), config.how
    rows = group.rows.with_columns(list_cost(config, cached=name != LISTED[0]).alias(name) for name in listed)
    cells: dict[str, Any] = {"state": rows["state"], "task": rows["task"], "instance": rows["instance_name"]}
    spread = m.repeat_spread(trials_of(rows))
    open_ = rows.select(state_of("partial")).to_series()

    done = rows.filter(pl.col("work") == "done")
    spent: dict[str, Any] = {"task": done["task"], "instance": done["instance_name"], "how": how}

    def per_trial(column: str, unit: Unit) -> Estimate:
        return m.mean_score(done[column].cast(pl.Float64), name=column, unit=unit, **spent)

    def middle(column: str, unit: Unit) -> Estimate:
        return m.median_amount(done[column].cast(pl.Float64), name=f"median {column}", unit=unit, **spent)

    return group.line(
        m.full_pass(passes_of(rows), how),
        m.mean_score(rows["score"], name="mean score", how=how, **cells),
        m.mean_score(rows["partial"], name="S_partial", how=how, **{**cells, "state": open_}),
        spread.run,
        spread.whole,
        spread.mean,
        per_trial("steps", Unit.COUNT).to(2),
        _cost(rows, per_trial("cost", Unit.USD)),
        middle("cost", Unit.USD),
        *(per_trial(name, Unit.USD) for name in listed),
        per_trial("seconds", Unit.NUMBER),
        middle("seconds", Unit.NUMBER),
        per_trial("tokens", Unit.COUNT),
    )


def _cost(rows: pl.DataFrame, cost: Estimate) -> Estimate:
    """Return the cost with notes on trials whose recorded cost is a bound."""
    return cost.noting(*cost_marks(rows.select(mark_columns())))


def _breakdowns(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> Iterator[Section]:
    if frame["tier"].fill_null("").n_unique() > 1 or (frame["tier"].fill_null("") != "").any():
        yield _tiers(results, config, frame)
    for by, source in (
        ("platform", "TAC Table 4"), ("category", "TAC Table 5"), ("domain", "ALE C.3.7"),
        ("cohort", "beyond the papers"),
    ):  # fmt: skip
        table = results.with_group(frame, by)
        names = [g for g in table["group"].unique().sort().to_list() if g != NONE]
        if names and (
            by != "domain" or table["group"].n_unique() < results.with_group(frame, "category")["group"].n_unique()
        ):
            yield _groups(config, table, by, source)
    if (frame["category"].fill_null("") != "").any():
        yield _roll_up(config, frame)


def _tiers(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> Section:
    """Return the blocks of ALE's Table 1: per tier pass, score, sd over repeats, total cost, hours and tokens."""
    frame = results.with_group(frame, "tier")
    present = set(frame["group"].unique().to_list())
    order = tuple(t for t in results.tiers if t in present)
    order += tuple(sorted(present - set(order)))
    heads = ("pass", "score", "sd", "cost", "hours", "tokens")
    columns = tuple(f"{tier}: {head}" for tier in (*order, "overall") for head in heads)
    rows = []
    for group in agent_groups(frame):
        done = pl.col("work") == "done"
        used = group.rows.select(
            pl.when(done).then("cost").alias("cost"),
            (pl.when(done).then("seconds") / 3600).alias("hours"),
            pl.when(done).then("tokens").cast(pl.Float64).alias("tokens"),
        )
        resources: dict[str, Any] = {name: used[name] for name in used.columns}
        table = m.tier_table(trials_of(group.rows), group.rows["group"], resources, order, config.how)
        passes = table
        if results.primary is Protocol.RUBRIC:
            passes = m.tier_table(passes_of(group.rows), group.rows["group"], {}, order, config.how)
        cells: list[Estimate | str] = []
        for tier, credit in zip(table, passes, strict=True):
            cells += [credit.full_pass, tier.score, tier.spread.whole, *(tier.totals[name] for name in resources)]
        rows.append(group.line(*cells))
    notes = (
        "overall is pooled over tasks, never the mean of the tiers",
        "sd: of the mean scores of whole runs",
        "cost, hours and tokens are totals",
    )
    return Section("tiers", "By tier", "ALE Table 1", columns, tuple(rows), notes)


def _groups(config: MeasureConfig, table: pl.DataFrame, by: str, source: str) -> Section:
    """Return success and score per group of the work: a row per agent, a column per group."""
    names = table["group"].unique().sort().to_list()
    columns = tuple(f"{name}: {head}" for name in names for head in ("success", "score"))
    rows = []
    for group in agent_groups(table):
        cells: list[Estimate | str] = []
        for name in names:
            part = group.rows.filter(pl.col("group") == name).with_columns(state=state_of("passed"))
            given: dict[str, Any] = {
                "state": part["state"],
                "task": part["task"],
                "instance": part["instance_name"],
                "how": config.how,
            }
            figures = (
                m.success_rate(part["passed"], failed=part["broken"], **given),
                m.suite_score(part["partial"], **given),
            )
            cells += [e.to(2) if source.startswith("TAC") else e for e in figures]
        rows.append(group.line(*cells))
    notes: tuple[str, ...] = ()
    if by == "platform":
        notes = ("platforms overlap, since work may need several: do not average them",)
    elif by == "category":
        notes = unknown_categories(names)
    return Section(by, f"By {by}", source, columns, tuple(rows), ("score is S_partial", *notes))


def unknown_categories(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note on categories that no taxonomy has: a misspelt category becomes a separate group."""
    known = {category.id for taxonomy in TAXONOMIES for category in categories(taxonomy)}
    unknown = [name for name in names if name != NONE and name not in known]
    if not unknown:
        return ()
    shown = ", ".join(unknown[:FEW]) + (f" and {len(unknown) - FEW} more" if len(unknown) > FEW else "")
    return (f"in no taxonomy, and therefore a separate group: {shown} (docs/reference/task-package.md)",)


def _roll_up(config: MeasureConfig, frame: pl.DataFrame) -> Section:
    """Return scores by instance -> task -> subdomain -> domain: a row per group, a column per agent."""
    frame = frame.with_columns(
        subdomain=pl.when(pl.col("category") == "").then(None).otherwise("category").fill_null(NONE)
    )
    frame = frame.with_columns(domain=pl.col("subdomain").str.split("/").list.first())
    agents = list(agent_groups(frame))
    found = [
        m.roll_up(
            g.rows["score"],
            {
                "instance": g.rows["key"],
                "task": g.rows["task"],
                "subdomain": g.rows["subdomain"],
                "domain": g.rows["domain"],
            },
            state=g.rows["state"],
            failed=g.rows["broken"],
            how=config.how,
        )
        for g in agents
    ]
    places = [("domain", d, f"{d}") for d in frame["domain"].unique().sort().to_list()] + [
        ("subdomain", s, f"  {s}") for s in frame["subdomain"].unique().to_list() if "/" in s
    ]
    places.sort(key=lambda p: p[1])
    rows = [
        SectionRow(label.strip(), None, tuple(r[level].get(name, _absent(name)) for r in found))
        for level, name, label in places
    ]
    rows.append(SectionRow("all domains", None, tuple(r["all"]["all"] for r in found)))
    notes = ("each group is the plain mean of the groups below it: instance, task, subdomain, domain",)
    return Section("roll-up", "Scores rolled up", "ALE C.3.7", tuple(g.label for g in agents), tuple(rows), notes)


def _absent(name: str) -> Estimate:
    from worksample.metrics.estimate import undefined_estimate

    return undefined_estimate(name, "nothing was planned")


def timeouts(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame) -> Iterator[Section]:
    """Yield how often the time limit was reached, and the scores of such runs: per agent, per tier, of all runs."""
    frame = results.with_group(frame, "tier").with_columns(
        late=pl.when(pl.col("work") == "done").then((pl.col("cause") == Cause.LIMIT_TIME.value).fill_null(False))
    )
    if not frame["late"].any():
        return
    rows = []
    for group in agent_groups(frame):
        table = m.timeout_table(trials_of(group.rows), group.rows["late"], how=config.how)["overall"]
        rows.append(group.line(table.rate, table.timed_out, table.others))
    for name, t in m.timeout_table(trials_of(frame), frame["late"], frame["group"], how=config.how).items():
        label = "all runs" if name == "overall" else f"tier {name}"
        rows.append(SectionRow(label, None, (t.rate, t.timed_out, t.others)))
    ours = frame.filter(pl.col("harness").is_not_null())
    for name, t in m.timeout_table(trials_of(ours), ours["late"], ours["harness"], how=config.how).items():
        if name != "overall":
            rows.append(SectionRow(f"harness {name}", None, (t.rate, t.timed_out, t.others)))
    columns = ("timeout rate", "score of those", "score of the others")
    notes = ("runs are the unit; the files in output/ at the time limit were graded like any other work",)
    yield Section(
        "timeouts", "Runs that reached the time limit", "ALE D.2, Tables 6 and 7", columns, tuple(rows), notes
    )
