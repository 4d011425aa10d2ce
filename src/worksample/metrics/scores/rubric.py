"""Completion and rubric score of submissions, computed from the results of their criteria (UpBench 5.2.1, A.3, A.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import Column, Flags, Ints, codes, same_length, text


class Mark(StrEnum):
    """Result of a criterion on a submission. A pitfall is passed if the submission does not have it."""

    PASS = "pass"
    FAIL = "fail"
    NOT_APPLICABLE = "not_applicable"
    """The criterion does not apply to this submission and is left out of the score."""
    CANNOT_JUDGE = "cannot_judge"
    """Nobody could judge the criterion. The submission stays ungraded until somebody can."""


_IMPORTANCE = ("critical", "important", "optional", "pitfall")


@dataclass(frozen=True, slots=True)
class RubricRules:
    """Rules for computing scores from a rubric.

    `skips` says how skipped criteria count: by the cause of the skip, or "as misses" as in UpBench's formula.
    `pitfalls_gate` says whether pitfalls must be passed, too, for a submission to be complete.
    """

    skips: Literal["by cause", "as misses"] = "by cause"
    pitfalls_gate: bool = False

    def __post_init__(self) -> None:
        if self.skips not in ("by cause", "as misses"):
            raise UsageError(f"skips={self.skips!r} is not allowed", next='pass "by cause" or "as misses"')

    def says(self) -> tuple[str, ...]:
        """The differences of these rules from the defaults, as notes."""
        return (
            *(("skipped criteria count as misses (UpBench's formula)",) if self.skips == "as misses" else ()),
            *(("pitfalls gate completion",) if self.pitfalls_gate else ()),
        )


UPBENCH = RubricRules(skips="as misses")
"""UpBench's rules: the score is the number of passed criteria divided by the number of all criteria, including skipped
ones.
"""


def rubric_scores(
    submission: Column, importance: Column, mark: Column, rules: RubricRules | None = None
) -> pl.DataFrame:
    """Return the rubric scores of each submission from one row per criterion, as a table with the columns submission,
    completed, score, criteria, passed, skipped, reason.

    `importance` is critical, important, optional or pitfall. `mark` contains `Mark` values. `completed` is true if
    every critical and important criterion passed (UpBench 5.2.1). `score` is the number of passed criteria divided by
    the number of criteria that count.

    Both are null if a criterion could not be judged, since the submission is then ungraded. `score` is null if no
    criterion applies. `completed` is null if no critical or important criterion applies. `reason` says which of these
    is the case.
    """
    rules = rules or RubricRules()
    same_length(submission=submission, importance=importance, mark=mark)
    subjects = codes("submission", submission)
    weight = _words("importance", importance, _IMPORTANCE)
    result = _words("mark", mark, tuple(Mark))
    size = subjects.size

    def count(rows: Flags) -> Ints:
        return np.bincount(subjects.index[rows], minlength=size)

    misses = rules.skips == "as misses"
    passed = result == 0
    counting = np.ones(len(result), dtype=bool) if misses else result <= 1
    gates = (weight <= 1) | ((weight == 3) & rules.pitfalls_gate)
    criteria, hits = count(counting), count(passed)
    gating, gates_missed = count(gates & counting), count(gates & counting & ~passed)
    stuck = np.zeros(size, dtype=bool) if misses else count(result == 3) > 0
    no_score, no_gate = stuck | (criteria == 0), stuck | (gating == 0)
    reason = np.select(
        [stuck, criteria == 0, gating == 0],
        ["a criterion could not be judged", "no criterion applies", "no criterion that decides completion applies"],
        "",
    )
    return pl.DataFrame(
        {
            "submission": subjects.labels,
            "completed": pl.Series(gates_missed == 0).set(pl.Series(no_gate), None),
            "score": pl.Series(hits / np.maximum(criteria, 1)).set(pl.Series(no_score), None),
            "criteria": criteria,
            "passed": hits,
            "skipped": count(result >= 2),
            "reason": reason,
        }
    )


def _words(name: str, values: Column, allowed: tuple[str, ...]) -> Ints:
    """Return a column of words as their positions in `allowed`."""
    found = codes(name, text(name, values))
    places = {word: i for i, word in enumerate(allowed)}
    unknown = [word for word in found.names() if word not in places]
    if unknown:
        raise UsageError(
            f"unknown value {unknown[0]!r}", where=f"column {name!r}", next=f"use one of {', '.join(allowed)}"
        )
    return np.array([places[word] for word in found.names()], dtype=np.int64)[found.index]
