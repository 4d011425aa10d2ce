"""People's votes: automation rate, false negatives found by second looks, and agreement (RLI 3.3, 3.4, B.2, B.5)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.records import Protocol, Purpose, ResolutionRule, Standing
from worksample.results.judged_rounds import JudgedRound
from worksample.results.result_set import ResultSet

from .ballots import ballots_of
from .figure_settings import MeasureConfig
from .judge_consistency import consistency_notes
from .result_rows import attempts_of, groups, unseen_notes
from .section import Section, SectionRow


def protocol_of(judged: JudgedRound) -> m.VoteProtocol:
    """Return a round's voting protocol in the form of the metrics."""
    if judged.round.rule is ResolutionRule.TIE_BREAK:
        return m.TIE_BREAK
    wanted = judged.round.overlap
    return m.VoteProtocol(f"{wanted} votes", planned=wanted, independent=wanted)


def automation(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield the share of projects whose deliverable people found at least as good as the human's."""
    frame = results.judged_frame(Protocol.HOLISTIC)
    if frame is None:
        return
    frame = attempts_of(frame, able=False)
    rows = []
    for group in groups(results, config, frame.filter(pl.col("harness") != "person")):
        r = group.rows
        known = r.with_columns(
            better=pl.when(pl.col("holistic").is_not_null()).then(pl.col("holistic") == 3),
            sure=pl.when((pl.col("state") == "valid") & pl.col("holistic").is_null())
            .then(pl.lit("ungraded"))
            .otherwise("state"),
        )
        rows.append(
            group.line(
                m.automation_rate(r["passed"], state=r["state"], project=r["task"], instance=r["key"], how=config.how),
                m.rate(
                    known["better"],
                    state=known["sure"],
                    task=r["task"],
                    instance=r["key"],
                    name="better than the human",
                    how=config.how,
                ),
            )
        )
    columns = config.table_columns("automation rate", "better than the human")
    reviewed = sum(j.reviewed_count for j in results.judgments.deciding[Protocol.HOLISTIC])
    votes = results.keep_chosen(pl.concat([j.given for j in results.judgments.deciding[Protocol.HOLISTIC]]))
    again = votes.height - votes.unique(["subject", "evaluator"]).height
    notes = (
        *(
            (f"{again} votes repeat a vote of the same evaluator: equal ones count once, others not at all",)
            * bool(again)
        ),
        "undecided votes are left out of the rate and counted as ungraded",
        *unseen_notes(frame),
        *consistency_notes(results, config, Protocol.HOLISTIC),
        *((f"{reviewed} verdicts were decided by an audit or an adjudication",) if reviewed else ()),
        *config.overlap_notes,
    )
    yield Section("automation", "Automation rate", "RLI 3.3, Table 1", columns, tuple(rows), notes)


def false_negatives(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield second looks at the work that the deciding round failed (RLI B.5)."""
    counting = results.judgments.deciding.get(Protocol.HOLISTIC, ())
    none = pl.DataFrame(schema={"subject": pl.String})
    failed = pl.concat([none, *(j.own.filter(~pl.col("passed")).select("subject") for j in counting)])
    rows = []
    for look in results.judgments.second_looks:
        aside = look.round.purpose in (Purpose.RELIABILITY, Purpose.ADJUDICATION)
        if aside or look.round.protocol is not Protocol.HOLISTIC:
            continue
        decided = results.keep_chosen(look.verdicts).filter(pl.col("standing") == Standing.DECIDED.value)
        again = decided.join(failed, on="subject", how="semi")["passed"]
        if len(again):
            bound = m.false_negative_bound(int(again.sum()), len(again), config.how.level)
            rows.append(SectionRow(look.round.reason or look.round.id, None, (bound,)))
    if rows:
        notes = ("the share of failed work that a second round over chosen submissions passed",)
        yield Section("false-negatives", "False negatives", "RLI B.5", ("false negatives",), tuple(rows), notes)


def agreement(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield the agreement of votes on one item, per round and scale."""
    rows = []
    for protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE, Protocol.RUBRIC):
        looks = [
            j
            for j in results.judgments.second_looks
            if j.round.protocol is protocol and j.round.purpose is Purpose.RELIABILITY
        ]
        plain = results.judgments.deciding.get(protocol, ())
        for judged, of in (*((j, "") for j in plain), *((j, ", double-rated sample") for j in looks)):
            for name, table, scale in ballots_of(results, judged):
                if table.height == table["subject"].n_unique():
                    continue
                ballots = m.Ballots(
                    table["subject"], table["vote"], table["evaluator"], table["project"], table["order"]
                )
                found = m.measure_agreement(ballots, scale, protocol_of(judged), config.how)
                rows.append(SectionRow(f"{name}{of}", None, found.all()))
    if rows:
        columns = (
            *("agreement", "hard disagreement", "on positives"),
            *("alpha, nominal", "alpha, ordinal", "alpha, interval", "AC1"),
        )
        notes = ("if few pass, a high share of agreement proves little: read alpha and AC1 too",)
        yield Section("agreement", "Agreement between evaluators", "RLI 3.4, B.2", columns, tuple(rows), notes)
