"""Graders in real boxes: each ends in a grade or a typed failure."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forking.child import ended
from grading.helpers_grading import bench
from worksample.errors import Cause, PlanError
from worksample.grading import (
    EvaluationPlace,
    ProgramEvaluator,
    find_grade_changes,
    grade,
    grade_all,
    lease_of,
    open_round,
    regrade,
)
from worksample.records import CaptureStatus, Evaluation, EvaluationOutcome, GradePayload, Submission

pytestmark = pytest.mark.box

KINDS = ["bubblewrap", "none"]


async def graded(folder: Path, grader: str, files: dict[str, str] | None = None, **more: object) -> Evaluation:
    sandbox = str(more.pop("sandbox", "bubblewrap"))
    made = bench(folder, grader, **more)  # type: ignore[arg-type]
    submission = made.submit({"answer.txt": "1"} if files is None else files)
    round = open_round(made.store, subjects=(submission.id,), author="test")
    evaluation = await grade(made.store, round, submission, made.instance, sandbox=sandbox)
    assert made.store.find(Evaluation, round=round.id) == [evaluation]
    assert made.store.find(Evaluation)[0].grading == made.instance.grading_digest(round.protocol)
    made.store.close()
    return evaluation


@pytest.mark.parametrize("sandbox", KINDS)
@pytest.mark.parametrize(
    ("files", "score", "says"),
    [
        ({"answer.txt": "1"}, 1.0, ""),
        ({"answer.txt": "2"}, 0.0, "'2' instead of '1'"),
        ({}, 0.0, "answer.txt: is missing"),
        ({"answer.txt": "\0\0"}, 0.0, "NUL"),
    ],
)
async def test_correct_grader_gives_a_grade(
    tmp_path: Path, sandbox: str, files: dict[str, str], score: float, says: str
) -> None:
    evaluation = await graded(tmp_path, "right", files, sandbox=sandbox)
    assert evaluation.outcome is EvaluationOutcome.GIVEN
    assert isinstance(evaluation.payload, GradePayload)
    assert evaluation.payload.score == score
    assert says in evaluation.payload.parts[0].reason


@pytest.mark.parametrize(
    ("grader", "cause", "says"),
    [
        ("crash", Cause.GRADER_CRASH, "ZeroDivisionError"),
        ("loop", Cause.GRADER_TIME, "did not end within 2 seconds"),
        ("memory", Cause.GRADER_MEMORY, "memory"),
        ("prints", Cause.GRADER_OUTPUT, "printed"),
        ("not_a_number", Cause.GRADER_MALFORMED, "nan"),
        ("out_of_range", Cause.GRADER_MALFORMED, "score"),
        ("no_reference", Cause.GRADER_REFERENCE, "none.txt"),
        ("no_result", Cause.GRADER_MALFORMED, "without a result"),
        ("leaves", Cause.GRADER_CRASH, "exit code 3"),
        ("forged", Cause.GRADER_MALFORMED, "is not a grade"),
    ],
)
async def test_faulty_grader_leaves_the_work_ungraded(tmp_path: Path, grader: str, cause: Cause, says: str) -> None:
    # Who floods is stopped by the time alone.
    timeout = 2 if cause in (Cause.GRADER_TIME, Cause.GRADER_OUTPUT) else 60
    evaluation = await graded(tmp_path, grader, timeout=timeout, memory="128MiB")
    assert (evaluation.outcome, evaluation.payload, evaluation.cause) == (EvaluationOutcome.FAILED, None, cause), (
        evaluation.reason
    )
    assert says in evaluation.reason


async def test_fork_bomb_is_contained(tmp_path: Path) -> None:
    evaluation = await graded(tmp_path, "forks", timeout=3)
    assert evaluation.outcome is EvaluationOutcome.FAILED
    assert evaluation.cause in (Cause.GRADER_CRASH, Cause.GRADER_TIME, Cause.GRADER_OUTPUT, Cause.GRADER_MEMORY)


async def test_grader_output_is_recorded(tmp_path: Path) -> None:
    made = bench(tmp_path, "crash")
    submission = made.submit({})
    round = open_round(made.store, subjects=(submission.id,), author="test")
    evaluation = await grade(made.store, round, submission, made.instance)
    assert made.store.blobs.read(evaluation.record["stdout"]) == b"before the crash\n"


TOOL = """
import os, sys, time
if sys.argv[1] == "look":
    seen = [os.path.join(w, n) for w, f, n in ((w, f, n) for w, f, ns in os.walk("/task") for n in ns)
            if n in ("grade.py",) or "reference" in w or "grader" in w]
    print(seen)
elif sys.argv[1] == "hang":
    time.sleep(60)
elif sys.argv[1] == "double":
    print(2 * int(sys.stdin.read()))
elif sys.argv[1] == "copy":
    open("out.txt", "w").write(open("in.txt").read())
else:
    sys.exit(3)
"""


async def test_programs_run_without_the_reference_and_are_recorded(tmp_path: Path) -> None:
    evaluation = await graded(tmp_path, "runs", {"tool.py": TOOL}, timeout=60)
    assert isinstance(evaluation.payload, GradePayload), evaluation.reason
    assert evaluation.payload.score == 1, evaluation.payload.parts[0].reason
    runs = evaluation.record["runs"]
    assert [r["exit"] for r in runs] == [0, None, 0, 0, 3]
    assert runs[0]["argv"][-1] == "look"
    assert set(runs[3]["files"]) == {"out.txt"}


async def test_hanging_program_costs_the_agent_and_not_the_grade(tmp_path: Path) -> None:
    evaluation = await graded(tmp_path, "hangs", timeout=60)
    assert isinstance(evaluation.payload, GradePayload), evaluation.reason
    assert evaluation.payload.score == 0
    assert "did not end within 1 seconds" in evaluation.payload.parts[0].reason
    assert [r["exit"] for r in evaluation.record["runs"]] == [None] * 5


async def test_broker_survives_malformed_requests(tmp_path: Path) -> None:
    evaluation = await graded(tmp_path, "junk_requests", timeout=60)
    assert isinstance(evaluation.payload, GradePayload), evaluation.reason
    assert evaluation.payload.score == 1, evaluation.payload.parts
    runs = evaluation.record["runs"]
    assert ["junk" in r for r in runs] == [True] * 9 + [False]


async def test_uncaptured_work_is_ungraded_and_not_zero(tmp_path: Path) -> None:
    made = bench(tmp_path, "right")
    sound = made.submit({})
    absent = sound.parts["output"].replaced(status=CaptureStatus.ABSENT, reason="the box was lost")
    submission = sound.replaced(id="lost", parts={"output": absent})
    made.store.commit(submission)
    round = open_round(made.store, subjects=(submission.id,), author="test")
    evaluation = await grade(made.store, round, submission, made.instance)
    assert (evaluation.cause, evaluation.reason) == (Cause.CAPTURE_FAILED, "the box was lost")


async def test_two_graders_at_once_grade_each_subject_once(tmp_path: Path) -> None:
    made = bench(tmp_path, "right")
    ids = tuple(made.submit({"answer.txt": str(n)}).id for n in range(3))
    round = open_round(made.store, subjects=ids, author="test")
    told: list[Evaluation] = []
    await asyncio.gather(*(grade_all(made.store, round, on_done=told.append) for _ in range(2)))
    evaluations = made.store.find(Evaluation, round=round.id)
    assert sorted(e.subject for e in evaluations) == sorted(ids)
    assert {e.id for e in told} == {e.id for e in evaluations}
    await grade_all(made.store, round, on_done=told.append)
    assert len(made.store.find(Evaluation, round=round.id)) == 3


async def test_regrade_reports_changes(tmp_path: Path) -> None:
    made = bench(tmp_path, "right")
    good, bad = made.submit({"answer.txt": "1"}), made.submit({"answer.txt": "1."})
    old = open_round(made.store, subjects=(good.id, bad.id), author="test")
    await grade_all(made.store, old)
    lenient = (
        (made.package / "grade.py")
        .read_text()
        .replace('exact(case.output("answer.txt"),', 'exact(case.text("answer.txt").rstrip("."),')
    )
    newer = made.newer(**{"grade.py": lenient})
    new = regrade(made.store, [newer], subjects=(good.id, bad.id), author="test", reason="full stops are fine")
    await grade_all(made.store, new)
    rows = find_grade_changes(made.store, old, new)
    assert [(r.subject, r.old, r.new) for r in rows] == [(bad.id, 0.0, 1.0)]
    assert any("right: 0 of 2 before, 1 of 2 now" in reason for reason in rows[0].reasons)


async def test_regrade_refuses_other_work_and_no_change(tmp_path: Path) -> None:
    made = bench(tmp_path, "right")
    subject = made.submit({"answer.txt": "1"}).id
    with pytest.raises(PlanError, match="nothing to grade again"):
        regrade(made.store, [made.instance], subjects=(subject,), author="test", reason="")
    newer = made.newer(**{"brief.md": "Another {{month}}"})
    with pytest.raises(PlanError, match="brief, inputs or environment changed"):
        regrade(made.store, [newer], subjects=(subject,), author="test", reason="")


KILLED = """
import asyncio, os, sys
from worksample.grading import grade_all
from worksample.records import Round
from worksample.store import Store

store = Store.open(sys.argv[1])
round = store.get(Round, sys.argv[2])

def done(evaluation):
    os.kill(os.getpid(), 9)

asyncio.run(grade_all(store, round, parallel=1, on_done=done))
"""


async def test_grading_continues_after_a_kill(tmp_path: Path) -> None:
    made = bench(tmp_path, "right")
    ids = tuple(made.submit({"answer.txt": str(n)}).id for n in range(3))
    round = open_round(made.store, subjects=ids, author="test")
    for expected in (1, 2):
        killed = await asyncio.to_thread(ended, "forking.code", KILLED, tmp_path / "store", round.id)
        assert killed.returncode == -9
        made.store.sync()
        assert len(made.store.find(Evaluation, round=round.id)) == expected
    for id in ids:
        assert made.store.lease(
            lease_of(round, made.store.get(Submission, id), EvaluationPlace(ProgramEvaluator(), 1)),
            "a dead process",
            0.5,
        )
    await grade_all(made.store, round)
    evaluations = made.store.find(Evaluation, round=round.id)
    assert sorted(e.subject for e in evaluations) == sorted(ids)
