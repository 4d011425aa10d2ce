"""What a judge of the whole is shown beside the reference, and whether it could look."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grading.helpers_grading import Bench
from grading.judging_material import judged_bench, roles
from openai_server import judged, read, serving
from worksample.grading import evaluate, open_round
from worksample.grading.judges import ByJudge, Render
from worksample.grading.judges.material import UNSEEN
from worksample.grading.pending_evaluations import Place
from worksample.grading.rounds import Asks
from worksample.models import Exhibit
from worksample.records import Evaluation, EvaluatorKind, Holistic, Protocol, Submission
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
        asks=Asks(EvaluatorKind.JUDGE, 1),
    )  # fmt: skip
    with serving(answers) as served:
        [role] = roles(served, made.store.blobs, **config)["judge"]
        judge = ByJudge(role, showing(made, submission, work, reference))
        said = await evaluate(made.store, round, submission, made.instance, Place(judge, 1))
    assert said is not None
    return said, served.requests


def pictures(many: int, side: str = "") -> list[Exhibit]:
    return [Exhibit.of_picture(b"%d%s" % (n, side.encode()), f"{n}.png", side=side) for n in range(many)]


async def test_work_and_reference_share_what_one_question_may_show(tmp_path: Path) -> None:
    work = [Exhibit.of_text("w" * 300), *pictures(5, "w")]
    reference = [Exhibit.of_text("r" * 300), *pictures(5, "r")]
    said, requests = await asked(tmp_path, work, reference, [judged("2", "w" * 40)], characters=200, pictures=4)
    assert isinstance(said.payload, Holistic)
    seen = read(requests[0])
    assert [seen.exhibits[n].removeprefix("| ").rstrip() for n in (0, 3)] == ["w" * 100, "r" * 100]
    assert seen.pictures == [b"0w", b"1w", b"0r", b"1r"]


async def test_so_many_exhibits_of_the_work_leave_room_for_the_reference(tmp_path: Path) -> None:
    work = [Exhibit.of_text(f"work {n}") for n in range(70)]
    reference = [Exhibit.of_text(f"reference {n}") for n in range(70)]
    said, requests = await asked(tmp_path, work, reference, [judged("2", "work")])
    shown = [text.strip("| \n") for text in read(requests[0]).exhibits]
    assert (len(shown), shown[29], shown[30]) == (60, "work 29", "reference 0")
    assert isinstance(said.payload, Holistic)


@pytest.mark.parametrize(("sides", "inspected"), [(("",), True), ((UNSEEN,), False), (("", UNSEEN, ""), False)])
async def test_work_of_which_a_part_could_not_be_shown_was_not_inspected(
    tmp_path: Path, sides: tuple[str, ...], inspected: bool
) -> None:
    work = [Exhibit.of_text("It is 1.", f"{n}.txt", side=side) for n, side in enumerate(sides)]
    reference = [Exhibit.of_text("It is 2.", side=UNSEEN)]
    said, _ = await asked(tmp_path, work, reference, [judged("3", "It is 1", reason="clearly")])
    assert said.payload == Holistic(score=3, justification="clearly", inspected=inspected)


async def test_a_judges_minutes_are_its_own(tmp_path: Path) -> None:
    began = time.monotonic()
    said, _ = await asked(tmp_path, [Exhibit.of_text("It is 1.")], [], [judged("2", "It is 1")])
    took = (time.monotonic() - began) / 60
    assert said.minutes is not None
    assert 0 < said.minutes <= took
