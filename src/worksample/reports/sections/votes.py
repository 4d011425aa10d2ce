"""The Remote Labor Index' figures from people's votes: automation rate, agreement, false negatives."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from worksample import metrics as m
from worksample.records import Protocol, Purpose, Rule, Side, Standing
from worksample.verdicts.judging import Judged

from .material import Material, attempted, unseen_notes
from .section import Section, SectionRow

_SIDES = {Side.FIRST.value: 1.0, Side.EQUAL.value: 0.5, Side.SECOND.value: 0.0}


def protocol_of(judged: Judged) -> m.VoteProtocol:
    """How a round gathers its votes, as the metrics name it."""
    if judged.round.rule is Rule.TIE_BREAK:
        return m.TIE_BREAK
    wanted = judged.round.overlap
    return m.VoteProtocol(f"{wanted} votes", planned=wanted, independent=wanted)


def automation(material: Material) -> Iterator[Section]:
    """The share of projects whose deliverable people found at least as good as the human's."""
    frame = material.judged(Protocol.HOLISTIC)
    if frame is None:
        return
    frame = attempted(frame, able=False)
    rows = []
    for group in material.groups(frame.filter(pl.col("harness") != "person")):
        r = group.rows
        known = r.with_columns(
            better=pl.when(pl.col("holistic").is_not_null()).then(pl.col("holistic") == 3),
            sure=pl.when((pl.col("state") == "valid") & pl.col("holistic").is_null())
            .then(pl.lit("ungraded"))
            .otherwise("state"),
        )
        rows.append(
            group.line(
                m.automation_rate(
                    r["passed"], state=r["state"], project=r["task"], instance=r["key"], how=material.how
                ),
                m.rate(
                    known["better"],
                    state=known["sure"],
                    task=r["task"],
                    instance=r["key"],
                    name="better than the human",
                    how=material.how,
                ),
            )
        )
    columns = material.columns("automation rate", "better than the human")
    reviewed = sum(j.reviewed for j in material.bench.deciding[Protocol.HOLISTIC])
    votes = material.among(pl.concat([j.given for j in material.bench.deciding[Protocol.HOLISTIC]]))
    again = votes.height - votes.unique(["subject", "evaluator"]).height
    notes = (
        *((f"{again} votes repeat their evaluator's on a work: equal ones count once, others not",) * bool(again)),
        "undecided votes leave the rate and are counted as ungraded",
        *unseen_notes(frame),
        *((f"{reviewed} verdicts were decided by an audit or an adjudication",) if reviewed else ()),
        *material.by_notes,
    )
    yield Section("automation", "Automation rate", "RLI 3.3, Table 1", columns, tuple(rows), notes)


def missed(material: Material) -> Iterator[Section]:
    """Second looks at what the round that counts had judged to fail (RLI B.5)."""
    counting = material.bench.deciding.get(Protocol.HOLISTIC, ())
    none = pl.DataFrame(schema={"subject": pl.String})
    failed = pl.concat([none, *(j.own.filter(~pl.col("passed")).select("subject") for j in counting)])
    rows = []
    for look in material.bench.again:
        aside = look.round.purpose in (Purpose.RELIABILITY, Purpose.ADJUDICATION)
        if aside or look.round.protocol is not Protocol.HOLISTIC:
            continue
        decided = material.among(look.verdicts).filter(pl.col("standing") == Standing.DECIDED.value)
        again = decided.join(failed, on="subject", how="semi")["passed"]
        if len(again):
            bound = m.false_negative_bound(int(again.sum()), len(again), material.how.level)
            rows.append(SectionRow(look.round.reason or look.round.id, None, (bound,)))
    if rows:
        notes = ("of the work that failed, what a second round over chosen submissions passed",)
        yield Section("false-negatives", "False negatives", "RLI B.5", ("false negatives",), tuple(rows), notes)


def agreement(material: Material) -> Iterator[Section]:
    """How far the votes on one item agree, per round and scale."""
    rows = []
    for protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE, Protocol.RUBRIC):
        looks = [
            j for j in material.bench.again if j.round.protocol is protocol and j.round.purpose is Purpose.RELIABILITY
        ]
        plain = material.bench.deciding.get(protocol, ())
        for judged, of in (*((j, "") for j in plain), *((j, ", double-rated sample") for j in looks)):
            for name, table, scale in _ballots(material, judged):
                if table.height == table["subject"].n_unique():
                    continue
                ballots = m.Ballots(
                    table["subject"], table["vote"], table["evaluator"], table["project"], table["order"]
                )
                found = m.measure_agreement(ballots, scale, protocol_of(judged), material.how)
                rows.append(SectionRow(f"{name}{of}", None, found.all()))
    if rows:
        columns = (
            *("agreement", "hard disagreement", "on positives"),
            *("alpha, nominal", "alpha, ordinal", "alpha, interval", "AC1"),
        )
        notes = ("where few pass, a high share of agreement is cheap: read alpha and AC1 beside it",)
        yield Section("agreement", "Agreement between evaluators", "RLI 3.4, B.2", columns, tuple(rows), notes)


def _ballots(material: Material, judged: Judged) -> Iterator[tuple[str, pl.DataFrame, m.Scale]]:
    """(name, votes, scale) for each scale that a round votes on."""
    task = pl.col("instance").replace_strict(material.tasks, default=None, return_dtype=pl.String)
    given = material.among(judged.given, "subject", "second").with_columns(
        project=task.fill_null(pl.col("instance")), order="at"
    )
    if judged.round.protocol is Protocol.HOLISTIC:
        yield "holistic votes", given.filter(pl.col("payload") == "holistic").with_columns(vote="score"), m.HOLISTIC
    elif judged.round.protocol is Protocol.PAIRWISE:
        pairs = given.filter((pl.col("payload") == "pairwise") & pl.col("second").is_not_null())
        turned = pl.col("subject") > pl.col("second")
        ends = (pl.min_horizontal("subject", "second"), pl.max_horizontal("subject", "second"))
        # Turned so that the same pair is one item, whichever was shown first.
        pairs = pairs.with_columns(subject=pl.concat_str(ends, separator="\x1f"), turned=turned)
        for scale in ("completion", "quality"):
            toward = pl.col(scale).replace_strict(_SIDES, return_dtype=pl.Float64)
            vote = pl.when("turned").then(1 - toward).otherwise(toward)
            yield f"pairs: {scale}", pairs.with_columns(vote=vote), m.PREFERENCE
    else:
        marks = judged.criteria.filter(pl.col("skip").is_null())
        marks = marks.join(given.select("evaluation", "evaluator", "project", "order"), on="evaluation")
        item = pl.concat_str("subject", "name", separator="\x1f")
        yield "criteria", marks.with_columns(subject=item, vote=pl.col("passed").cast(pl.Float64)), m.PASS_FAIL
