"""Preferences and Elo scores of a judge of pairs, corrected by people's labels, and the proof of that judge."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.metrics.ratings.preferences import HUMAN
from worksample.records import EvaluatorKind, Protocol, Round
from worksample.reports.sections.figure_settings import calibration_rules
from worksample.results.calibration.config import calibration_of
from worksample.results.calibration.label_rounds import labels_of
from worksample.results.calibration.pair_calibration import labelled_pairs
from worksample.results.deciding_rounds import RoundsInForce
from worksample.results.result_set import ResultSet

from .figure_settings import MeasureConfig
from .preferences import labels_of_players, players
from .section import Section, SectionRow

_NOTE = "labels were drawn at random from the pairs of each two agents, before the judge was asked"


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield sections if a judge answers an experiment's pairs and people label some of them."""
    rows = _rows(results)
    if rows.is_empty() or rows["person"].is_null().all():
        return
    names = labels_of_players(results)
    yield _corrected_section(results, config, rows, names)
    yield from _elo(results, config, rows, names)
    yield _proofs(results, config, rows, names)


def _rows(results: ResultSet) -> pl.DataFrame:
    """Return a row per pair of two players with the judge's and people's preferences. In every row `first` sorts before
    `second`.
    """
    parts = []
    for experiment in results.experiments:
        config = calibration_of(experiment)
        if config is None or Protocol.PAIRWISE not in config.protocols:
            continue
        labels = labels_of(results.store, experiment.id, Protocol.PAIRWISE)
        rounds = RoundsInForce(results.store.find(Round, experiment=experiment.id), results.amendments)
        judged = rounds.deciding(Protocol.PAIRWISE, EvaluatorKind.JUDGE)
        if labels is not None and judged:
            parts.append(labelled_pairs(results, judged[-1], labels))
    if not parts:
        return pl.DataFrame()
    rows = results.keep_chosen(pl.concat(parts), "one", "two")
    known = players(results, rows.select(subject="one", second="two"))
    for side, work in (("left", "one"), ("right", "two")):
        made = known.rename({"submission": work, "player": side})
        rows = rows.join(made, on=work, how="inner", maintain_order="left")
    rows = rows.filter(pl.col("left") != pl.col("right"))
    turned = pl.col("left") > pl.col("right")
    return rows.with_columns(
        first=pl.min_horizontal("left", "right"), second=pl.max_horizontal("left", "right"),
        judge=pl.when(turned).then(1 - pl.col("judge")).otherwise("judge"),
        person=pl.when(turned).then(1 - pl.col("person")).otherwise("person"),
    ).sort("first", "second", "pair")  # fmt: skip


def _sample(rows: pl.DataFrame) -> m.Sample:
    return m.Sample(rows["judge"], rows["person"], rows["task"], rows["stratum"], rows["drawn"])


def _couples(rows: pl.DataFrame, names: dict[str, str]) -> Iterator[tuple[str, pl.DataFrame]]:
    for part in rows.partition_by("first", "second", maintain_order=True):
        one, two = (names.get(part[side][0], part[side][0]) for side in ("first", "second"))
        yield f"{one} over {two}", part


def _corrected_section(results: ResultSet, config: MeasureConfig, rows: pl.DataFrame, names: dict[str, str]) -> Section:
    lines, least = [], calibration_rules(results, config).least
    for label, part in _couples(rows, names):
        found = m.correct_by_labels(
            _sample(part), m.LabelKind.PREFERENCE, name="preference", least=least, level=config.how.level
        )
        counts = str(found.labels.counts.valid)
        lines.append(SectionRow(label, None, (found.figure, found.labels, found.judge, found.worth, counts)))
    columns = ("corrected", "people's labels alone", "judge alone", "labels' worth", "labels")
    title = "The judge's preferences, corrected by people"
    notes = (_NOTE, "0.5 is indifference")
    return Section(
        "preferences-corrected", title, "PPI++ (Angelopoulos et al. 2023)", columns, tuple(lines), notes
    )  # fmt: skip


def _elo(results: ResultSet, config: MeasureConfig, rows: pl.DataFrame, names: dict[str, str]) -> Iterator[Section]:
    """Yield Elo scores from the corrected preferences of each pair of agents. Intervals include the uncertainty from
    projects and from labels.
    """
    least = calibration_rules(results, config).least
    drawn = rows.with_columns(person=pl.when("drawn").then("person"))
    told = drawn.drop_nulls("person")
    if told.height < least or told["task"].n_unique() < least:
        return
    couple = drawn.select(pl.concat_str("first", "second", separator="\x1f")).to_series()
    each = m.rectify_preferences(m.Sample(drawn["judge"], drawn["person"], drawn["task"]), couple)
    sums = m.pair_sums(drawn["task"], drawn["first"], drawn["second"], each, bounded=False)
    if len(sums.agents) < 2:
        return
    anchor = HUMAN if HUMAN in sums.agents else None
    options = m.EloOptions(weight=config.elo_weight, anchor=anchor, part=True)
    found = m.elo_ratings(sums, options, config.how)
    lines = tuple(SectionRow(names.get(who, who), None, (rating,)) for who, rating in found.ratings.items())
    left = "pairs of two agents with fewer than two labels are left out" if each.null_count() else ""
    says = "" if found.connectivity.identifiable else f"not all can be rated: {found.connectivity.says}"
    notes = tuple(note for note in (_NOTE, left, says) if note)
    title = "Elo scores of the judge's preferences, corrected by people"
    yield Section("elo-corrected", title, "docs/explanation/uncertainty.md", ("Elo",), lines, notes)


def _proofs(results: ResultSet, config: MeasureConfig, rows: pl.DataFrame, names: dict[str, str]) -> Section:
    lines, rules = [], calibration_rules(results, config)
    for label, part in (("all pairs", rows), *_couples(rows, names)):
        proof = m.prove(_sample(part), rules, kind=m.LabelKind.PREFERENCE)
        lines.append(SectionRow(label, None, (proof.agreement, str(proof.standing), proof.why)))
    notes = (f"threshold, set beforehand: {100 * rules.threshold:g} %", _NOTE)
    columns = ("agreement with people", "standing", "why")
    title = "Is the judge of pairs proven"
    return Section("proof-pairs", title, "docs/explanation/uncertainty.md", columns, tuple(lines), notes)
