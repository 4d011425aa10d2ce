"""A verifier's reward as a grade: reward.json before reward.txt, and an invalid reward leaves the work ungraded."""

from __future__ import annotations

import pytest

from worksample.errors import Cause, GraderError
from worksample.kit import Case, Grade, Ran, verified


class Told(Case):
    """A case whose verifier did what the test says."""

    def __init__(self, ran: Ran) -> None:
        super().__init__({})
        self._ran = ran

    def verify(self) -> Ran:
        return self._ran


def grade(files: dict[str, str], exit: int | None = 0) -> Grade:
    names = {"text": "reward.txt", "json": "reward.json"}
    return verified(Told(Ran(exit, "", "why", {names[key]: value.encode() for key, value in files.items()})))


@pytest.mark.parametrize(
    ("files", "score"),
    [
        ({"text": "1"}, 1.0),
        ({"text": " 0.25\n"}, 0.25),
        ({"text": "1", "json": "0"}, 0.0),
        ({"json": '{"reward": 0.5, "speed": 1}'}, 0.5),
        ({"json": '{"a": 1, "b": 0}'}, 0.5),
        ({"json": '{"only": 0.75}'}, 0.75),
    ],
)
def test_reward_is_the_score(files: dict[str, str], score: float) -> None:
    assert grade(files).score == score


def test_reward_counts_whatever_the_exit_code() -> None:
    assert grade({"text": "0"}, exit=1).score == 0.0
    assert [part.fraction for part in grade({"json": '{"a": 1, "b": 0}'}).parts] == [1, 0]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"text": ""},
        {"text": "nan"},
        {"text": "1.5"},
        {"text": "-1"},
        {"text": "passed"},
        {"text": "1", "json": "{"},
        {"text": "1", "json": "{}"},
        {"json": "NaN"},
        {"json": "Infinity"},
        {"json": "true"},
        {"json": '{"a": "1"}'},
        {"json": "[" * 100_000},
    ],
)
def test_invalid_reward_leaves_the_work_ungraded(files: dict[str, str]) -> None:
    with pytest.raises(GraderError) as told:
        grade(files)
    assert told.value.cause is Cause.GRADER_MALFORMED


def test_endless_verifier_leaves_the_work_ungraded() -> None:
    with pytest.raises(GraderError) as told:
        grade({"text": "1"}, exit=None)
    assert told.value.cause is Cause.GRADER_TIME
