"""Frames of chains over random worlds: unneeded attempts, and first attempts of each continuing arm."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from experiments.material import an_instance, some_material
from worksample.experiments.planning.experiment_plan import plan
from worksample.metrics import histories
from worksample.records import Arm, Chain, now
from worksample.results.attempt_chains import continued_arms, drop_unneeded_attempts, join_attempts

ARMS = ("generic", "retry")
JOBS = 3
PLAN = plan(
    type(base := some_material(agents=1, tasks=1))(
        **{
            **base.__dict__,
            "instances": tuple(an_instance(f"task-{n}", "case") for n in range(JOBS)),
            "arms": (Arm(name="first"), *(Arm(name=a, feedback=a, continues="first") for a in ARMS)),
            "chain": Chain(reattempts=3),
        }
    ),
    author="t",
    at=now(),
    versions={},
    settings={},
)
SCHEMA = {
    "slot": pl.String, "experiment": pl.String, "agent": pl.String, "agent_name": pl.String, "instance": pl.String,
    "task": pl.String, "instance_name": pl.String, "arm": pl.String, "attempt": pl.Int64, "repeat": pl.Int64,
    "live": pl.Boolean, "passed": pl.Boolean, "who": pl.String, "label": pl.String, "entry": pl.String,
    "entry_label": pl.String,
}  # fmt: skip
told = st.sampled_from([(True, True), (True, False), (True, None), (False, None)])


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    """Any number of attempts in each arm, whatever became of them: verdicts may have changed since."""
    rows = []
    for job in range(JOBS):
        for arm, attempt in [("first", 1), *((a, k) for a in ARMS for k in range(2, draw(st.integers(2, 5))))]:
            live, passed = draw(told)
            names = dict.fromkeys(("who", "entry"), f"ann / {arm}") | dict.fromkeys(
                ("label", "entry_label"), f"ann ({arm})"
            )
            rows.append(
                {
                    "slot": f"{job} {arm} {attempt}", "experiment": PLAN.experiment.id, "agent": "ann",
                    "agent_name": "ann", "instance": f"i{job}", "task": f"t{job}", "instance_name": "case", "arm": arm,
                    "attempt": attempt, "repeat": 1, "live": live, "passed": passed, **names,
                }
            )  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA)


@given(frames())
def test_made_attempts_stay_and_unmade_ones_after_a_pass_are_dropped(frame: pl.DataFrame) -> None:
    kept = drop_unneeded_attempts(frame, continued_arms([PLAN.experiment]), pl.col("live"))
    rows = {r["slot"]: r for r in frame.iter_rows(named=True)}
    for slot, row in rows.items():
        job, arm, attempt = slot.split()
        before = [f"{job} first 1", *(f"{job} {arm} {k}" for k in range(2, int(attempt)))]
        won = any(rows[b]["passed"] for b in before if b in rows and b != slot)
        gone = row["attempt"] > 1 and not row["live"] and won
        assert (slot in kept["slot"].to_list()) != gone


@given(frames())
def test_each_arm_has_every_first_attempt_and_nothing_after_a_pass(frame: pl.DataFrame) -> None:
    whole = join_attempts(frame, [PLAN.experiment], {})
    assert set(whole["arm"]) == set(ARMS)
    for arm in ARMS:
        mine = whole.filter(pl.col("arm") == arm)
        assert mine.filter(pl.col("attempt") == 1).height == JOBS
        assert set(mine["label"]) == {f"ann ({arm})"} and set(mine["who"]) == {f"ann / {arm}"}
        # Gaps and attempts after a pass are errors there.
        told = histories(mine["instance"], mine["attempt"], mine["passed"])
        assert told.jobs + told.ungraded == JOBS


def test_frames_without_chains_stay_unchanged() -> None:
    plain = plan(some_material(), author="t", at=now(), versions={}, settings={}).experiment
    frame = pl.DataFrame(schema=SCHEMA)
    assert drop_unneeded_attempts(frame, continued_arms([plain]), pl.col("live")) is frame
    assert join_attempts(frame, [plain], {}) is frame
