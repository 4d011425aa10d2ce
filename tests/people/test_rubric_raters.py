"""Several raters of a rubric: agreement decides, and a third is asked if two differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from people.worlds import Office, office
from worksample.people import Account, Item, RoundKind, final_verdicts
from worksample.records import ResolutionRule

MARKS = {"title": "pass", "sums": "pass", "tidy": "pass"}


def marked(**changes: str) -> dict[str, Any]:
    marks = MARKS | changes
    return {"marks": marks, "feedback": {name: "so it is" for name, mark in marks.items() if mark != "pass"}}


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=1, projects=1)


def told(desk: Office, round: str) -> tuple[str, bool | None, int]:
    [final] = final_verdicts(desk.people.store, round).values()
    return final.verdict.standing, final.verdict.passed, len(final.verdict.evaluations)


def hire(desk: Office, said: dict[str, dict[str, Any]]) -> tuple[list[Account], Any]:
    people = [desk.hire(name, "expert") for name in said]
    by_id = {account.id: said[account.name] for account in people}

    def answer(account: Account, item: Item) -> dict[str, Any]:
        return by_id[account.id]

    return people, answer


def test_tie_break_asks_a_third_if_two_differ_on_a_criterion(desk: Office) -> None:
    round = desk.open(RoundKind.RUBRIC, rule=ResolutionRule.TIE_BREAK).id
    people, answer = hire(desk, {"Ann": marked(), "Bob": marked(sums="fail"), "Cid": marked(sums="fail")})
    assert desk.work_off(people, answer, round) == 3
    assert told(desk, round) == ("decided", False, 3)


def test_two_who_agree_settle_it(desk: Office) -> None:
    round = desk.open(RoundKind.RUBRIC, rule=ResolutionRule.TIE_BREAK).id
    people, answer = hire(desk, {"Ann": marked(tidy="fail"), "Bob": marked(tidy="fail"), "Cid": marked()})
    assert desk.work_off(people, answer, round) == 2
    assert told(desk, round) == ("decided", True, 2)


def test_fail_fail_pass_is_failed_and_undecided_before(desk: Office) -> None:
    round = desk.open(RoundKind.RUBRIC, rule=ResolutionRule.MAJORITY, overlap=3).id
    fail = marked(title="fail")
    people, answer = hire(desk, {"Ann": fail, "Bob": fail, "Cid": marked()})
    for n, account in enumerate(people, 1):
        assert desk.work_off([account], answer, round) == 1
        assert told(desk, round) == (("undecided", None, n) if n < 3 else ("decided", False, 3))
