"""Pairs before a judge: its two questions, and empty sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grading.judging_material import judged_bench, judges, roles
from openai_server import Answer, judged, read, serving
from worksample.grading import evaluate, open_round
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.grading.pending_evaluations import EvaluationPlace
from worksample.records import EvaluatorKind, Pairwise, PairwiseChoice, Protocol, Submission

LONG, SHORT = "Dear reader, it is 1.", "It is 1."


async def judgment(folder: Path, texts: tuple[str, str], answers: Any) -> tuple[Pairwise, int]:
    """What a judge says of a pair, and how many questions that took."""
    made = judged_bench(folder)
    ids = tuple(made.submit({"answer.txt": text} if text else {}).id for text in texts)
    round = open_round(
        made.store, subjects=ids, protocol=Protocol.PAIRWISE, author="test", asks=EvaluatorPanel(EvaluatorKind.JUDGE, 1)
    )
    first, second = (made.store.get(Submission, id) for id in ids)
    with serving(answers) as served:
        judge = judges(roles(served, made.store.blobs))(round)[0]
        said = await evaluate(made.store, round, first, made.instance, EvaluationPlace(judge, 1), second=second)
    assert said is not None
    assert isinstance(said.payload, Pairwise)
    return said.payload, len(served.requests)


@pytest.mark.parametrize(
    ("texts", "side"),
    [((LONG, ""), PairwiseChoice.FIRST), (("", LONG), PairwiseChoice.SECOND), (("", ""), PairwiseChoice.EQUAL)],
)
async def test_empty_side_loses_without_a_question(
    tmp_path: Path, texts: tuple[str, str], side: PairwiseChoice
) -> None:
    said, asked = await judgment(tmp_path, texts, [judged("equal")])
    assert (said.completion, said.quality, said.justification) == (side, side, "nothing was delivered")
    assert asked == 0


def parted(request: dict[str, Any], count: int) -> Answer:
    """The greeting has done more, and its like is preferred without."""
    seen = read(request)
    whole = "closer to completing the commissioned work" in seen.words
    place = next(i for i, text in enumerate(seen.exhibits) if ("Dear" in text) == whole)
    return judged(("first", "second")[place], "is 1", place + 1, reason="more is done" if whole else "it is brief")


async def test_completion_and_quality_are_judged_separately(tmp_path: Path) -> None:
    said, asked = await judgment(tmp_path, (LONG, SHORT), parted)
    assert (said.completion, said.quality) == (PairwiseChoice.FIRST, PairwiseChoice.SECOND)
    of_completion, of_quality = said.justification.split("\n\n")
    assert "more is done" in of_completion
    assert "it is brief" in of_quality
    assert asked == 4
