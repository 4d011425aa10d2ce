"""One store: a judge alone, then the same model in a panel, in another role, with another price and other caps."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path

import pytest

from grading.judging_material import MODEL, OTHER, judged_bench, judges
from openai_server import judged, serving
from worksample.grading import Evaluators, grade_all, open_round
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.models import JudgeConfig, ModelService, Price, judges_of
from worksample.records import Evaluation, EvaluationOutcome, EvaluatorKind, Protocol

TABLES = (
    {"judge": JudgeConfig(model=MODEL)},
    {"judge": JudgeConfig(model=(MODEL, OTHER))},
    {"judge": JudgeConfig(model=(OTHER, MODEL), repeats=2, tries=5, calls=99, timeout=9)},
    {"judge": JudgeConfig(model=MODEL), "second": JudgeConfig(model=MODEL)},
    {"renamed": JudgeConfig(model=MODEL)},
    {"judge": JudgeConfig(model=MODEL, max_tokens=99)},
)


def check(room: Path, request: pytest.FixtureRequest) -> None:
    made = judged_bench(room)
    subject = made.submit({"answer.txt": "It is 1."})
    with serving([judged("2", "It is 1.")]) as served:
        for number, tables in enumerate(TABLES):
            wanted = 2 if number in (1, 2, 3) else 1
            round = open_round(
                made.store, subjects=(subject.id,), protocol=Protocol.HOLISTIC, author="test",
                asks=EvaluatorPanel(EvaluatorKind.JUDGE, wanted),
            )  # fmt: skip
            prices = dict.fromkeys((MODEL, OTHER), Price(input=number, output=1))
            service = ModelService(args=served.args, retries=0, prices=prices)
            found = judges_of(tables, {}, service, made.store.blobs)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # the engine's, of its own library
                asyncio.run(grade_all(made.store, round, here=Evaluators(judges=judges(found))))
            said = made.store.find(Evaluation, round=round.id)
            assert [e.outcome for e in said] == [EvaluationOutcome.GIVEN] * wanted, said
    made.store.close()
