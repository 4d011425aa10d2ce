"""A judge that answers "first" whatever it is shown: metrics say so with counts, where all was "equal" before."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path

import pytest

from grading.judging_material import MODEL, PRICES, judged_bench, judges
from openai_server import judged, serving
from worksample.grading import evaluate, open_round
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.grading.pending_evaluations import EvaluationPlace
from worksample.models import JudgeConfig, ModelService, judges_of
from worksample.records import Evaluation, EvaluatorKind, Pairwise, PairwiseChoice, Protocol
from worksample.results.judged_rounds import RoundReader
from worksample.results.pair_orders import order_notes


def check(room: Path, request: pytest.FixtureRequest) -> None:
    made = judged_bench(room)
    works = [made.submit({"answer.txt": f"It is the work number {n}."}) for n in range(4)]
    round = open_round(
        made.store, subjects=tuple(w.id for w in works), protocol=Protocol.PAIRWISE, author="test",
        asks=EvaluatorPanel(EvaluatorKind.JUDGE),
    )  # fmt: skip
    with serving([judged("first", "", None)]) as served, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the engine's, of its own library
        service = ModelService(args=served.args, retries=0, prices=PRICES)
        found = judges_of({"judge": JudgeConfig(model=MODEL)}, {}, service, made.store.blobs)
        [by] = judges(found)(round)
        for one, two in ((0, 1), (1, 2), (2, 3)):
            asyncio.run(
                evaluate(made.store, round, works[one], made.instance, EvaluationPlace(by, 1), second=works[two])
            )
    said = made.store.find(Evaluation, round=round.id)
    equal = PairwiseChoice.EQUAL
    assert [(e.payload.completion, e.payload.quality) for e in said if isinstance(e.payload, Pairwise)] == [
        (equal, equal)
    ] * 3
    assert order_notes(made.store, [RoundReader(made.store, ()).read_round(round, [round.id]).given]) == (
        f"judge ({MODEL}): 6 of 6 verdicts on pairs flip with the order; of 12 answers that prefer one, 12 prefer the "
        "first shown",
    )
    made.store.close()
