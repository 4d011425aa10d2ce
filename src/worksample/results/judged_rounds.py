"""Rounds with their verdicts, and the second looks (such as audits) at these verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from sqlalchemy import select

from worksample.metrics.scores.rubric import RubricRules
from worksample.records import Amendment, Evaluation, EvaluationOutcome, GradePayload, Purpose, Round
from worksample.store import Store, schema

from .criterion_marks import grade_outcomes
from .deciding_rounds import DecidingRound, RoundsInForce
from .job_suitability import deciding_questions
from .round_evaluations import RoundEvaluations, read_evaluations
from .second_looks import ROUTED, mark_awaiting, overrule_frame
from .verdicts import verdict_frame, wants_leaves

_AT_ONCE = 500


@dataclass(frozen=True)
class JudgedRound:
    """A round with its verdicts by subject (see `verdict_frame`) and its valid evaluations (`given`, see
    `RoundEvaluations`).

    `votes` are the verdicts before audits and adjudications. `alike` are the ids of all rounds that were read together.
    """

    round: Round
    verdicts: pl.DataFrame
    votes: pl.DataFrame
    given: pl.DataFrame
    leaves: pl.DataFrame
    alike: tuple[str, ...] = ()

    @property
    def own(self) -> pl.DataFrame:
        """The verdicts that no audit or adjudication changed."""
        return self.verdicts.filter(pl.col("by") == "votes")

    @property
    def reviewed_count(self) -> int:
        """The number of verdicts that an audit or an adjudication decided."""
        return self.verdicts.height - self.own.height

    @property
    def criteria(self) -> pl.DataFrame:
        """A row for each graded criterion, with the columns evaluation, subject, name, importance, skip, passed and
        others.
        """
        rows = self.given.select("evaluation", "subject")
        return self.leaves.filter(pl.col("name") != "").join(rows, on="evaluation", maintain_order="left")


class RoundReader:
    """A reader of a store's rounds. Evaluations that `amendments` withdraw (strike) are left out. `rules` are the rules
    for scores of rubrics.
    """

    def __init__(self, store: Store, amendments: Sequence[Amendment], rules: RubricRules | None = None) -> None:
        self.store, self.amendments, self.rules = store, amendments, rules or RubricRules()
        self.found = RoundsInForce(store.find(Round), amendments)

    def read_round(self, round: Round, alike: Sequence[str], *, leaves: bool = False) -> JudgedRound:
        """Read the evaluations of several rounds (`alike`) as if all belonged to `round`. Audits and adjudications are
        not applied.

        leaves: whether to read the answers to each criterion even if the verdicts do not need them.
        """
        return self._judge_round(round, self._read_evaluations(round, alike, leaves), tuple(alike))

    def read_with_looks(
        self, round: Round, alike: Sequence[str] = (), *, leaves: bool = False
    ) -> tuple[JudgedRound, tuple[JudgedRound, ...]]:
        """Return a round with its verdicts after audits and adjudications, and all second looks at the round."""
        alike = alike or (round.id,)
        looks = self._looks(alike, round, leaves)
        return self._after(self.read_round(round, alike, leaves=leaves), looks), looks

    def read_deciding(
        self, deciding: DecidingRound, *, leaves: bool = False
    ) -> tuple[tuple[JudgedRound, ...], tuple[JudgedRound, ...]]:
        """Return the rounds that decide, and all second looks at them. The main round comes first, then rounds over
        chosen submissions.
        """
        base, looks = self.read_with_looks(deciding.round, deciding.alike, leaves=leaves)
        if not deciding.parts:
            return (base,), looks
        out = [base]
        for round, subjects in _group_rounds(deciding.parts):
            ids = sorted(set(subjects.values()))
            own = pl.col("subject").replace_strict(subjects, default=None, return_dtype=pl.String)
            said = self._read_evaluations(round, ids, leaves).among(pl.col("round") == own)
            again = self._looks(ids, round, leaves)
            out.append(self._after(self._judge_round(round, said, tuple(ids)), again))
            looks += again
        return tuple(out), looks

    def _looks(self, ids: Sequence[str], round: Round, leaves: bool) -> tuple[JudgedRound, ...]:
        return tuple(self.read_round(r, [r.id], leaves=leaves) for r in self.found.second_looks(ids, round))

    def _read_evaluations(self, round: Round, ids: Sequence[str], leaves: bool) -> RoundEvaluations:
        with self.store.database.reading() as connection:
            return read_evaluations(connection, ids, self.amendments, leaves=leaves or wants_leaves(round))

    def _judge_round(self, round: Round, said: RoundEvaluations, alike: tuple[str, ...]) -> JudgedRound:
        given = said.rows.filter(~pl.col("struck") & (pl.col("outcome") == EvaluationOutcome.GIVEN.value))
        verdicts = verdict_frame(round, said, self.rules)
        return JudgedRound(round, verdicts, verdicts, given, said.leaves, alike)

    @staticmethod
    def _after(judged: JudgedRound, looks: Sequence[JudgedRound]) -> JudgedRound:
        kinds = ([j.verdicts for j in looks if j.round.purpose is p] for p in (Purpose.AUDIT, Purpose.ADJUDICATION))
        routed = [s for j in looks if ROUTED in j.round.versions for s in j.round.subjects]
        verdicts = mark_awaiting(overrule_frame(judged.votes, *kinds), routed)
        return JudgedRound(judged.round, verdicts, judged.votes, judged.given, judged.leaves, judged.alike)


def _group_rounds(parts: Mapping[str, Round]) -> Iterator[tuple[Round, dict[str, str]]]:
    """Yield groups of rounds with the same rule and overlap, each with its subjects. Many rounds have a single
    submission, so each group is read at once.
    """
    groups: dict[tuple[str, int], dict[str, Round]] = {}
    for subject, round in parts.items():
        groups.setdefault((round.rule.value, round.overlap), {})[subject] = round
    for found in groups.values():
        last = max(found.values(), key=lambda r: (r.at, r.id))
        yield last, {subject: round.id for subject, round in found.items()}


def passes_of(store: Store, round: Round) -> dict[str, bool]:
    """Return, by evaluation id, whether the grade of this evaluation alone passes, by the same rules as verdicts. In a
    round on jobs: whether the evaluation qualifies its job.
    """
    judging = RoundReader(store, store.find(Amendment))
    judged = judging.read_round(round, [round.id])
    if round.purpose is Purpose.QUALIFICATION:
        deciding, said = set(deciding_questions(round)), judged.given.filter(pl.col("payload") == "labels")
        return {id: deciding.isdisjoint(nos) for id, nos in said.select("evaluation", "denied").iter_rows()}
    grades = judged.given.filter(pl.col("payload") == "grade")
    each = grade_outcomes(round, grades, judged.leaves, judging.rules).filter(pl.col("why").is_null())
    return dict(each.drop_nulls("passed").select("evaluation", "passed").iter_rows())


def read_grades(store: Store, evaluations: Sequence[str]) -> Iterator[tuple[str, GradePayload]]:
    """Yield (evaluation id, grade) for those of the evaluations that contain a grade."""
    table = schema.evaluations.c
    with store.database.reading() as connection:
        for start in range(0, len(evaluations), _AT_ONCE):
            query = select(table.body).where(table.id.in_(evaluations[start : start + _AT_ONCE]))
            for body in connection.execute(query).scalars():
                said = Evaluation.model_validate_json(body)
                if isinstance(said.payload, GradePayload):
                    yield said.id, said.payload
