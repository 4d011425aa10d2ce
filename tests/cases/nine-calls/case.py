"""`tries = 3` is three requests a question in a run, of a judge that never gives JSON; and of a service that fails."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path

import pytest

from grading.judging_material import MODEL, PRICES, judged_bench, judges
from openai_server import Answer, Fault, says, serving
from worksample.errors import Cause
from worksample.grading import Evaluators, grade_all, open_round
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.models import JudgeConfig, ModelService, judges_of
from worksample.records import Evaluation, EvaluatorKind, Protocol


def check(room: Path, request: pytest.FixtureRequest) -> None:
    made = judged_bench(room)
    for answer, cause in (
        (says("I believe the answer is yes, since the totals look right."), Cause.JUDGE_MALFORMED),
        (Answer(fault=Fault.BROKEN), Cause.JUDGE_ERROR),
        (Answer(fault=Fault.LIMIT), Cause.JUDGE_ERROR),
    ):
        subject = made.submit({"answer.txt": f"It is 1, for {cause}."})
        round = open_round(
            made.store,
            subjects=(subject.id,),
            protocol=Protocol.HOLISTIC,
            author="test",
            asks=EvaluatorPanel(EvaluatorKind.JUDGE),
        )
        with serving([answer]) as served:
            service = ModelService(args=served.args, retries=2, prices=PRICES)
            found = judges_of({"judge": JudgeConfig(model=MODEL, tries=3)}, {}, service, made.store.blobs)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # the engine's, of its own library
                asyncio.run(grade_all(made.store, round, here=Evaluators(judges=judges(found))))
        [said] = made.store.find(Evaluation, round=round.id)
        assert said.cause is cause, said
        assert len(served.requests) == len(said.record["asked"][0]["calls"]) == 3
    made.store.close()
