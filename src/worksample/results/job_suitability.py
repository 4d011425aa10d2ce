"""Qualification of jobs as tasks, decided by experts' answers (UpBench 3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from worksample.records import Evaluation, Labels, ResolutionRule, Round, Standing

from .round_evaluations import NO

CORE_NAMES = ("context_complete", "deliverable_quality", "no_identifiers")
"""Names of the questions that are asked about every job (UpBench B, Table 5, criteria 1 to 3)."""
DECIDES = "qualification.decides"
"""Key in a round's `versions`. The value lists the deciding questions, separated by spaces: a job does not qualify if
the answer to one of them is no.
"""
RULES = (ResolutionRule.VERIFIED, ResolutionRule.TIE_BREAK, ResolutionRule.MAJORITY, ResolutionRule.LATEST)
"""Rules by which experts' votes may decide whether a job qualifies."""


def deciding_questions(round: Round) -> tuple[str, ...]:
    """Return the deciding questions of a round. A job does not qualify if the answer to one of them is no."""
    return tuple(round.versions.get(DECIDES, "").split())


def failed_questions(round: Round, labels: Labels) -> tuple[str, ...]:
    """Return the deciding questions that `labels` answers with no, in the round's order."""
    return tuple(name for name in deciding_questions(round) if labels.labels.get(name) == NO)


def votes_wanted(rule: ResolutionRule, overlap: int, votes: Sequence[bool]) -> int:
    """Return how many votes a job needs in total. votes: the votes so far, oldest first."""
    differ = len(set(votes[:2])) > 1
    if rule is ResolutionRule.VERIFIED:
        if not votes or not votes[0]:
            return 1
        return 3 if differ else 2
    if rule is ResolutionRule.TIE_BREAK:
        return 3 if differ else 2
    return overlap


def is_qualified(rule: ResolutionRule, overlap: int, votes: Sequence[bool]) -> bool | None:
    """Return whether the votes qualify the job. Return None while votes are missing, or if a majority is evenly split.
    votes: oldest first.
    """
    wanted = votes_wanted(rule, overlap, votes)
    if len(votes) < wanted:
        return None
    if rule is ResolutionRule.MAJORITY:
        yes = 2 * sum(votes) - len(votes)
        return None if yes == 0 else yes > 0
    return votes[-1] if rule is ResolutionRule.LATEST else votes[wanted - 1]


def votes_on(round: Round, evaluations: Sequence[Evaluation]) -> list[bool]:
    """Return the vote of each evaluation of a job, oldest first. A vote is true if all deciding questions are answered
    with yes.
    """
    said = sorted((e for e in evaluations if isinstance(e.payload, Labels)), key=lambda e: (e.at, e.id))
    return [not failed_questions(round, e.payload) for e in said if isinstance(e.payload, Labels)]


def qualified_frame(round: Round, rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each job in `rows` (see `RoundEvaluations.rows`) with its standing, whether it passed, and the
    failed questions in `reason`.
    """
    return pl.DataFrame(list(_rows(round, rows)), infer_schema_length=None) if rows.height else rows.select("subject")


def _rows(round: Round, rows: pl.DataFrame) -> Iterator[dict[str, object]]:
    deciding = deciding_questions(round)
    for (subject,), mine in rows.group_by("subject", maintain_order=True):
        nos = [[name for name in deciding if name in said] for said in mine["denied"].to_list()]
        votes = [not said for said in nos]
        passed = is_qualified(round.rule, round.overlap, votes)
        counted = votes_wanted(round.rule, round.overlap, votes) if passed is not None else len(votes)
        against = {name for said in nos[: max(counted, 1)] for name in said}
        reason = " ".join(name for name in deciding if name in against) if passed is False else ""
        yield {
            "subject": subject,
            "standing": (Standing.UNDECIDED if passed is None else Standing.DECIDED).value,
            "score": None if passed is None else float(passed),
            "passed": passed,
            "reason": "a second look is awaited" if passed is None else reason,
            "evaluations": mine["evaluation"].to_list(),
            "rounds": [round.id],
        }
