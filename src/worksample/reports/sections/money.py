"""Figures in US dollars: earnings, autoflation, the cost of a deployed agent, and the best approach by task value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from worksample import metrics as m
from worksample.dollar_text import in_dollars
from worksample.metrics import Estimate
from worksample.metrics.column_checks import MONEY_CEILING
from worksample.metrics.estimate import undefined_estimate
from worksample.records import Agent, Protocol
from worksample.reports.cost_notes import cost_marks, mark_columns
from worksample.results.result_set import ResultSet, state_of

from .attempt_chain_rows import cost_of_grading
from .figure_settings import MeasureConfig
from .result_rows import Group, agent_groups, attempts_of, groups, is_illustrative, usable_value, within_ceiling
from .section import Section, SectionRow
from .value_regions import (
    ALONE,
    HUMAN,
    WITH_FEEDBACK,
    WITHOUT_PRICE,
    approach_names,
    control_arms,
    feedback_has_price,
)


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield the sections on money. Verdicts are people's holistic verdicts if there are any, otherwise those of the
    experiments' protocol.
    """
    for protocol in dict.fromkeys((Protocol.HOLISTIC, results.primary)):
        frame = results.judged_frame(protocol)
        if frame is None:
            continue
        suffix = "" if protocol is results.primary or protocol is Protocol.HOLISTIC else f"-{protocol}"
        yield from _sections_of(results, config, frame, protocol, suffix)
        return


def _sections_of(
    results: ResultSet, config: MeasureConfig, frame: pl.DataFrame, protocol: Protocol, suffix: str
) -> Iterator[Section]:
    frame = frame.with_columns(state=state_of("passed"))
    every = attempts_of(frame, able=False)
    every = every.with_columns(
        usable_value(every), is_illustrative(every), pl.col("cost").cast(pl.Float64).alias("cost")
    )
    absurd = [_impossible_amounts(attempts_of(every), name) for name in ("price", "cost")]
    every = every.with_columns(within_ceiling("price"), within_ceiling("cost"))
    first = attempts_of(every)
    notes = (*_notes(results, config, first, protocol), *(said for said in absurd if said))
    if not first["price"].is_not_null().any():
        if first["value_middle"].is_not_null().any():
            title = "Dollars earned"
            yield Section(f"dollars{suffix}", title, "RLI 3.3, Table 4", ("earned", "possible", "share"), (), notes)
        return
    yield _dollars(results, config, every, (f"dollars{suffix}", notes))
    yield from _over_time(results, config, first, (f"autoflation{suffix}", notes))
    usable = first.filter(~pl.col("illustrative")) if not config.illustrative else first
    priced = usable.filter(pl.col("price").is_not_null())
    if priced.filter(pl.col("cost").is_not_null() & pl.col("passed").is_not_null()).height:
        yield _deployable(results, config, first, (f"deployable{suffix}", notes))
        yield _value(results, config, results.chains(attempts_of(frame, None)), priced, (f"value{suffix}", notes))


def _impossible_amounts(frame: pl.DataFrame, column: str) -> str:
    """Describe the trials that are left out because their price or cost is impossible."""
    wrong = frame.filter(pl.col(column).is_not_null() & ~pl.col(column).is_between(0, MONEY_CEILING))
    if not wrong.height:
        return ""
    first = wrong.row(0, named=True)
    return (
        f"{wrong.height} trials with a {column} below $0 or above ${MONEY_CEILING:,.0f} are left out, such as"
        f" {first['key']} of {first['label']}: ${first[column]:,.2f}"
    )


def _notes(results: ResultSet, config: MeasureConfig, frame: pl.DataFrame, protocol: Protocol) -> Iterator[str]:
    yield f"passed under {protocol} verdicts"
    invented = frame.filter("illustrative")["instance"].n_unique()
    if invented and config.illustrative:
        yield f"counts {invented} instances whose price is only illustrative"
    elif invented:
        yield f"{invented} instances have only an illustrative price and are left out"
    foreign = frame.filter(pl.col("price").is_null() & pl.col("value_middle").is_not_null())["instance"].n_unique()
    if foreign:
        yield f"{foreign} instances are priced in another currency than US dollars and are left out"
    begun = max(e.at for e in results.experiments).date()
    of = [results.instances[id] for id in frame.filter(pl.col("price").is_not_null())["instance"].unique()]
    late = sorted(i.key for i in of if i.about.value is not None and i.about.value.date > begun)
    if late:
        said = "prices are dated after the experiment was planned, which is impossible"
        yield f"{len(late)} {said}, such as that of {late[0]}"


def _dollars(
    results: ResultSet, config: MeasureConfig, frame: pl.DataFrame, head: tuple[str, tuple[str, ...]]
) -> Section:
    """Return dollars earned, possible and their share per agent, and the autoflation by its work alone (RLI Table
    4).
    """
    repeats = (pl.col("state") == "valid").sum().over("who", "instance").clip(1)
    each = frame.with_columns(part=pl.col("price") / repeats, even=pl.col("price") / pl.len().over("who", "instance"))
    rows = []
    for group in groups(results, config, each):
        r = group.rows
        given: dict[str, Any] = {
            "state": r["state"],
            "illustrative": r["illustrative"],
            "include_illustrative": config.illustrative,
            "task": r["task"],
            "failed": r["broken"],
            "how": config.how,
        }
        found = m.dollars_earned(r["part"], r["passed"], **given)
        # Once all is graded every repeat has an equal part of its instance's price.
        whole = m.dollars_earned(r["even"], r["passed"], **given)
        earned, share = (
            replace(one, bounds=all_.bounds) for one, all_ in ((found.earned, whole.earned), (found.share, whole.share))
        )
        r = attempts_of(r)
        alone = m.measure_autoflation(_bundle(config, r), r["key"], r["cost"], r["passed"], config.how)
        rows.append(group.line(earned, found.possible, whole.missing, share, alone))
    columns = config.table_columns("earned", "possible", "not graded", "share", "autoflation alone")
    notes = (*head[1], "each repeat of an instance counts with its part of the price", *config.overlap_notes)
    return Section(head[0], "Dollars earned", "RLI 3.3, Table 4", columns, tuple(rows), notes)


def _bundle(config: MeasureConfig, frame: pl.DataFrame) -> m.Bundle:
    jobs = frame.unique("key", maintain_order=True)
    return m.Bundle(jobs["key"], jobs["price"], jobs["illustrative"], config.illustrative, task=jobs["task"])


def _over_time(
    results: ResultSet, config: MeasureConfig, frame: pl.DataFrame, head: tuple[str, tuple[str, ...]]
) -> Iterator[Section]:
    """Yield the autoflation of all agents together, for each release date of an agent."""
    known = {e for experiment in results.experiments for e in experiment.agents}
    dates = {id: results.store.get(Agent, id).release_date for id in sorted(known)}
    named = {"agent": list(dates), "released": [d.isoformat() if d else None for d in dates.values()]}
    table = pl.DataFrame(named, schema={"agent": pl.String, "released": pl.String})
    frame = frame.filter(pl.col("harness") != "person").join(table, on="agent", how="left", maintain_order="left")
    if not frame["cost"].is_not_null().any():
        return
    bundle, dated = _bundle(config, frame), frame.filter(pl.col("released").is_not_null())
    curve = {}
    if dated.height:
        columns = (dated["key"], dated["cost"], dated["passed"], dated["released"])
        curve = m.autoflation_over_time(bundle, *columns, config.how)
    rows = [SectionRow(date, None, (found,)) for date, found in curve.items()]
    whole = m.measure_autoflation(bundle, frame["key"], frame["cost"], frame["passed"], config.how)
    rows.append(SectionRow("all agents", None, (whole,)))
    undated = frame.filter(pl.col("released").is_null())["label"].unique().sort().to_list()
    more = (f"without a release date, in the last line only: {', '.join(undated)}",) if undated else ()
    begun = max(e.at for e in results.experiments).date()
    late = sorted({id.partition("@")[0] for id, day in dates.items() if day is not None and day > begun})
    if late:
        more = (*more, f"released after the experiment was planned, which is impossible: {', '.join(late)}")
    notes = (*head[1], "the cheapest accepted work of each project, chosen with hindsight", *more)
    yield Section(head[0], "Autoflation over time", "RLI 3.3, A.2", ("autoflation",), tuple(rows), notes)


def _deployable(
    results: ResultSet, config: MeasureConfig, frame: pl.DataFrame, head: tuple[str, tuple[str, ...]]
) -> Section:
    """Return the cost per job of a deployed agent: the AI, the check, and a human if the AI fails."""
    rows = []
    check = config.checking
    for group in groups(results, config, frame):
        r = group.rows
        found = m.deployable_cost(
            r["passed"],
            r["cost"],
            r["price"],
            check,
            illustrative=r["illustrative"],
            include_illustrative=config.illustrative,
            task=r["task"],
            how=config.how,
        )
        rows.append(group.line(found.cost, found.human, found.saving, _success_needed(r, found.human, check)))
    columns = config.table_columns("deployed, per job", "human alone, per job", "saving", "success needed")
    return Section(
        head[0],
        "Cost per job when deployed",
        "beyond the papers",
        columns,
        tuple(rows),
        (*head[1], *config.overlap_notes),
    )


def _success_needed(rows: pl.DataFrame, human: Estimate, check: m.Checking) -> Estimate:
    spent = rows.filter(pl.col("passed").is_not_null())["cost"].mean()
    if human.value is None or not isinstance(spent, (int, float)):
        return undefined_estimate("break-even success rate", human.reason or "no trial has a known cost", human.counts)
    return m.break_even_success(float(spent), human.value, check)


@dataclass(frozen=True, slots=True)
class _ChainCosts:
    """Jobs of one agent: first and last attempts, with the total cost of each job. `jobs`: task, key, passed, and the
    cost of each.
    """

    success: Estimate
    cost: Estimate
    jobs: pl.DataFrame
    marks: list[str]
    """Reasons why the costs of these jobs are only bounds."""


def _value(
    results: ResultSet,
    config: MeasureConfig,
    frame: pl.DataFrame,
    priced: pl.DataFrame,
    head: tuple[str, tuple[str, ...]],
) -> Section:
    """Return success and cost of AI alone, AI with human help and a human, and the task values at which each is
    best.
    """
    jobs = set(priced["key"].to_list())
    approaches, controls = approach_names(results), control_arms(results)
    frame = frame.filter(pl.col("key").is_in(jobs) & (pl.col("harness") != "person"))
    treated = set(frame.filter(~pl.col("arm").is_in(controls))["agent"].to_list())
    rows: list[SectionRow] = []
    for group in agent_groups(frame):
        arm = group.rows["arm"][0]
        name, control = approaches.get(arm, WITH_FEEDBACK), arm in controls
        found = {ALONE: _without_feedback(config, group), name: _with_feedback(results, config, group)}
        lines = _value_lines(config, group, priced, {k: c for k, c in found.items() if c}, name if control else "")
        # Arms share their first attempts and the human, so these are not repeated for a control.
        rows += [row for k, row in lines if not control or k == name or group.agent not in treated]
    columns = (
        "success", "value captured", "cost per job", "break-even with the human", "pays from", "best for task values",
    )  # fmt: skip
    notes = [
        *head[1],
        "value captured: the summed price of the jobs that passed in the end, each repeat with its part of the price",
        "the human is assumed to succeed always, at the mean price of the work",
        "below the value from which an approach pays, it costs more than it brings: doing nothing is better",
        "the break-even with the human uses jobs with a verdict and a cost, each at its own price;"
        " the values at which an approach pays and is best follow from the means, without intervals (for these see"
        " feedback-regions)",
    ]
    if controls and any(row.cells[-1] == _IS_CONTROL for row in rows):
        notes.append("a control's agent learns nothing from anybody, so nobody would choose it")
    return Section(head[0], "When each approach pays", "UpBench 5.4", columns, tuple(rows), tuple(notes))


_IS_CONTROL = "control"


def _value_lines(
    config: MeasureConfig, group: Group, priced: pl.DataFrame, found: dict[str, _ChainCosts], control: str
) -> Iterator[tuple[str, SectionRow]]:
    """Yield (approach, line) for each approach of an agent and arm, and for the human.

    control: the approach that is a control, which is compared with the human and is never the best; "" if none is.
    """
    human = m.Approach(HUMAN, 1.0, float(priced.unique("key")["price"].mean()))  # type: ignore[arg-type]
    lines = {
        k: m.Approach(k, c.success.value, c.cost.value)
        for k, c in found.items()
        if c.success.value is not None and c.cost.value is not None
    }
    decision = m.decide_by_value([*(line for k, line in lines.items() if k != control), human], nothing=True)
    best = {
        r.approach: f"{in_dollars(r.low)} to " + ("any" if r.high is None else in_dollars(r.high))
        for r in decision.regions
    }
    for name, chains in found.items():
        line, cells = lines.get(name), (chains.success, _captured_price(chains, priced, config), chains.cost)
        if line is None:
            ends: tuple[Estimate | str, ...] = ("-", "-", "-")
        else:
            even = _break_even(chains, priced, name, config)
            ends = (even, least_paying_value(line), _IS_CONTROL if name == control else best.get(name, "at no value"))
        yield name, SectionRow(f"{group.label}: {name}", group.agent, (*cells, *ends))
    whole = f"{priced.unique('key')['price'].sum():,.2f}"
    told = (f"{100 * human.success:.1f} (assumed)", whole, f"{human.cost:,.2f}", "", least_paying_value(human))
    yield HUMAN, SectionRow(f"{group.label}: {HUMAN}", group.agent, (*told, best.get(HUMAN, "at no value")))


def _captured_price(chains: _ChainCosts, priced: pl.DataFrame, config: MeasureConfig) -> Estimate:
    """Return the summed price of the jobs that passed in the end (UpBench 5.4)."""
    prices = priced.unique("key").select("key", "price")
    jobs = chains.jobs.join(prices, on="key", how="inner", maintain_order="left")
    part = jobs.select(pl.col("price") / pl.len().over("key")).to_series()
    return m.dollars_earned(part, jobs["passed"], task=jobs["task"], how=config.how).earned


def _break_even(chains: _ChainCosts, priced: pl.DataFrame, name: str, config: MeasureConfig) -> Estimate:
    """Return the job value above which the human, who is assumed to succeed always, is worth the price, over the jobs
    that the approach did.
    """
    prices = priced.unique("key").select("key", "price")
    both = chains.jobs.join(prices, on="key", how="inner", maintain_order="left")
    passed = (both["passed"], pl.Series("human", [True] * both.height, dtype=pl.Boolean))
    cost = (both["cost"], both["price"].cast(pl.Float64))
    found = m.break_even_from_jobs(passed, cost, (name, "human"), task=both["task"], how=config.how)
    return found.noting(*chains.marks)


def least_paying_value(approach: m.Approach) -> str:
    """Return the task value from which the expected net value is not negative."""
    return in_dollars(approach.cost / approach.success) if approach.success else "at no value"


def _without_feedback(config: MeasureConfig, group: Group) -> _ChainCosts:
    rows = group.rows.filter(pl.col("attempt") == 1)
    cells: dict[str, Any] = {"task": rows["task"], "instance": rows["instance_name"], "how": config.how}
    cost = rows.select(pl.when(pl.col("work") == "done").then(pl.col("cost").cast(pl.Float64))).to_series()
    said = cost_marks(rows.filter(pl.col("work") == "done").select(mark_columns()))
    return _ChainCosts(
        m.rate(rows["passed"], state=rows["state"], name="p1", **cells),
        m.mean_score(cost, name="cost per job", unit=m.Unit.USD, **cells).noting(*said),
        rows.select("key", "task", "passed", cost=cost),
        said,
    )


def _with_feedback(results: ResultSet, config: MeasureConfig, group: Group) -> _ChainCosts | None:
    """Return the costs with every re-attempt, and with people and judges on the gradings that led to them."""
    if group.rows["attempt"].max() == 1:
        return None
    spent = cost_of_grading(results, config)
    joined = group.rows.join(spent, on="submission", how="left", maintain_order="left")
    last = pl.col("attempt") == pl.col("attempt").max().over("key", "repeat")
    led = pl.when(last | pl.col("judged").is_null()).then(0.0).otherwise(pl.col("people") + pl.col("judges"))
    rows = joined.with_columns(cost=pl.col("cost").cast(pl.Float64), led=led)
    whole = (pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).sum()).alias(name) for name in ("cost", "led"))
    jobs = rows.sort("attempt").group_by("key", "task", "instance_name", "repeat", maintain_order=True).agg(
        pl.col("passed").last(), *whole
    )  # fmt: skip
    jobs = jobs.with_columns(whole=pl.col("cost") + pl.col("led"))
    cells: dict[str, Any] = {"task": jobs["task"], "instance": jobs["instance_name"], "how": config.how}
    marks = cost_marks(group.rows.select(mark_columns()))
    cost = m.mean_score(jobs["whole"], name="cost per job", unit=m.Unit.USD, **cells).noting(*marks)
    if not jobs.select(feedback_has_price()).item():
        cost = undefined_estimate("cost per job", WITHOUT_PRICE, cost.counts, m.Unit.USD)
    success = m.rate(jobs["passed"], name="p overall", **cells)
    return _ChainCosts(success, cost, jobs.select("key", "task", "passed", cost="whole"), marks)
