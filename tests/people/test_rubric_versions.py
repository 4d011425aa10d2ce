"""Rubrics written in the app: versions are added, and criteria of existing grades never change."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from people.worlds import RUBRIC, Office, office
from worksample.errors import RecordMissing, UsageError
from worksample.people import Conflict, Denied, RoundKind, final_verdicts, save_version
from worksample.people.rubrics.versions import asked_in_rounds, digest_of_criteria, newest_versions, versions
from worksample.records import Criteria, Importance
from worksample.store.people_tables import rubric_versions


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=1, projects=2)


STRICTER = Criteria(
    criteria=tuple(c.model_copy(update={"importance": Importance.CRITICAL}) for c in RUBRIC.criteria[:2])
)


def test_versions_record_author_time_and_reason(desk: Office) -> None:
    expert = desk.hire("eva", "expert")
    first = save_version(desk.people.store, expert, "report", RUBRIC, over=0, reason="", clock=desk.people.clock)
    desk.clock.pass_(60)
    second = save_version(
        desk.people.store, expert, "report", STRICTER, over=1, reason="tidiness is taste", clock=desk.people.clock
    )
    assert versions(desk.store, "report") == [second, first]
    assert (second.number, second.author, second.reason, second.at - first.at) == (
        2,
        expert.id,
        "tidiness is taste",
        60_000_000,
    )
    save_version(desk.people.store, expert, "a-logo", RUBRIC, over=0, reason="", clock=desk.people.clock)
    assert [(v.rubric, v.number) for v in newest_versions(desk.store)] == [("a-logo", 1), ("report", 2)]
    with pytest.raises(RecordMissing):
        versions(desk.store, "nothing")


def test_invalid_version_is_refused_and_not_stored(desk: Office) -> None:
    expert = desk.hire("eva", "expert")
    save_version(desk.people.store, expert, "report", RUBRIC, over=0, reason="", clock=desk.people.clock)
    refused = [
        (UsageError, "report", RUBRIC, 1, "again", r"nothing was changed\n  next: change a criterion"),
        (UsageError, "report", STRICTER, 1, " ", "has no reason"),
        (UsageError, "report", Criteria(), 1, "empty", "the rubric has no criterion"),
        (UsageError, "../x", RUBRIC, 0, "", "cannot be the name"),
        (Conflict, "report", STRICTER, 0, "", "version 1 now"),
        (Conflict, "other", STRICTER, 3, "why", "no version now"),
    ]
    for kind, name, criteria, over, reason, says in refused:
        with pytest.raises(kind, match=says):
            save_version(desk.people.store, expert, name, criteria, over=over, reason=reason, clock=desk.people.clock)
    with pytest.raises(Denied):
        save_version(
            desk.people.store, desk.hire("ann", "evaluator"), "mine", RUBRIC, over=0, reason="", clock=desk.people.clock
        )
    with desk.store.database.reading() as connection:
        assert len(connection.execute(select(rubric_versions)).all()) == 1


def test_new_version_never_changes_earlier_grades(desk: Office) -> None:
    expert = desk.hire("eva", "expert")
    first = save_version(desk.people.store, expert, "report", RUBRIC, over=0, reason="", clock=desk.people.clock)
    round = desk.open(RoundKind.RUBRIC)
    marks = {"marks": {"title": "pass", "sums": "pass", "tidy": "fail"}, "feedback": {"tidy": "a blot on page 1"}}
    desk.work_off([expert], lambda account, item: marks, round.id)
    before = final_verdicts(desk.people.store, round.id)
    second = save_version(
        desk.people.store, expert, "report", STRICTER, over=1, reason="only what counts", clock=desk.people.clock
    )
    assert final_verdicts(desk.people.store, round.id) == before
    assert all(final.verdict.passed for final in before.values())
    assert asked_in_rounds(desk.store) == {first.digest: (round.id,)}
    assert second.digest == digest_of_criteria(STRICTER) != first.digest
