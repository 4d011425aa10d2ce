"""Points by kind of checkpoint and the timeline of a trial, against figures computed by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reports.measuring import cell, sections
from store import worlds
from worksample.records import (
    CheckpointKind,
    Criteria,
    Criterion,
    Evaluation,
    GradePayload,
    Grading,
    PartPayload,
    Protocol,
)
from worksample.reports.static_site.timeline import timeline
from worksample.reports.static_site.transcript import TranscriptStep
from worksample.store import Store

ACTION, ACCURACY, COLLABORATION = CheckpointKind
POINTS = {"sent": (1, ACTION), "filed": (2, ACTION), "right": (4, ACCURACY), "asked": (1, COLLABORATION)}
CRITERIA = Criteria(criteria=tuple(Criterion(id=n, text=n, points=p, kind=k) for n, (p, k) in POINTS.items()))


def graded(**shares: float) -> GradePayload:
    parts = tuple(PartPayload(name=n, points=p, fraction=shares.get(n, 0.0)) for n, (p, _) in POINTS.items())
    return GradePayload(score=sum(p.points * (p.fraction or 0) for p in parts) / 8, parts=parts)


@pytest.fixture
def store(tmp_path: object) -> Store:
    """Two agents, two instances of one task, two repeats; the second instance's criteria name no kinds."""
    store = Store.open(tmp_path / "s", create=True)  # type: ignore[operator]
    may, june = worlds.instance_of("may"), worlds.instance_of("june", "other")
    grading = may.grading[Protocol.PROGRAM]
    may = may.replaced(grading={Protocol.PROGRAM: Grading(**{**dict(grading), "criteria": CRITERIA})})
    world = worlds.World(instances=[may, june])
    store.commit(*world.plan)
    grades = {0: graded(sent=1, filed=0.5, right=1), 1: graded(sent=1, filed=1), 4: graded(asked=1)}
    for slot in range(8):
        trial = world.trial(slot, f"t{slot}", slot + 1)
        made = world.submission(trial)
        store.commit(trial, made)
        grade = grades.get(slot) or GradePayload(score=1.0)
        if slot == 5:
            continue  # nobody graded it
        evaluation = Evaluation(
            id=f"e{slot}", round="r1", subject=made.id, instance=made.instance, evaluator="prog", outcome="given",
            payload=grade, author="me", at=worlds.at(20 + slot),
        )  # fmt: skip
        store.commit(evaluation)
    return store


def test_points_by_kind_match_hand_computed_figures(store: Store) -> None:
    section = sections(store)["kinds"]
    assert section.columns == (
        "action", "action points", "accuracy", "accuracy points", "collaboration", "collaboration points"
    )  # fmt: skip
    labels = [row.label for row in section.rows]
    ann, bob = labels
    action = cell(section, ann, "action")
    assert (action.value, action.counts.valid, action.counts.planned) == (pytest.approx((2 / 3 + 1) / 2), 2, 2)
    assert cell(section, ann, "accuracy").value == 0.5 and cell(section, ann, "collaboration").value == 0.0
    other = cell(section, bob, "collaboration")
    assert (other.value, other.counts.valid, other.counts.planned) == (1.0, 1, 2), "what nobody graded is no zero"
    [row] = [row for row in section.rows if row.label == ann]
    assert [c for c in row.cells if isinstance(c, str)] == ["5 / 6", "4 / 8", "0 / 2"]


def test_section_is_missing_without_kinds(tmp_path: object) -> None:
    store = Store.open(tmp_path / "s", create=True)  # type: ignore[operator]
    world = worlds.World()
    store.commit(*world.plan)
    assert "kinds" not in sections(store)


BEGUN = datetime(2026, 3, 9, 8, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return BEGUN + timedelta(seconds=seconds)


STEPS = (
    TranscriptStep("user", "do it", at=after(0)),
    *(TranscriptStep("agent", "", at=after(s)) for s in (10.5, 20.2, 20.7, 30)),
)


@pytest.mark.parametrize(
    ("at", "where"),
    [
        (after(3), "before the agent's first step"),
        (after(10), "step 2"),  # anywhere in this second, and the step began in it
        (after(15), "step 2"),
        (after(20), "one of the steps 2 to 4"),
        (after(21), "step 4"),
        (after(20.3), "step 3"),
        (after(500), "step 5"),
        (None, "earned; the work does not show when"),
    ],
)
def test_checkpoint_is_shown_at_the_steps_that_may_have_earned_it(at: datetime | None, where: str) -> None:
    instance = worlds.instance_of("may")
    instance = instance.replaced(
        grading={p: Grading(**{**dict(g), "criteria": CRITERIA}) for p, g in instance.grading.items()}
    )
    part = PartPayload(name="sent", fraction=1.0, at=at)
    [one, other] = timeline(
        [GradePayload(score=0.5, parts=(part, PartPayload(name="x", fraction=0.0)))], instance, STEPS
    ).earned
    assert (one.where, one.kind, other.where) == (where, "action", "not earned")
    unplaced = timeline([GradePayload(score=1.0, parts=(part,))], instance, ()).earned[0]
    assert unplaced.first is None
    assert (
        timeline([GradePayload(score=1.0, parts=(PartPayload(name="y", fraction=1.0),))], instance, STEPS).earned == ()
    )
