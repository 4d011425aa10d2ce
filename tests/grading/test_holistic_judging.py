"""Holistic judging: the exhibits beside the reference, and work that could not be shown."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grading.helpers_grading import Bench
from grading.judging_material import judged_bench, roles
from openai_server import Answer, judged, read, says, serving
from worksample.errors import POLICY, Cause
from worksample.grading import evaluate, open_round
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.grading.judges import JudgeEvaluator, Render
from worksample.grading.judges.judge_material import UNSEEN
from worksample.grading.pending_evaluations import EvaluationPlace
from worksample.models import Exhibit, Look, Visibility
from worksample.records import Evaluation, EvaluationOutcome, EvaluatorKind, Holistic, Protocol, Submission
from worksample.store import Store


def showing(made: Bench, submission: Submission, work: Sequence[Exhibit], reference: Sequence[Exhibit]) -> Render:
    """Shows this, whatever is there."""

    async def render(store: Store, manifest: str) -> tuple[Exhibit, ...]:
        return tuple(work if manifest == submission.parts["output"].manifest else reference)

    return render


async def asked(
    folder: Path, work: Sequence[Exhibit], reference: Sequence[Exhibit], answers: Any, **config: Any
) -> tuple[Evaluation, list[dict[str, Any]]]:
    """What a judge says of the whole, and what it was asked."""
    made = judged_bench(folder)
    submission = made.submit({"answer.txt": "It is 1."})
    round = open_round(
        made.store, subjects=(submission.id,), protocol=Protocol.HOLISTIC, author="test",
        asks=EvaluatorPanel(EvaluatorKind.JUDGE, 1),
    )  # fmt: skip
    with serving(answers) as served:
        [role] = roles(served, made.store.blobs, **config)["judge"]
        judge = JudgeEvaluator(role, showing(made, submission, work, reference))
        said = await evaluate(made.store, round, submission, made.instance, EvaluationPlace(judge, 1))
    assert said is not None
    return said, served.requests


def pictures(many: int, side: str = "") -> list[Exhibit]:
    return [Exhibit.of_picture(b"%d%s" % (n, side.encode()), f"{n}.png", side=side) for n in range(many)]


async def test_work_and_reference_share_the_limit_of_a_question(tmp_path: Path) -> None:
    work = [Exhibit.of_text("w" * 300), *pictures(5, "w")]
    reference = [Exhibit.of_text("r" * 300), *pictures(5, "r")]
    said, requests = await asked(tmp_path, work, reference, [judged("2", "w" * 40)], characters=200, pictures=4)
    assert isinstance(said.payload, Holistic)
    seen = read(requests[0])
    assert [seen.exhibits[n].removeprefix("| ").rstrip() for n in (0, 3)] == ["w" * 100, "r" * 100]
    assert seen.pictures == [b"0w", b"1w", b"0r", b"1r"]
    assert "(of the work: 3 further exhibits are not shown)" in seen.words
    assert "(of the reference: 200 characters of text are not shown)" in seen.words


async def test_exhibits_of_the_work_leave_room_for_the_reference(tmp_path: Path) -> None:
    work = [Exhibit.of_text(f"work {n}") for n in range(70)]
    reference = [Exhibit.of_text(f"reference {n}") for n in range(70)]
    said, requests = await asked(tmp_path, work, reference, [judged("2", "work")])
    shown = [text.strip("| \n") for text in read(requests[0]).exhibits]
    assert (len(shown), shown[29], shown[30]) == (60, "work 29", "reference 0")
    assert isinstance(said.payload, Holistic)


def hidden(visibility: Visibility, name: str = "b.docx") -> Exhibit:
    return Exhibit(Look.TEXT, name, "it cannot be shown", side=UNSEEN, visibility=visibility)


def answers(answer: str, inspected: object) -> Answer:
    said = {"answer": answer, "reason": "so", "exhibit": 1, "quote": "It is the one."}
    return says(json.dumps(said if inspected is None else {**said, "inspected": inspected}))


SEEN, OTHER = Exhibit.of_text("It is the one.", "a.txt"), Exhibit.of_text("It is another one.", "a.txt")
OURS = (Visibility.STARVED, Visibility.MISSING, Visibility.CRASHED)


@pytest.mark.parametrize("visibility", [*OURS, Visibility.PEOPLE_ONLY])
@pytest.mark.parametrize("inspected", [None, "no", "No", False])
async def test_work_unshown_by_our_fault_is_ungraded(tmp_path: Path, visibility: Visibility, inspected: object) -> None:
    """Never a vote that counts, and only what is ours is asked again."""
    said, requests = await asked(tmp_path, [SEEN, hidden(visibility)], [OTHER], [answers("1", inspected)])
    ours = visibility in OURS
    assert (said.outcome, said.payload) == (EvaluationOutcome.FAILED, None)
    assert said.cause is (Cause.JUDGE_UNSHOWN if ours else Cause.JUDGE_BLIND)
    assert POLICY[said.cause].retry is ours
    assert "b.docx: it cannot be shown" in said.reason
    assert said.record["hidden"] == [{"name": "b.docx", "why": visibility.value}]
    assert "if what you are shown is enough" in read(requests[0]).words
    assert len(requests) == 1


@pytest.mark.parametrize("inspected", ["yes", "Yes", True])
async def test_judge_may_judge_without_unneeded_exhibits(tmp_path: Path, inspected: object) -> None:
    said, _ = await asked(tmp_path, [SEEN, hidden(Visibility.STARVED)], [OTHER], [answers("2", inspected)])
    assert said.payload == Holistic(score=2, justification="so")
    assert said.record["asked"][0]["inspected"] is True


async def test_damaged_file_is_judged_and_the_judge_told(tmp_path: Path) -> None:
    said, requests = await asked(tmp_path, [SEEN, hidden(Visibility.FILE)], [OTHER], [answers("1", None)])
    assert said.payload == Holistic(score=1, justification="so")
    words = read(requests[0]).words
    assert "this file could not be shown because it is damaged" in words
    assert '"inspected"' not in words


@pytest.mark.parametrize("visibility", [*OURS, Visibility.PEOPLE_ONLY])
async def test_nothing_is_asked_if_nothing_can_be_shown(tmp_path: Path, visibility: Visibility) -> None:
    said, requests = await asked(tmp_path, [hidden(visibility)], [OTHER], [answers("1", "yes")])
    assert said.cause in (Cause.JUDGE_UNSHOWN, Cause.JUDGE_BLIND)
    assert not requests


async def test_unknown_blame_counts_as_ours(tmp_path: Path) -> None:
    unsaid = Exhibit(Look.TEXT, "b.docx", "it cannot be shown", side=UNSEEN)
    said, _ = await asked(tmp_path, [SEEN, unsaid], [OTHER], [answers("1", None)])
    assert said.cause is Cause.JUDGE_UNSHOWN


@pytest.mark.parametrize(
    ("visibility", "cause"),
    [
        (Visibility.STARVED, Cause.JUDGE_UNSHOWN),
        (Visibility.PEOPLE_ONLY, Cause.JUDGE_BLIND),
        (Visibility.FILE, Cause.GRADER_REFERENCE),
    ],
)
async def test_unshown_reference_leaves_ungraded(tmp_path: Path, visibility: Visibility, cause: Cause) -> None:
    said, requests = await asked(tmp_path, [SEEN], [hidden(visibility)], [answers("2", "yes")])
    assert said.cause is cause
    assert not requests


async def test_judging_time_is_the_judges_own(tmp_path: Path) -> None:
    began = time.monotonic()
    said, _ = await asked(tmp_path, [Exhibit.of_text("It is 1.")], [], [judged("2", "It is 1")])
    took = (time.monotonic() - began) / 60
    assert said.minutes is not None
    assert 0 < said.minutes <= took
