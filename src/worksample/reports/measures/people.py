"""The Remote Labor Index' figures from people's votes: automation rate, agreement, false negatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from worksample import metrics as m
from worksample.records import Evaluation, Grade, Holistic, Pairwise, Protocol, Rule, Side, Standing

from .judged import Judged, leaves
from .material import Material, attempted
from .section import Section, SectionRow

_SIDES = {Side.FIRST: 1.0, Side.EQUAL: 0.5, Side.SECOND: 0.0}


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
    frame = attempted(frame)
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
                m.automation_rate(r["passed"], state=r["state"], project=r["key"], how=material.how),
                m.rate(
                    known["better"], state=known["sure"], task=r["key"], name="better than the human", how=material.how
                ),
            )
        )
    columns = material.columns("automation rate", "better than the human")
    reviewed = sum(len(j.reviewed) for j in material.bench.counting[Protocol.HOLISTIC])
    notes = (
        "undecided votes leave the rate and are counted as ungraded",
        *((f"{reviewed} verdicts were decided by an audit or an adjudication",) if reviewed else ()),
        *material.by_notes,
    )
    yield Section("automation", "Automation rate", "RLI 3.3, Table 1", columns, tuple(rows), notes)


def missed(material: Material) -> Iterator[Section]:
    """Second looks at what the round that counts had judged to fail (RLI B.5)."""
    counting = material.bench.counting.get(Protocol.HOLISTIC, ())
    first = {s: v for j in counting for s, v in j.verdicts.items() if s not in j.reviewed}
    rows = []
    for look in material.bench.again:
        if look.round.protocol is not Protocol.HOLISTIC or look.kind in ("reliability", "adjudication"):
            continue
        again = {s: v for s, v in look.verdicts.items() if v.standing is Standing.DECIDED}
        failed = [s for s in again if s in first and first[s].passed is False]
        if failed:
            bound = m.false_negative_bound(sum(bool(again[s].passed) for s in failed), len(failed), material.how.level)
            rows.append(SectionRow(look.round.reason or look.round.id, None, (bound,)))
    if rows:
        notes = ("of the work that failed, what a second round over chosen submissions passed",)
        yield Section("false-negatives", "False negatives", "RLI B.5", ("false negatives",), tuple(rows), notes)


def agreement(material: Material) -> Iterator[Section]:
    """How far the votes on one item agree, per round and scale."""
    rows = []
    for protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE, Protocol.RUBRIC):
        looks = [j for j in material.bench.again if j.round.protocol is protocol and j.kind == "reliability"]
        plain = material.bench.counting.get(protocol, ())
        for judged, of in (*((j, "") for j in plain), *((j, ", double-rated sample") for j in looks)):
            for name, votes, scale in _ballots(protocol, judged.given):
                table = pl.DataFrame(votes, schema=_SHAPE, orient="row")
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


_SHAPE: dict[str, pl.DataType | type[pl.DataType]] = {
    "subject": pl.String,
    "vote": pl.Float64,
    "evaluator": pl.String,
    "project": pl.String,
    "order": pl.Datetime("us", "UTC"),
}
_Vote = tuple[object, ...]


def _ballots(protocol: Protocol, given: Sequence[Evaluation]) -> Iterator[tuple[str, list[_Vote], m.Scale]]:
    """(name, rows of votes, scale) for each scale that these evaluations vote on."""
    if protocol is Protocol.HOLISTIC:
        votes = [_vote(e, e.subject, e.payload.score) for e in given if isinstance(e.payload, Holistic)]
        yield "holistic votes", votes, m.HOLISTIC
    elif protocol is Protocol.PAIRWISE:
        for scale in ("completion", "quality"):
            pairs = [_pair(e, getattr(e.payload, scale)) for e in given if isinstance(e.payload, Pairwise)]
            yield f"pairs: {scale}", pairs, m.PREFERENCE
    else:
        marks = [
            _vote(e, f"{e.subject}\x1f{p.name}", float(p.passed))
            for e in given
            if isinstance(e.payload, Grade)
            for p in leaves(e.payload.parts)
            if p.skip is None
        ]
        yield "criteria", marks, m.PASS_FAIL


def _vote(e: Evaluation, subject: str, vote: float) -> _Vote:
    return (subject, float(vote), e.evaluator, e.instance, e.at)


def _pair(e: Evaluation, side: Side) -> _Vote:
    """Turned so that the same pair is one item, whichever was shown first."""
    one, two = sorted((e.subject, e.second or ""))
    toward = _SIDES[side] if e.subject == one else 1 - _SIDES[side]
    return _vote(e, f"{one}\x1f{two}", toward)
