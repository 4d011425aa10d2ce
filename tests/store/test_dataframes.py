"""Frames: their columns, and their content for a small world."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from store.views import FRAMES
from store.worlds import World, at, planted
from worksample.errors import Cause, UsageError
from worksample.records import (
    AmendmentAction,
    AmendmentTarget,
    GradePayload,
    Holistic,
    Origin,
    Protocol,
    Reported,
    Round,
    Slot,
    Submission,
    Usage,
)
from worksample.results.frame_export import export
from worksample.results.slot_results import slots_df
from worksample.store import Store
from worksample.store.dataframes import comparisons_df, evaluations_df, submissions_df, trials_df

WORLD = World()
DOCS = Path(__file__).resolve().parents[2] / "docs" / "data/frames.csv"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return planted(Store.open(tmp_path / "s", create=True), WORLD)


def row(frame: pl.DataFrame, **key: object) -> dict[str, object]:
    return frame.row(by_predicate=pl.all_horizontal(pl.col(k) == v for k, v in key.items()), named=True)


def documented(name: str) -> dict[str, str]:
    """Column -> type, as docs/data/frames.csv has them."""
    with DOCS.open(encoding="utf-8", newline="") as lines:
        return {row["column"]: row["type"] for row in csv.DictReader(lines) if row["frame"] == name}


@pytest.mark.parametrize("frame", FRAMES, ids=lambda f: f.__name__)
def test_columns_and_types_are_as_documented_with_and_without_rows(tmp_path: Path, frame) -> None:  # type: ignore[no-untyped-def]
    with Store.open(tmp_path / "empty", create=True) as store:
        empty = frame(store)
    with planted(Store.open(tmp_path / "full", create=True), WORLD) as store:
        trial = WORLD.trial(0, "t1")
        store.commit(trial, WORLD.submission(trial), WORLD.evaluation("s-t1", "e1"), WORLD.pair("s-t1", "s-t1", "p1"))
        full = frame(store)
    assert full.height > 0
    assert empty.height == 0
    assert empty.schema == full.schema
    assert {name: str(kind) for name, kind in full.schema.items()} == documented(frame.__name__)


def test_trial_has_its_row(store: Store) -> None:
    usage = {
        "agent": Usage(calls=2, input_tokens=100, output_tokens=20, cache_read_tokens=7, cost=0.5, priced=True),
        "colleague": Usage(calls=1, cost=0.25, priced=True),
        "judge": Usage(calls=1),
    }
    store.commit(WORLD.trial(0, "t1", 4, usage=usage, phases={"snapshot": 0.5}))
    got = row(trials_df(store), trial="t1")
    expected = {
        "experiment": "x1",
        "agent_name": "ann",
        "model": "m/1",
        "harness": "scripted",
        "task": "report",
        "instance_name": "may",
        "arm": "plain",
        "attempt": 1,
        "repeat": 1,
        "try_number": 1,
        "ending": "done",
        "cause": None,
        "finished": True,
        "live": True,
        "struck": False,
        "started": at(3),
        "ended": at(4),
        "seconds": 60.0,
        "working_seconds": 30.0,
        "steps": 3,
        "input_tokens": 100,
        "output_tokens": 20,
        "tokens": 127,
        "cost": 0.5,
        "priced": True,
        "other_cost": 0.25,
        "category": "upwork:writing/reports",
        "tier": "easy",
        "value_low": 80.0,
        "value_middle": 100.0,
        "value_source": "illustrative",
        "hours_middle": 1.5,
    }
    assert {k: got[k] for k in expected} == expected
    assert json.loads(str(got["phases"])) == {"snapshot": 0.5}


def test_unknown_cost_is_null_and_never_zero(store: Store) -> None:
    store.commit(WORLD.trial(0, "t1", usage={"agent": Usage(calls=1, input_tokens=5)}), WORLD.trial(1, "t2", usage={}))
    assert trials_df(store).select("cost", "priced", "other_cost").rows() == [(None, False, None)] * 2


def test_other_experiments_are_left_out(store: Store) -> None:
    store.commit(WORLD.trial(0, "t1"), WORLD.trial(1, "other").replaced(experiment="x2"))
    assert trials_df(store)["trial"].to_list() == ["other", "t1"]
    assert trials_df(store, "x1")["trial"].to_list() == ["t1"]
    with pytest.raises(UsageError, match="no experiment 'none'"):
        trials_df(store, "none")


def test_submissions_of_every_origin_are_listed(store: Store) -> None:
    trial = WORLD.trial(0, "t1")
    made = WORLD.submission(trial)
    person = made.replaced(
        id="p1", origin=Origin.PERSON, entrant="Eve", trial=None, experiment=None, reported=Reported(minutes=30)
    )
    store.commit(trial, made, person)
    store.commit(WORLD.amend(AmendmentTarget.SUBMISSION, "p1", 9))
    frame = submissions_df(store)
    assert row(frame, submission="s-t1")["entrant_name"] == "ann"
    assert row(frame, submission="s-t1")["live"] is True
    got = row(frame, submission="p1")
    assert (got["entrant_name"], got["live"], got["struck"], got["origin"]) == ("Eve", None, True, "person")
    assert (got["reported_minutes"], got["reported_cost"]) == (30.0, None)
    assert submissions_df(store, "x1")["submission"].to_list() == ["s-t1"]


def test_evaluations_and_their_strikes_are_listed(store: Store) -> None:
    trials = [WORLD.trial(n, f"t{n}") for n in range(4)]
    store.commit(*trials, *(WORLD.submission(t) for t in trials))
    store.commit(
        WORLD.evaluation("s-t0", "grade", 0.5),
        WORLD.evaluation("s-t1", "failed", None),
        WORLD.evaluation("s-t2", "vote", payload=Holistic(score=3), evaluator="eve"),
        WORLD.evaluation("s-t3", "other", instance=WORLD.instances[1].id),
    )
    frame = evaluations_df(store, "x1")
    got = row(frame, evaluation="grade")
    assert (got["payload"], got["score"], got["full"], got["partial"], got["stands"]) == (
        "grade",
        0.5,
        False,
        0.25,
        True,
    )
    assert (got["evaluator_name"], got["evaluator_type"], got["protocol"]) == ("grade.py", "program", "program")
    failed = row(frame, evaluation="failed")
    assert (failed["score"], failed["full"], failed["cause"]) == (None, None, "grader.time")
    assert failed["reason"] == "ran out of time"
    assert (row(frame, evaluation="vote")["score"], row(frame, evaluation="vote")["full"]) == (3.0, None)
    for target, id, gone in (
        (AmendmentTarget.EVALUATION, "grade", "grade"),
        (AmendmentTarget.SUBMISSION, "s-t1", "failed"),
        (AmendmentTarget.EVALUATOR, "eve", "vote"),
        (AmendmentTarget.INSTANCE, WORLD.instances[1].id, "other"),
    ):
        store.commit(WORLD.amend(target, id, 20))
        assert row(evaluations_df(store), evaluation=gone)["stands"] is False
    store.commit(WORLD.amend(AmendmentTarget.EVALUATION, "grade", 21, AmendmentAction.RESTORE))
    assert evaluations_df(store).filter("stands")["evaluation"].to_list() == ["grade"]


def test_pairs_have_their_own_frame(store: Store) -> None:
    trials = [WORLD.trial(n, f"t{n}") for n in range(2)]
    store.commit(*trials, *(WORLD.submission(t) for t in trials), WORLD.pair("s-t0", "s-t1", "p"))
    assert evaluations_df(store).is_empty()
    got = row(comparisons_df(store, "x1"), evaluation="p")
    assert (got["first"], got["second"], got["completion"], got["quality"]) == ("s-t0", "s-t1", "first", "equal")
    assert (got["first_entrant"], got["second_origin"], got["stands"]) == (WORLD.agents[0].id, "trial", True)
    store.commit(WORLD.amend(AmendmentTarget.SUBMISSION, "s-t1", 9))
    assert row(comparisons_df(store), evaluation="p")["stands"] is False


def planned(store: Store, slot: int) -> dict[str, object]:
    return row(slots_df(store, "x1"), slot=WORLD.slots[slot].id)


def test_every_planned_slot_has_a_row_whatever_its_state(store: Store) -> None:
    barred = Slot(id="n", experiment="x1", agent=WORLD.agents[0].id, instance=WORLD.instances[0].id, repeat=9)
    store.commit(barred.replaced(not_attemptable="needs vision"))
    lost = [WORLD.trial(1, "l1", 1, Cause.SANDBOX_START), WORLD.trial(1, "l2", 2, Cause.SANDBOX_LOST)]
    good = [WORLD.trial(0, "g1", 2), WORLD.trial(0, "g2", 3)]
    store.commit(*lost, *good, *(WORLD.submission(t) for t in good))
    frame = slots_df(store, "x1")
    assert frame.height == 9
    assert frame["state"].value_counts(sort=True).rows() == [("open", 7), ("finished", 1), ("not_attemptable", 1)]
    done = planned(store, 0)
    assert (done["trial"], done["submission"], done["tries"], done["last_cause"]) == ("g1", "s-g1", 2, None)
    assert (done["standing"], done["score"], done["reason"]) == ("ungraded", None, "not graded yet")
    failed = planned(store, 1)
    assert (failed["trial"], failed["tries"], failed["last_cause"]) == (None, 2, "sandbox.lost")
    assert (failed["standing"], failed["cost"]) == (None, None)
    assert planned(store, 2)["tries"] == 0
    assert row(frame, slot="n")["not_attemptable"] == "needs vision"


def test_verdicts_follow_rounds_and_amendments(store: Store) -> None:
    trials = [WORLD.trial(n, f"t{n}") for n in range(3)]
    store.commit(*trials, *(WORLD.submission(t) for t in trials))
    store.commit(WORLD.evaluation("s-t0", "e0", 1.0), WORLD.evaluation("s-t1", "e1", 0.5))
    store.commit(WORLD.evaluation("s-t2", "e2", None))
    keys = ("standing", "score", "passed", "partial", "rounds")
    assert [planned(store, 0)[k] for k in keys] == ["decided", 1.0, True, 1.0, ["r1"]]
    assert [planned(store, 1)[k] for k in keys] == ["decided", 0.5, False, 0.25, ["r1"]]
    assert [planned(store, 2)[k] for k in keys] == ["ungraded", None, None, None, []]
    assert (planned(store, 2)["verdict_cause"], planned(store, 2)["reason"]) == ("grader.time", "ran out of time")
    store.commit(WORLD.amend(AmendmentTarget.EVALUATION, "e0", 9))
    assert (planned(store, 0)["standing"], planned(store, 0)["passed"]) == ("ungraded", None)
    store.commit(WORLD.amend(AmendmentTarget.SUBMISSION, "s-t2", 9))
    assert "struck" in str(planned(store, 2)["reason"])

    new = {WORLD.instances[0].id: "a new grader"}
    again = Round(id="r2", protocol=Protocol.PROGRAM, experiment="x1", gradings=new, author="me", at=at(60))
    other = Round(id="r3", protocol=Protocol.HOLISTIC, experiment="x1", author="me", at=at(90))
    listed = Round(id="r4", protocol=Protocol.RUBRIC, subjects=("s-t0",), author="me", at=at(99))
    store.commit(again, other, listed)
    assert planned(store, 1)["standing"] == "ungraded", "the latest program round has not graded it yet"
    store.commit(WORLD.evaluation("s-t1", "e9", 1.0, round="r2"))
    assert planned(store, 1)["score"] == 1.0
    assert row(slots_df(store, "x1", round="r1"), slot=WORLD.slots[1].id)["score"] == 0.5
    store.commit(WORLD.evaluation("s-t0", "e8", payload=GradePayload(score=0.75), round="r4"))
    assert row(slots_df(store, "x1", round="r4"), slot=WORLD.slots[0].id)["score"] == 0.75


def test_rounds_with_equal_graders_and_rules_count_as_one(store: Store) -> None:
    """Two machines that each graded a part opened one each."""
    trials = [WORLD.trial(n, f"t{n}") for n in range(2)]
    store.commit(*trials, *(WORLD.submission(t) for t in trials))
    store.commit(Round(id="r2", protocol=Protocol.PROGRAM, experiment="x1", author="you", reason="here", at=at(60)))
    store.commit(WORLD.evaluation("s-t0", "e0", 1.0), WORLD.evaluation("s-t1", "e1", 0.5, round="r2"))
    assert [planned(store, n)["score"] for n in (0, 1)] == [1.0, 0.5]
    store.commit(WORLD.evaluation("s-t0", "e2", 0.0, minute=70, round="r2"))
    assert planned(store, 0)["score"] == 0.0, "the later of the two evaluations"
    assert row(slots_df(store, "x1", round="r1"), slot=WORLD.slots[0].id)["score"] == 1.0


def test_struck_trial_reopens_its_slot(store: Store) -> None:
    trial = WORLD.trial(0, "t1")
    store.commit(trial, WORLD.submission(trial), WORLD.evaluation("s-t1", "e1"))
    assert planned(store, 0)["passed"] is True
    store.commit(WORLD.amend(AmendmentTarget.TRIAL, "t1", 9))
    assert (planned(store, 0)["state"], planned(store, 0)["passed"], planned(store, 0)["tries"]) == ("open", None, 1)
    assert row(trials_df(store), trial="t1")["struck"] is True


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_export_writes_every_frame(store: Store, tmp_path: Path, format: str) -> None:
    trial = WORLD.trial(0, "t1")
    store.commit(trial, WORLD.submission(trial), WORLD.evaluation("s-t1", "e1"))
    made = export(store, tmp_path / "out", format)
    assert {p.name for p in made} == {p.name for p in (tmp_path / "out").iterdir()}
    assert {p.stem for p in made} == {f.__name__.removesuffix("_df") for f in FRAMES}
    read = pl.read_parquet if format == "parquet" else pl.read_ndjson
    back = read(tmp_path / "out" / f"trials.{format}")
    assert back["trial"].to_list() == ["t1"]
    if format == "parquet":
        assert back.equals(trials_df(store))
    with pytest.raises(UsageError, match="no experiment 'none'"):
        export(store, tmp_path / "out", format, "none")
    with pytest.raises(UsageError, match="no export format"):
        export(store, tmp_path / "out", "xls")


def test_submission_without_a_trial_belongs_to_no_slot(store: Store) -> None:
    store.commit(
        Submission(
            id="free",
            instance=WORLD.instances[0].id,
            work="0" * 64,
            capture="0" * 64,
            origin=Origin.CONTROL,
            entrant="control",
            at=at(1),
            parts={},
        )
    )
    assert slots_df(store)["submission"].null_count() == 8
