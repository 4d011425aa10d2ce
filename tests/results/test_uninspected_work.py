"""Votes on uninspected work do not count, unless the work's own files are to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from results.test_resolution_rules import round_of, said
from worksample.errors import Cause
from worksample.records import Holistic, Pairwise, PairwiseChoice, ResolutionRule, Standing
from worksample.results.round_evaluations import FAULT, evaluations_of, read_evaluations
from worksample.results.verdicts import resolve
from worksample.store import Store


def vote(minute: int, score: int = 1, *, inspected: bool = True, evaluator: str = "", **record: Any) -> Any:
    payload = Holistic.model_validate({"score": score, "justification": "so", "inspected": inspected})
    return said(payload, minute=minute, evaluator=evaluator or f"person-{minute}", record=record)


@pytest.mark.parametrize(
    ("evaluator", "cause"), [("person-a@1", Cause.PERSON_UNSHOWN), ("judge.judge@1", Cause.JUDGE_UNSHOWN)]
)
def test_single_uninspected_vote_leaves_the_work_ungraded(evaluator: str, cause: Cause) -> None:
    verdict = resolve(round_of(ResolutionRule.LATEST, 1), [vote(1, inspected=False, evaluator=evaluator)])["s"]
    assert (verdict.standing, verdict.cause, verdict.passed) == (Standing.UNGRADED, cause, None)


def test_uninspected_vote_is_left_out() -> None:
    votes = [vote(1, 3), vote(2, 3), vote(3, 1, inspected=False)]
    assert resolve(round_of(ResolutionRule.MAJORITY, 2), votes)["s"].passed is True
    assert resolve(round_of(ResolutionRule.MAJORITY, 3), [*votes[1:], vote(4, 1)])["s"].standing is Standing.UNGRADED


def test_damaged_file_counts_against_the_work() -> None:
    verdict = resolve(round_of(ResolutionRule.LATEST, 1), [vote(1, inspected=False, **{FAULT: True})])["s"]
    assert (verdict.standing, verdict.passed) == (Standing.DECIDED, False)


def test_records_and_index_agree(tmp_path: Path) -> None:
    pair = Pairwise(completion=PairwiseChoice.FIRST, quality=PairwiseChoice.FIRST)
    rows = [
        vote(1, inspected=False), vote(2), vote(3, inspected=False, **{FAULT: True}),
        said(pair, minute=4, second="t", record={"inspected": False}), said(pair, minute=5, second="t"),
    ]  # fmt: skip
    with Store.open(tmp_path / "s", create=True) as store:
        store.commit(*rows)
        with store.database.reading() as connection:
            indexed = read_evaluations(connection, ["r"], ()).rows
    assert dict(indexed.select("evaluation", "outcome").iter_rows()) == {
        "e1": "failed", "e2": "given", "e3": "given", "e4": "failed", "e5": "given",
    }  # fmt: skip
    same = ("evaluation", "outcome", "cause", "payload", "score", "completion", "draw")
    assert indexed.select(same).equals(evaluations_of(rows, ()).rows.select(same))
