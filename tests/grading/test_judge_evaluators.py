"""Judge models as evaluators: rubric, holistic and pairwise rounds, panels, budgets, kills and bad judges."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from forking.child import ended
from grading.helpers_grading import Bench
from grading.judging_material import CRITERIA, MODEL, OTHER, as_text, judged_bench, judges, roles
from openai_server import Answer, Fault, judged, read, says, serving
from worksample.errors import Cause
from worksample.grading import Evaluators, evaluate, grade_all, open_round
from worksample.grading.grading_rounds import EvaluatorPanel
from worksample.grading.judges import JudgeEvaluator, charge_earlier_spending
from worksample.grading.pending_evaluations import EvaluationPlace
from worksample.models import JudgeConfig, Roles
from worksample.records import (
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    GradePayload,
    Holistic,
    Pairwise,
    PairwiseChoice,
    Protocol,
    Round,
    Submission,
    Usage,
)

HELLO, INSULT = "Dear reader, it is 1.", "It is 1, you fool."


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return judged_bench(tmp_path)


def a_round(made: Bench, *texts: str, protocol: Protocol = Protocol.RUBRIC, overlap: int = 1) -> Round:
    ids = tuple(made.submit({"answer.txt": text} if text else {}).id for text in texts)
    return open_round(
        made.store, subjects=ids, protocol=protocol, author="test", asks=EvaluatorPanel(EvaluatorKind.JUDGE, overlap)
    )


def sensible(request: dict[str, Any], count: int) -> Answer:
    """Greets and insults are told from what is shown."""
    seen = read(request)
    work = seen.exhibits[0]
    word = "Dear" if "greets" in seen.words else "fool"
    return judged("yes", word, input_tokens=1000) if word in work else judged("no", "", None, input_tokens=1000)


async def evaluations(made: Bench, round: Round, found: Roles) -> list[Evaluation]:
    await grade_all(made.store, round, here=Evaluators(judges=judges(found)))
    return made.store.find(Evaluation, round=round.id)


async def test_rubric_asks_the_judges_leaves_one_by_one(made: Bench) -> None:
    round = a_round(made, HELLO, INSULT)
    with serving(sensible) as served:
        said = await evaluations(made, round, roles(served, made.store.blobs))
    by = {e.subject: e for e in said}
    grades = [by[id].payload for id in round.subjects]
    assert [[(p.name, p.fraction) for p in g.parts] for g in grades if isinstance(g, GradePayload)] == [
        [("polite", 1.0), ("rude", 1.0)], [("polite", 0.0), ("rude", 0.0)],
    ]  # fmt: skip
    assert len(served.requests) == 4
    one = read(served.requests[0])
    assert "Answer for March." in one.words
    assert "The answer greets its reader." in one.words
    assert "Look closely." in one.words
    assert "The answer is right." not in one.words
    first = by[round.subjects[0]]
    assert first.cost == pytest.approx(2 * (1000 * 10 + 20 * 10) / 1e6)
    assert Usage.model_validate(first.record["usage"]["judge"]).calls == 2
    assert all(made.store.blobs.has(d) for a in first.record["asked"] for c in a["calls"] for d in c.values())
    [evaluator] = made.store.find(Evaluator)
    assert (evaluator.name, evaluator.type) == (f"judge ({MODEL})", EvaluatorKind.JUDGE)


async def test_empty_submission_needs_no_question(made: Bench) -> None:
    with serving([judged("yes", "x")]) as served:
        [said] = await evaluations(made, a_round(made, ""), roles(served, made.store.blobs))
        [whole] = await evaluations(
            made, a_round(made, "", protocol=Protocol.HOLISTIC), roles(served, made.store.blobs)
        )
    assert isinstance(said.payload, GradePayload)
    assert [p.fraction for p in said.payload.parts] == [0.0, 1.0]
    assert isinstance(whole.payload, Holistic)
    assert whole.payload.score == 1
    assert not served.requests


async def test_holistic_judge_compares_with_the_reference(made: Bench) -> None:
    with serving([judged("2", "Dear reader", reason="as good")]) as served:
        [said] = await evaluations(
            made, a_round(made, HELLO, protocol=Protocol.HOLISTIC), roles(served, made.store.blobs)
        )
    assert isinstance(said.payload, Holistic)
    assert (said.payload.score, said.payload.justification) == (2, "as good")
    seen = read(served.requests[0])
    assert [text.splitlines()[0] for text in seen.exhibits] == ["| name: answer.txt"] * 2
    assert "Exhibit 2: text, of the reference, made by a person" in seen.words


async def test_contradicting_orders_of_a_pair_are_equal(made: Bench) -> None:
    round = a_round(made, HELLO, INSULT, protocol=Protocol.PAIRWISE)
    first, second = (made.store.get(Submission, id) for id in round.subjects)
    for answers, side in [
        ([judged("first", "is 1", 1)], PairwiseChoice.EQUAL),
        (prefers("Dear"), PairwiseChoice.FIRST),
    ]:
        with serving(answers) as served:
            judge = judges(roles(served, made.store.blobs, temperature=0.1 if side is PairwiseChoice.EQUAL else 0.2))(
                round
            )[0]
            done = await evaluate(made.store, round, first, made.instance, EvaluationPlace(judge, 1), second=second)
        assert done is not None
        assert done.second == second.id
        assert isinstance(done.payload, Pairwise)
        assert (done.payload.completion, done.payload.quality) == (side, side)
        assert len(served.requests) == 4


def prefers(word: str) -> Any:
    def choose(request: dict[str, Any], count: int) -> Answer:
        place = next(i for i, text in enumerate(read(request).exhibits) if word in text)
        return judged(("first", "second")[place], word, place + 1)

    return choose


async def test_panel_with_repeats_is_several_evaluators(made: Bench) -> None:
    round = a_round(made, HELLO, overlap=4)
    with serving(sensible) as served:
        panel = {"strict": JudgeConfig(model=(MODEL, OTHER), repeats=2, temperature=1.0)}
        said = await evaluations(made, round, roles(served, made.store.blobs, panel))
    assert len(said) == 4
    assert len({e.evaluator for e in said}) == 2
    assert {e.name for e in made.store.find(Evaluator)} == {f"strict ({MODEL})", f"strict ({OTHER})"}
    assert {r["model"] for r in served.requests} == {"judge-1", "judge-2"}


async def test_judge_is_the_same_evaluator_alone_and_in_a_panel(made: Bench) -> None:
    """Also where a store holds it under the bare name of its role, as it was called alone before."""
    alone, panel = a_round(made, HELLO), a_round(made, HELLO, overlap=2)
    with serving(sensible) as served:
        single = roles(served, made.store.blobs)
        [by] = judges(single)(alone)
        made.store.commit(by.evaluator.replaced(name="judge"))
        [first] = await evaluations(made, alone, single)
        many = roles(
            served, made.store.blobs, {"judge": JudgeConfig(model=(MODEL, OTHER), repeats=3, tries=1, calls=99)}
        )
        said = await evaluations(made, panel, many)
    assert first.evaluator in {e.evaluator for e in said}
    assert {e.name for e in made.store.find(Evaluator)} == {"judge", f"judge ({OTHER})"}


async def test_two_judges_with_one_name_are_two_evaluators(made: Bench) -> None:
    round = a_round(made, HELLO, overlap=2)
    with serving(sensible) as served:
        await evaluations(made, round, roles(served, made.store.blobs))
        said = await evaluations(made, round, roles(served, made.store.blobs, max_tokens=100))
    assert len({e.evaluator for e in said}) == 2
    assert {e.name for e in made.store.find(Evaluator)} == {f"judge ({MODEL})"}
    assert len({e.version for e in made.store.find(Evaluator)}) == 2


@pytest.mark.parametrize(
    ("answer", "cause", "asked"),
    [
        (judged("perhaps"), Cause.JUDGE_MALFORMED, 2),
        (judged("yes", "words that stand nowhere"), Cause.JUDGE_MALFORMED, 2),
        (says("{"), Cause.JUDGE_MALFORMED, 2),
        (Answer(refusal="no"), Cause.JUDGE_REFUSED, 2),
        (Answer(fault=Fault.LIMIT), Cause.JUDGE_ERROR, 1),
        (Answer(fault=Fault.BROKEN), Cause.JUDGE_ERROR, 1),
        (Answer(fault=Fault.NO_CHOICES), None, None),
    ],
)
async def test_failed_judge_gives_no_score(made: Bench, answer: Answer, cause: Cause | None, asked: int | None) -> None:
    with serving([answer]) as served:
        said = await evaluations(made, a_round(made, HELLO), roles(served, made.store.blobs, tries=2))
        assert len(said) == 1
        assert {e.outcome for e in said} == {EvaluationOutcome.FAILED}
        assert cause is None or {e.cause for e in said} == {cause}
        assert asked is None or len(served.requests) == asked
        assert all(e.record["asked"][-1]["failed"] for e in said)


async def test_judge_that_passes_everything_needs_evidence(made: Bench) -> None:
    with serving([judged("yes", "")]) as served:
        said = await evaluations(made, a_round(made, HELLO), roles(served, made.store.blobs))
    assert {(e.outcome, e.cause) for e in said} == {(EvaluationOutcome.FAILED, Cause.JUDGE_MALFORMED)}


async def test_spent_budget_waits_and_continues_when_raised(made: Bench) -> None:
    round = a_round(made, HELLO, INSULT)
    with serving(sensible) as served:
        first = await evaluations(made, round, roles(served, made.store.blobs, calls=3))
        assert sorted(str(e.cause) for e in first) == ["None", "judge.limit"]
        again = await evaluations(made, round, roles(served, made.store.blobs, calls=3))
        assert len(again) == 2
        said = await evaluations(made, round, roles(served, made.store.blobs, calls=30))
        assert sum(e.outcome is EvaluationOutcome.GIVEN for e in said) == 2


async def test_earlier_spending_counts_against_caps(made: Bench) -> None:
    round = a_round(made, HELLO)
    with serving(sensible) as served:
        found = roles(served, made.store.blobs)
        [said] = await evaluations(made, round, found)
        fresh = roles(served, made.store.blobs)
        made.store.commit(round.replaced(id="whole", experiment="e", subjects=()), said.replaced(id="x", round="whole"))
        charge_earlier_spending(made.store, "e", fresh)
    assert fresh["judge"][0].spent.usage == found["judge"][0].spent.usage
    assert fresh["judge"][0].spent.usage.calls == 2


KILLED = """
import asyncio, sys
from grading.judging_material import judges, roles
from openai_server import Served
from worksample.grading import Evaluators, grade_all
from worksample.records import Round
from worksample.store import Store

store = Store.open(sys.argv[1])
found = roles(Served(None, sys.argv[2]), store.blobs)
asyncio.run(grade_all(store, store.get(Round, sys.argv[3]), parallel=1, here=Evaluators(judges=judges(found))))
"""


async def test_killed_round_continues(made: Bench) -> None:
    round = a_round(made, HELLO, INSULT, HELLO)
    with serving(sensible) as served:
        words = (KILLED, made.folder / "store", served.base_url, round.id)
        env = {"WORKSAMPLE_FAULT": "grade.commit:kill:2", "PATH": "/usr/bin:/bin"}
        done = await asyncio.to_thread(ended, "forking.code", *words, env=env)
        assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
        made.store.sync()
        assert len(made.store.find(Evaluation, round=round.id)) == 1
        said = await evaluations(made, round, roles(served, made.store.blobs))
    assert len(said) == 3
    assert {e.subject for e in said} == set(round.subjects)
    assert {e.outcome for e in said} == {EvaluationOutcome.GIVEN}


async def test_material_is_rendered_once_for_a_rubric(made: Bench) -> None:
    shown: list[str] = []

    async def counting(store: Any, manifest: str) -> Any:
        shown.append(manifest)
        return await as_text(store, manifest)

    round = a_round(made, HELLO)
    with serving(sensible) as served:
        [role] = roles(served, made.store.blobs)["judge"]
        here = Evaluators(judges=lambda round: (JudgeEvaluator(role, counting),))
        await grade_all(made.store, round, here=here)
    assert len(shown) == 1
    assert CRITERIA.count('by = "judge"') == len(served.requests)
