"""A judge's caps hold over concurrent callers, and all of its usage is counted."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from openai_server import Answer, Fault, judged, says, serving
from worksample.errors import ColleagueError, JudgeError
from worksample.files import HashSink
from worksample.models import JudgeConfig, ModelService, Price, ask_judge, judges_of, yes_no
from worksample.models.judge_config import JudgeSpending, ModelRole
from worksample.models.role_play_reply import Turn, generate_turn
from worksample.records import Usage

MODEL = "openai-api/local/judge-1"
PRICES = {MODEL: Price(input=1.0, output=10.0)}
EACH = (100 * 1.0 + 20 * 10.0) / 1e6
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")  # the engine's


def role_at(args: dict[str, Any], **config: Any) -> ModelRole:
    service = ModelService(args=args, prices=PRICES, retries=0)
    given = JudgeConfig(model=MODEL, max_tokens=20, **config)
    return judges_of({"judge": given}, {}, service, HashSink())["judge"][0]


async def asked_at_once(count: int, answer: Any, **config: Any) -> tuple[ModelRole, list[Any], int]:
    with serving(answer) as served:
        role = role_at(served.args, **config)
        done = await asyncio.gather(*(ask_judge(role, yes_no("Is it?")) for _ in range(count)), return_exceptions=True)
        return role, done, len(served.requests)


async def test_twenty_concurrent_questions_do_not_exceed_a_cost_for_one() -> None:
    role, done, requests = await asked_at_once(20, [judged("yes", "", None)], cost=EACH / 2, tries=1)
    assert (requests, role.spent.usage.calls, role.spent.under_way, role.spent.reserved) == (1, 1, 0, 0.0)
    refused = [one for one in done if isinstance(one, JudgeError)]
    assert len(refused) == 19 and "is used up" in refused[0].what


async def test_questions_run_concurrently_within_the_cap() -> None:
    met = threading.Barrier(3)

    def together(request: dict[str, Any], _: int) -> Answer:
        met.wait(30)  # answered only once three are there
        return judged("yes", "", None)

    role, done, requests = await asked_at_once(3, together, cost=100.0, tries=1)
    assert (requests, role.spent.usage.calls) == (3, 3)
    assert not any(isinstance(one, BaseException) for one in done)


async def test_threads_share_a_cap() -> None:
    spent, config = JudgeSpending(), JudgeConfig(model=MODEL, cost=1.0)
    await spent.begin("judge", config, 0.9)
    began = threading.Event()

    def other() -> None:
        asyncio.run(spent.begin("judge", config, 0.9))
        began.set()

    thread = threading.Thread(target=other)
    thread.start()
    assert not began.is_set()
    spent.end(Usage(calls=1, cost=0.5, priced=True), 0.9)
    thread.join(30)
    assert began.is_set() and spent.under_way == 1
    spent.end(Usage(calls=1, cost=0.6, priced=True), 0.9)
    with pytest.raises(JudgeError, match=r"budget of 1 \(cost\) is used up"):
        await spent.begin("judge", config, 0.1)


async def test_spending_of_others_counts_if_larger() -> None:
    spent = JudgeSpending(Usage(calls=2, cost=0.2, priced=True))
    spent.raise_to(Usage(calls=1, cost=0.1, priced=True))
    assert spent.usage.calls == 2
    spent.raise_to(Usage(calls=5, cost=0.5, priced=True))
    assert spent.usage.calls == 5


@pytest.mark.parametrize(
    ("answer", "calls", "failed", "estimated"),
    # What is refused is asked once more, without a schema for its answer.
    [(Answer(fault=Fault.REJECTED), 0, 2, 0), (says("no JSON"), 1, 0, 0), (Answer(fault=Fault.NOT_JSON), 1, 0, 1)],
    ids=["refused", "malformed", "unreadable"],
)
async def test_judge_without_an_answer_is_paid_for(answer: Answer, calls: int, failed: int, estimated: int) -> None:
    with serving([answer]) as served:
        with pytest.raises(JudgeError) as raised:
            await ask_judge(role_at(served.args, tries=1), yes_no("Is it?"))
        seen = len(served.requests)
    used = raised.value.usage
    assert isinstance(used, Usage)
    assert (used.calls, used.failed, used.estimated, used.requests) == (calls, failed, estimated, seen)
    assert json.loads(json.dumps(raised.value.record))["usage"] == used.plain()


async def test_silent_colleague_is_paid_for() -> None:
    with serving([says("")]) as served:
        service = ModelService(args=served.args, prices=PRICES, retries=0)
        with pytest.raises(ColleagueError) as raised:
            await generate_turn(MODEL, service, "You are Ann.", [Turn("Hello", by="bob")], {})
    used = raised.value.usage
    assert isinstance(used, Usage)
    assert used.calls == 1 and used.cost == pytest.approx(EACH)
