"""Section on careless evaluators: judges that give the same answer to everything or favour an agent, and people who
copy the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from worksample import metrics as m
from worksample.records import Evaluation, EvaluatorKind, GradePayload, Holistic, Protocol, Purpose, is_accepted
from worksample.reports.sections.figure_settings import calibration_rules
from worksample.results.evaluator_answers import MERITS, WHOLE, rounds_of
from worksample.results.result_set import ResultSet

from .figure_settings import MeasureConfig
from .section import Section, SectionRow

_JUDGE, _PERSON = EvaluatorKind.JUDGE.value, EvaluatorKind.PERSON.value
_NUMBERED = "people are numbered in the order of their evaluator ids: a report may be published"
_KEYS = ["subject", "item"]
_VOTES = {
    **dict.fromkeys(("subject", "item", "kind", "evaluator"), pl.String()),
    "value": pl.Float64(),
    "text": pl.String(),
    "at": pl.Datetime("us", "UTC"),
}


def sections(results: ResultSet, config: MeasureConfig, rows: pl.DataFrame) -> Iterator[Section]:
    """Yield a table of careless evaluators. `rows` contains the judge's and people's answers on the same work, by
    agent.
    """
    votes = _votes(results)
    lines = [*_one_answer(results, config, votes)]
    both = rows.filter(pl.col(_PERSON).is_not_null())
    if both["label"].n_unique() > 1:
        for found in m.kindness_of(both[_JUDGE], both[_PERSON], both["label"]):
            lines.append(SectionRow(found.agent, None, ("judge", found.finding_text, "named" if found.named else "")))
    people = votes.filter(pl.col("kind") == _PERSON)["evaluator"].unique().sort()
    numbers = {id: f"person {n}" for n, id in enumerate(people, start=1)}
    copying = [SectionRow(numbers[c.person], None, ("person", c.why, "named")) for c in _copying(votes)]
    if lines or copying:
        columns = ("looked at", "what was found", "")
        title, notes = "Careless judges, and people who copy them", (_NUMBERED,) if copying else ()
        yield Section("favour", title, "docs/explanation/uncertainty.md", columns, (*lines, *copying), notes)


def _votes(results: ResultSet) -> pl.DataFrame:
    """Return the answers of each judge and each person on each item, with their justifications. Only the latest answer
    of an evaluator counts.
    """
    judging, rounds = rounds_of(results, {*MERITS, Purpose.CALIBRATION})
    said = []
    for round in rounds:
        if round.by is EvaluatorKind.PROGRAM or round.protocol is Protocol.PAIRWISE:
            continue
        stands = set(judging.read_round(round, [round.id]).given["evaluation"].to_list())
        for e in results.store.find(Evaluation, round=round.id):
            if e.id in stands:
                said += [
                    (e.subject, item, round.by.value, e.evaluator, value, text, e.at)
                    for item, value, text in _answers_of(e)
                ]
    votes = pl.DataFrame(said, _VOTES, orient="row").sort("at", maintain_order=True)
    return votes.unique([*_KEYS, "evaluator"], keep="last", maintain_order=True)


def _answers_of(evaluation: Evaluation) -> Iterator[tuple[str, float, str]]:
    """Yield (item, 0 or 1, justification) for each item that an evaluation answers."""
    said = evaluation.payload
    if isinstance(said, Holistic):
        yield WHOLE, float(bool(is_accepted(said.score))), said.justification
    elif isinstance(said, GradePayload):
        for leaf in said.leaves:
            if leaf.fraction is not None:
                yield leaf.name, float(leaf.passed), leaf.reason


def _one_answer(results: ResultSet, config: MeasureConfig, votes: pl.DataFrame) -> Iterator[SectionRow]:
    """Yield the judges that give the same answer to everything although people do not."""
    people = votes.filter(pl.col("kind") == _PERSON)
    people = people.group_by(_KEYS).agg(person=pl.col("value").mean(), said=pl.col("at").max())
    threshold = calibration_rules(results, config).threshold
    judges = votes.filter(pl.col("kind") == _JUDGE).sort("evaluator", maintain_order=True)
    for part in judges.partition_by("evaluator", maintain_order=True):
        both = part.join(people, on=_KEYS, how="left", maintain_order="left")
        both = both.sort("said", nulls_last=True, maintain_order=True)
        found = m.one_answer_of(both["value"], both["person"], threshold=threshold)
        if found is not None and found.named:
            yield SectionRow(str(part["evaluator"][0]), None, ("judge", found.finding_text, "named"))


def _copying(votes: pl.DataFrame) -> Iterable[m.Copying]:
    people, judges = (votes.filter(pl.col("kind") == kind) for kind in (_PERSON, _JUDGE))
    told = judges.group_by(_KEYS).agg(judge=pl.col("value").mean(), words=pl.col("text").first())
    both = people.join(told, on=_KEYS, how="inner", maintain_order="left")
    if both.is_empty():
        return ()
    said = [(own, words) for own, words in both.select("text", "words").iter_rows()]
    return m.find_copying(both["evaluator"], both["judge"], both["value"], said=said)
