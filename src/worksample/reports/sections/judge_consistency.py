"""Consistency of a judge with itself: between the two orders of a pair, and between repeats of the same question."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.metrics.estimate import undefined_estimate
from worksample.records import Protocol
from worksample.results.judged_rounds import JudgedRound
from worksample.results.pair_orders import SCALES, judges_in, order_notes, orders_in
from worksample.results.result_set import ResultSet

from .ballots import ballots_of
from .figure_settings import MeasureConfig
from .section import Section, SectionRow

COLUMNS = ("verdict flips with the order", "first shown preferred", "repeats agree")
PROTOCOLS = (Protocol.HOLISTIC, Protocol.PAIRWISE, Protocol.RUBRIC, Protocol.PROGRAM, Protocol.CHECKPOINTS)
_PLAN = "not planned: set repeats = 2 or more and a temperature above 0 in [judges.NAME]"
_NO_PAIR = "only pairs have an order"
_NO_ORDERS = "its answers by order were not kept: have the pairs judged again"


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield a line for each judge and scale of the rounds that decide."""
    rows = []
    for protocol in PROTOCOLS:
        for judged in results.judgments.deciding.get(protocol, ()):
            rows += list(_lines(results, config, judged))
    if rows:
        notes = (
            "each pair is asked in both orders: verdicts that differ count as a tie",
            "an unbiased judge prefers the one shown first in 50 % of its answers, ties left out",
            "units are instances, for repeats tasks; a consistent judge may be wrong: compare it with people's labels",
        )
        title = "Do judges agree with themselves"
        yield Section("judge-consistency", title, "beyond the papers", COLUMNS, tuple(rows), notes)


def consistency_notes(results: ResultSet, config: MeasureConfig, protocol: Protocol) -> tuple[str, ...]:
    """Return a sentence on the consistency of each judge, as notes for figures that depend on the judge's answers."""
    deciding = results.judgments.deciding.get(protocol, ())
    notes = list(order_notes(results.store, [results.keep_chosen(j.given, "subject", "second") for j in deciding]))
    for row in (row for judged in deciding for row in _lines(results, config, judged)):
        repeated = row.cells[-1]
        if isinstance(repeated, m.Estimate) and repeated.value is not None:
            counts = repeated.counts
            notes.append(f"{row.label}: {100 * repeated.value:.1f} % of its repeats agree ({counts.valid} items)")
        elif isinstance(repeated, m.Estimate) and protocol is not Protocol.PAIRWISE:
            notes.append(f"{row.label}: repeats are {repeated.reason}")
    return tuple(notes)


def _lines(results: ResultSet, config: MeasureConfig, judged: JudgedRound) -> Iterator[SectionRow]:
    judges = judges_in(results.store, [judged.given])
    if not judges:
        return
    given = results.keep_chosen(judged.given, "subject", "second")
    orders = orders_in(results.store, given, judges) if judged.round.protocol is Protocol.PAIRWISE else None
    for name, table, scale in ballots_of(results, judged):
        for id, who in sorted(judges.items(), key=lambda each: each[::-1]):
            mine = table.filter(pl.col("evaluator") == id)
            if mine.is_empty():
                continue
            both = undefined_estimate(COLUMNS[0], _NO_PAIR), undefined_estimate(COLUMNS[1], _NO_PAIR)
            if orders is not None:
                wanted = next(scale for scale in SCALES if name.endswith(scale))
                both = _by_order(config, orders.filter((pl.col("evaluator") == id) & (pl.col("scale") == wanted)))
            yield SectionRow(f"{who}, {name}", None, (*both, _repeats(config, mine, scale)))


def _by_order(config: MeasureConfig, said: pl.DataFrame) -> tuple[m.Estimate, m.Estimate]:
    """Return two shares: of verdicts that change with the order of the pair, and of answers for the side shown first,
    among answers that prefer one side.
    """
    if said.is_empty():
        return undefined_estimate(COLUMNS[0], _NO_ORDERS), undefined_estimate(COLUMNS[1], _NO_ORDERS)
    cells = said.select("instance", "evaluation", differs=pl.col("shown") != pl.col("swapped"))
    flips = m.rate(
        cells["differs"], task=cells["instance"], instance=cells["evaluation"], name=COLUMNS[0], how=config.how
    )
    return flips, first_shown(config, answers_by_order(said))


def answers_by_order(said: pl.DataFrame) -> pl.DataFrame:
    """Return a row per answer. `side` is the side on which the preferred deliverable was shown."""
    turned = pl.col("swapped").replace({"first": "second", "second": "first"})
    keys = ("evaluation", "evaluator", "instance", "scale")
    return pl.concat([said.select(*keys, side="shown"), said.select(*keys, side=turned)])


def first_shown(config: MeasureConfig, answers: pl.DataFrame) -> m.Estimate:
    """Return the share of answers that prefer the side shown first, among answers that prefer one side."""
    kept = answers.filter(pl.col("side").is_in(["first", "second"]))
    if kept.is_empty():
        return undefined_estimate(COLUMNS[1], f"all {answers.height} answers are ties")
    first = kept["side"] == "first"
    return m.rate(first, task=kept["instance"], instance=kept["evaluation"], name=COLUMNS[1], how=config.how)


def _repeats(config: MeasureConfig, mine: pl.DataFrame, scale: m.Scale) -> m.Estimate:
    drawn = mine.with_columns(draw=pl.col("draw").fill_null(1)).unique(["subject", "draw"], keep="last")
    if drawn.height == drawn["subject"].n_unique():
        return undefined_estimate(COLUMNS[2], _PLAN)
    most = int(str(drawn["draw"].max()))
    who = drawn["draw"].cast(pl.String)
    ballots = m.Ballots(drawn["subject"], drawn["vote"], who, drawn["project"], drawn["order"])
    protocol = m.VoteProtocol(f"{most} repeats", planned=most, independent=most)
    return m.measure_agreement(ballots, scale, protocol, config.how).share
