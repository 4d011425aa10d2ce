"""Every converter fails, and a judge that says "1, cannot be opened": no vote, and board and metrics count it."""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from grading.judging_material import MODEL, PRICES, as_text, judged_bench
from openai_server import Answer, read, says, serving
from worksample.errors import Cause
from worksample.grading import Evaluators, grade_all, open_round
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.grading.judges import judges_for
from worksample.models import Exhibit, JudgeConfig, Look, ModelService, Visibility, judges_of
from worksample.records import Evaluation, EvaluationOutcome, EvaluatorKind, Holistic, Protocol, Standing
from worksample.results.judged_rounds import RoundReader
from worksample.store import Store


def cannot_see(request: dict[str, Any], count: int) -> Answer:
    """Says what a model says that takes our failure for the work's."""
    assert read(request).exhibits
    said = {"answer": "1", "reason": "cannot be opened", "exhibit": 1, "quote": "It is 1."}
    return says(json.dumps(said))


async def failing(store: Store, manifest: str) -> tuple[Exhibit, ...]:
    """All files as a machine shows them whose converters fail."""
    why = "the converter failed: No such file or directory"
    files = await as_text(store, manifest)
    return tuple(Exhibit(Look.TEXT, e.name, why, visibility=Visibility.CRASHED) for e in files)


async def partly(store: Store, manifest: str) -> tuple[Exhibit, ...]:
    return (*await as_text(store, manifest), *await failing(store, manifest))


def check(room: Path, request: pytest.FixtureRequest) -> None:
    made = judged_bench(room)
    subject = made.submit({"answer.txt": "It is 1."})
    round = open_round(
        made.store,
        subjects=(subject.id,),
        protocol=Protocol.HOLISTIC,
        author="test",
        asks=EvaluatorPanel(EvaluatorKind.JUDGE),
    )
    with serving(cannot_see) as served, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the engine's, of its own library
        service = ModelService(args=served.args, retries=0, prices=PRICES)
        found = judges_of({"judge": JudgeConfig(model=MODEL)}, {}, service, made.store.blobs)
        for runs, render in enumerate((failing, partly), 1):
            asyncio.run(grade_all(made.store, round, here=Evaluators(judges=judges_for(found, render))))
            said = made.store.find(Evaluation, round=round.id)
            assert [(e.outcome, e.cause) for e in said] == [(EvaluationOutcome.FAILED, Cause.JUDGE_UNSHOWN)] * runs
            [verdict] = RoundReader(made.store, ()).read_with_looks(round)[0].verdicts.iter_rows(named=True)
            assert (verdict["standing"], verdict["verdict_cause"]) == (Standing.UNGRADED, Cause.JUDGE_UNSHOWN)
        # Once the machine shows the work, the next run asks again.
        with serving([says('{"answer": "2", "reason": "r", "exhibit": 1, "quote": "It is 1."}')]) as seeing:
            service = ModelService(args=seeing.args, retries=0, prices=PRICES)
            found = judges_of({"judge": JudgeConfig(model=MODEL)}, {}, service, made.store.blobs)
            asyncio.run(grade_all(made.store, round, here=Evaluators(judges=judges_for(found, as_text))))
    assert [e.payload for e in made.store.find(Evaluation, round=round.id) if e.outcome is EvaluationOutcome.GIVEN] == [
        Holistic(score=2, justification="r")
    ]
    made.store.close()
