"""Scripted experts: every session counts its minutes, and no answer is dated after it was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from people.worlds import office
from worksample.app.judging.scripted_experts import ScriptedExperts
from worksample.people import RoundKind
from worksample.people.clock import moment, now_in_microseconds
from worksample.records import Evaluation


def answer(item: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    assert texts["report.txt"].startswith("maker-")
    return {"marks": {criterion["id"]: "pass" for criterion in item["criteria"]["criteria"]}, "feedback": {}}


def test_each_session_of_an_expert_counts_its_minutes(tmp_path: Path) -> None:
    made = office(tmp_path, agents=2, projects=2)
    made.open(RoundKind.RUBRIC)
    before = moment(now_in_microseconds())
    assert ScriptedExperts(made.store, answer, minutes=7, names=("ann",)).judge() == 4
    made.deliver_late("maker-0")
    made.open(RoundKind.RUBRIC, reason="late work")
    # Another session of the same person, as when a demo goes on in a new process.
    assert ScriptedExperts(made.store, answer, minutes=7, names=("ann", "bob")).judge() > 0
    said = made.store.find(Evaluation)
    assert {e.minutes for e in said} == {7.0} and len(said) > 4
    assert all(before <= e.at <= moment(now_in_microseconds()) for e in said)
