"""Calibration of a judge by people: corrected figures, proofs, favoured agents (docs/explanation/uncertainty.md)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.records import Agent, EvaluatorKind, Protocol
from worksample.reports.sections.figure_settings import calibration_rules
from worksample.results.calibration.config import calibration_of
from worksample.results.calibration.label_rounds import (
    count_missing_labels,
    drawn_submissions,
    labels_of,
    sent_to_people,
)
from worksample.results.calibration.pair_strata import submissions_with_slots
from worksample.results.evaluator_answers import WHOLE, majority_by_kind
from worksample.results.result_set import ResultSet

from . import careless_evaluators
from .figure_settings import MeasureConfig
from .section import Section, SectionRow

_JUDGE, _PERSON = EvaluatorKind.JUDGE.value, EvaluatorKind.PERSON.value
_TAKEN = "people's labels are assumed to be drawn at random: audits, adjudications and searches are not included"
_DREW = "labels were drawn at random within strata ({strata}); other work that went to people is not included"


def sections(results: ResultSet, config: MeasureConfig, table: pl.DataFrame) -> Iterator[Section]:
    """Yield corrected pass rates, proof by group, kindness and copying, if a judge and people judged the same work.

    `table`: see `evaluator_answers`.
    """
    wide = majority_by_kind(table).filter(pl.col(_JUDGE).is_not_null())
    if wide[_PERSON].is_null().all():
        return
    wide = wide.join(_release_dates(results), on="agent", how="left", maintain_order="left")
    wide = wide.join(_drawn_labels(results), on="subject", how="left", maintain_order="left")
    wide = wide.with_columns(pl.col("drawn").fill_null(True), pl.col("stratum").fill_null(""))
    verdicts, criteria = wide.filter(pl.col("item") == WHOLE), wide.filter(pl.col("item") != WHOLE)
    if verdicts[_PERSON].is_not_null().any():
        yield _corrected_section(results, config, verdicts)
    yield _proofs(results, config, verdicts, criteria)
    yield from effort(results)
    yield from careless_evaluators.sections(results, config, verdicts if len(verdicts) >= len(criteria) else criteria)


def _release_dates(results: ResultSet) -> pl.DataFrame:
    agents = {a.id: a for a in results.store.find(Agent)}
    rows = [(id, a.model, a.release_date.isoformat() if a.release_date else None) for id, a in agents.items()]
    return pl.DataFrame(rows, {"agent": pl.String, "model": pl.String, "released": pl.String}, orient="row")


def _drawn_labels(results: ResultSet) -> pl.DataFrame:
    """Return stratum and whether people label it, by submission, for experiments that drew labels."""
    rows = []
    for experiment in results.experiments:
        singly = (p for p in experiment.lock.protocols if p is not Protocol.PAIRWISE)
        found = (labels_of(results.store, experiment.id, p) for p in singly)
        labels = next((one for one in found if one is not None), None)
        if labels is None:
            continue
        for s, slot in submissions_with_slots(results.store, experiment.id):
            rows.append((s.id, labels.draw.stratum(slot), labels.draw.has(slot, s.id)))
    return pl.DataFrame(rows, {"subject": pl.String, "stratum": pl.String, "drawn": pl.Boolean}, orient="row")


def _how(results: ResultSet) -> str:
    configs = [config for e in results.experiments if (config := calibration_of(e))]
    return _DREW.format(strata=", ".join(configs[0].strata) or "none") if configs else _TAKEN


def _sample(rows: pl.DataFrame) -> m.Sample:
    stratum = rows.select(pl.concat_str("who", "stratum", separator=", ")).to_series()
    return m.Sample(rows[_JUDGE], rows[_PERSON], rows["task"], stratum, rows["drawn"])


def _corrected_section(results: ResultSet, config: MeasureConfig, verdicts: pl.DataFrame) -> Section:
    """Return pass rates per agent, with the newest model separate, and of all."""
    lines = [(str(g["label"][0]), str(g["agent"][0]), g) for g in _parts(verdicts, "who")]
    newest = verdicts["released"].max()
    if newest is not None and verdicts["released"].n_unique() > 1:
        lines.append(("newest models (" + str(newest) + ")", "", verdicts.filter(pl.col("released") == newest)))
    if len(lines) > 1:
        lines.append(("all agents", "", verdicts))
    rows, least = [], calibration_rules(results, config).least
    for label, agent, part in lines:
        found = m.correct_by_labels(_sample(part), name="pass rate", least=least, level=config.how.level)
        factor = m.overshoot_of(_sample(part), least=least, level=config.how.level)
        told = (found.worth, _share_saved(found.worth), str(found.labels.counts.valid))
        rows.append(SectionRow(label, agent or None, (found.figure, found.labels, found.judge, factor, *told)))
    columns = ("corrected", "people's labels alone", "judge alone", "overshoot", "labels' worth", "saved", "labels")
    title = "The judge's pass rates, corrected by people"
    notes = (
        _how(results),
        "labels' worth: the factor by which the judge raises the value of the labels, on these data",
        "saved: the share of labels that the judge saves for an interval of the same width",
    )
    return Section("calibrated", title, "PPI++ (Angelopoulos et al. 2023)", columns, tuple(rows), notes)


def _share_saved(worth: m.Estimate) -> str:
    return "none known" if worth.value is None else f"{100 * (1 - 1 / max(worth.value, 1.0)):.0f} %"


def _parts(table: pl.DataFrame, by: str) -> list[pl.DataFrame]:
    return table.drop_nulls(by).sort(by, maintain_order=True).partition_by(by, maintain_order=True)


def _proofs(results: ResultSet, config: MeasureConfig, verdicts: pl.DataFrame, criteria: pl.DataFrame) -> Section:
    """Return the agreement with people in every group, and whether the judge is proven in it."""
    groups: list[tuple[str, pl.DataFrame]] = [("verdicts", verdicts), ("all criteria", criteria)]
    base = verdicts if len(verdicts) else criteria
    groups += [(f"{p['importance'][0]} criteria", p) for p in _parts(criteria, "importance")]
    for by, name in (("label", "agent"), ("category", "category"), ("released", "released")):
        parts = _parts(base.filter(pl.col(by) != ""), by)
        groups += [(f"{name} {p[by][0]}", p) for p in parts] if len(parts) > 1 else []
    rows, rules = [], calibration_rules(results, config)
    for label, part in groups:
        if part.is_empty():
            continue
        proof = m.prove(_sample(part), rules)
        cells = (proof.agreement, proof.passes, proof.fails, str(proof.standing), proof.why)
        rows.append(SectionRow(label, None, cells))
    columns = ("agreement with people", "on their passes", "on their fails", "standing", "why")
    asked = f"threshold, set beforehand: {100 * rules.threshold:g} %"
    notes = (asked, _how(results))
    return Section("proof", "Is the judge proven", "docs/explanation/uncertainty.md", columns, tuple(rows), notes)


def effort(results: ResultSet) -> Iterator[Section]:
    """Yield the labels that calibration took from people, and the work left to the judge."""
    rows = []
    for experiment in results.experiments:
        for protocol in experiment.lock.protocols:
            labels = labels_of(results.store, experiment.id, protocol)
            if labels is None:
                continue
            if protocol is Protocol.PAIRWISE:
                every, drawn = set(labels.draw.strata), set(labels.draw.drawn)
            else:
                every = {s.id for s, _ in submissions_with_slots(results.store, experiment.id)}
                drawn = set(drawn_submissions(results.store, experiment.id, labels.draw))
            sent = sent_to_people(results.store, labels.round.over or "") & every
            left = len(every - drawn - sent)
            lacking = count_missing_labels(results.store, experiment, labels)
            share = f"{100 * left / len(every):.0f} % ({left} of {len(every)})" if every else "none"
            counts = (f"{len(drawn) - lacking} of {len(drawn)}", str(len(sent)), share)
            rows.append(SectionRow(f"{experiment.name}, {protocol}", None, counts))
    if rows:
        columns = ("labelled at random", "went to people", "the judge's alone")
        notes = ["work that went to people because the judge was not proven for it, or was contradicted"]
        named = sorted({name for e in results.experiments for name in getattr(calibration_of(e), "proofs", ())})
        notes += [f"labels of {', '.join(named)} count towards the proof, but in no figure"] if named else []
        title = "The effort of calibration"
        yield Section("calibration-work", title, "docs/explanation/uncertainty.md", columns, tuple(rows), tuple(notes))
