"""Usage of requests, compared with the log of the service that received them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from copy import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openai_server import Answer, Fault, says, serving
from openai_server.faults import Reply, reply
from worksample.models import ModelService, Price, add_priced_usage, resolve
from worksample.models.request_account import UNKNOWN_ANSWER, CallLimit, ModelAccount, add_usage
from worksample.records import Usage

MODEL = "openai-api/local/model-1"
PRICES = {MODEL: Price(input=1.0, output=10.0)}
ASKED = "What is it?"
EACH = (100 * 1.0 + 20 * 10.0) / 1e6
"""What a call takes that the service counts as usual."""
SOON = {"Retry-After": "0"}


def model_at(args: dict[str, Any], *, retries: int = 0, **generation: Any) -> Any:
    return resolve(MODEL, ModelService(args=args, retries=retries, prices=PRICES), generation)


def without_usage(**usage: Any) -> Reply:
    """A completion that says nothing of tokens, or what `usage` says."""
    body = says("It is a cat.").body(0, "model-1")
    del body["usage"]
    return reply(200, body | ({"usage": usage} if usage else {}))


async def ask_once(answer: Any) -> tuple[Usage, int]:
    """What one call took, and how many requests the service saw."""
    account = ModelAccount(PRICES)
    with serving([answer]) as served, account.current():
        with contextlib.suppress(Exception):  # what it raises is another test's
            await model_at(served.args).generate(ASKED)
        return account.close_total(), len(served.requests)


async def test_every_answered_call_is_settled_at_its_price() -> None:
    account = ModelAccount(PRICES)
    with serving([says("a cat", cached_tokens=40)]) as served, account.current():
        for _ in range(3):
            await model_at(served.args).generate(ASKED)
    used = account.close_total()
    assert (used.calls, used.requests, used.priced) == (3, 3, True)
    assert (used.input_tokens, used.cache_read_tokens, used.output_tokens) == (180, 120, 60)
    assert used.cost == used.cost_at_most == pytest.approx(3 * (100 * 1.0 + 20 * 10.0) / 1e6)
    assert used.cached_as_input == 3


FATES: dict[str, tuple[Any, tuple[int, int, int]]] = {
    "400": (Answer(fault=Fault.REJECTED), (0, 1, 0)),
    "401": (Answer(fault=Fault.FORBIDDEN), (0, 1, 0)),
    "429": (Answer(fault=Fault.LIMIT), (0, 1, 0)),
    "503": (Reply(status=503, content=b"{}", headers=SOON), (0, 1, 0)),
    "500": (Reply(status=500, content=b"{}", headers=SOON), (0, 0, 1)),
    "504": (Reply(status=504, content=b"{}", headers=SOON), (0, 0, 1)),
    "no JSON": (Answer(fault=Fault.NOT_JSON), (1, 0, 0)),
    "no choices": (Answer(fault=Fault.NO_CHOICES), (1, 0, 0)),
}


@pytest.mark.parametrize("name", FATES)
async def test_unanswered_request_is_free_unsettled_or_estimated(name: str) -> None:
    answer, counts = FATES[name]
    used, seen = await ask_once(answer)
    assert (used.calls, used.failed, used.unsettled) == counts
    assert used.requests == seen == 1  # nothing below repeats it
    assert used.priced is (counts[1] > 0 or (name == "no choices"))
    assert used.cost_at_most is not None


@pytest.mark.parametrize("provider", ["openai", "openai-api/local", "anthropic"])
async def test_provider_clients_repeat_no_request_by_themselves(provider: str) -> None:
    """Also one that the provider made anew, as after a fault of the connection."""
    with serving([Answer(fault=Fault.BROKEN)]) as served:
        base = served.root if provider == "anthropic" else served.base_url
        args: dict[str, Any] = {"base_url": base, "api_key": "none"}
        if provider == "openai":
            args["responses_api"] = False  # else Inspect asks once whether the service has it
        model = resolve(f"{provider}/model-1", ModelService(args=args, retries=0))
        for number in (1, 2):
            with contextlib.suppress(Exception):  # what it raises is another test's
                await model.generate(ASKED)
            assert len(served.requests) == number
            model.api.initialize()


async def test_broken_off_response_is_unsettled() -> None:
    used, seen = await ask_once(Answer(text="x" * 5_000, fault=Fault.CUT))
    assert (used.unsettled, used.requests, used.priced) == (seen, seen, False)


async def test_unreachable_service_costs_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    account = ModelAccount(PRICES)
    with account.current(), pytest.raises(Exception, match="onnect"):
        await model_at({"base_url": f"http://127.0.0.1:{port}/v1", "api_key": "none"}).generate(ASKED)
    used = account.close_total()
    assert (used.calls, used.unsettled, used.cost, used.priced) == (0, 0, 0.0, True)
    assert used.failed >= 1


class Held:
    """Answers that wait until they are let go."""

    def __init__(self) -> None:
        self.came, self.free = threading.Semaphore(0), threading.Event()

    def __call__(self, request: dict[str, Any], count: int) -> Answer:
        self.came.release()
        self.free.wait(30)
        return says("late")


async def test_abandoned_call_is_followed_to_its_end() -> None:
    held, account = Held(), ModelAccount(PRICES)
    with serving(held) as served, account.current():
        model = model_at(served.args)
        calls = [asyncio.ensure_future(model.generate(ASKED)) for _ in range(3)]
        for _ in calls:
            await asyncio.to_thread(held.came.acquire)
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        held.free.set()
        lost = await account.settle()
    assert (lost.calls, lost.unsettled, lost.priced, len(served.requests)) == (3, 0, True, 3)
    assert lost.cost == pytest.approx(3 * (100 * 1.0 + 20 * 10.0) / 1e6)


async def test_unreported_usage_counts_as_the_possible_maximum() -> None:
    held, account = Held(), ModelAccount(PRICES)
    with serving(held) as served, account.current():
        call = asyncio.ensure_future(model_at(served.args, max_tokens=500).generate(ASKED))
        await asyncio.to_thread(held.came.acquire)
        call.cancel()
        await asyncio.wait([call])
        lost = await account.settle(0)
        held.free.set()
    assert (lost.calls, lost.unsettled, lost.priced, lost.cost) == (0, 1, False, None)
    assert lost.unsettled_tokens >= 500 + len(ASKED)
    assert lost.cost_at_most == lost.unsettled_cost
    assert lost.cost_at_most == pytest.approx((lost.unsettled_tokens - 500) / 1e6 + 500 * 10 / 1e6)


async def test_abandoned_call_still_reserves_its_part_of_the_budget() -> None:
    """Else a program that hangs up each time would pass it by as many calls as it makes."""
    held, account = Held(), ModelAccount(PRICES, cost=EACH / 2)
    with serving(held) as served, account.current():
        model = model_at(served.args, max_tokens=20)
        first = asyncio.ensure_future(model.generate(ASKED))
        await asyncio.to_thread(held.came.acquire)
        first.cancel()
        await asyncio.wait([first])
        second = asyncio.ensure_future(model.generate(ASKED))
        await asyncio.wait([second], timeout=0.2)
        assert len(served.requests) == 1
        held.free.set()
        await second
        assert (len(served.requests), account.total.calls) == (2, 2)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": 100, "completion_tokens": 0, "total_tokens": 100},
        {"prompt_tokens": -5, "completion_tokens": -5, "total_tokens": -10},
        {"prompt_tokens": 10**30, "completion_tokens": 1, "total_tokens": 10**30 + 1},
    ],
    ids=["none", "zeros", "no completion", "negative", "absurd"],
)
async def test_unreported_tokens_are_estimated_and_marked(usage: dict[str, Any]) -> None:
    used, _ = await ask_once(without_usage(**usage))
    assert (used.calls, used.estimated, used.priced) == (1, 1, False)
    assert used.input_tokens == usage["prompt_tokens"] if usage.get("prompt_tokens") == 100 else used.input_tokens >= 4
    assert 3 <= used.output_tokens <= 8
    assert used.cost_at_most == used.cost == pytest.approx((used.input_tokens + 10 * used.output_tokens) / 1e6)


async def _at_once(count: int, **limits: Any) -> tuple[int, list[Any], ModelAccount]:
    from inspect_ai.util import apply_limits, cost_limit, token_limit

    account = ModelAccount(PRICES, **limits)
    with serving([says("x")]) as served:
        model = model_at(served.args, max_tokens=20)
        held = [cost_limit(limits.get("cost")), token_limit(limits.get("tokens"))]
        with account.current(), apply_limits(held, catch_errors=True):
            done = await asyncio.gather(*(model.generate(ASKED) for _ in range(count)), return_exceptions=True)
        return len(served.requests), done, account


@pytest.mark.parametrize(
    ("reasoning", "estimated"), [({"reasoning_tokens": 94}, 0), ({}, 1), ({"reasoning_tokens": 9}, 1)]
)
async def test_reasoning_tokens_in_the_total_only_are_paid_for(reasoning: dict[str, int], estimated: int) -> None:
    told = {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135, "completion_tokens_details": reasoning}
    used, _ = await ask_once(without_usage(**told))
    assert (used.input_tokens, used.output_tokens, used.estimated) == (32, 103, estimated)
    assert used.cost == pytest.approx((32 * 1.0 + 103 * 10.0) / 1e6)
    assert used.priced == (not estimated)


@pytest.mark.parametrize("limits", [{"cost": 0.0001}, {"tokens": 100}], ids=["cost", "tokens"])
async def test_fifty_concurrent_calls_do_not_exceed_a_budget_for_one(limits: dict[str, Any]) -> None:
    from inspect_ai.util import LimitExceededError

    seen, done, account = await _at_once(50, **limits)
    assert (seen, account.total.requests) == (1, 1)
    assert all(isinstance(one, LimitExceededError) for one in done)


async def test_calls_run_concurrently_within_the_budget_and_stop_one_past_it() -> None:
    each = 300 / 1e6
    seen, _, account = await _at_once(40, cost=10.5 * each)
    assert (seen, account.total.calls) == (11, 11)
    assert account.total.cost == pytest.approx(11 * each)


def test_model_copied_for_a_role_calls_under_its_own_name() -> None:
    """The engine copies models to give them roles."""
    model = model_at({"base_url": "http://127.0.0.1:9/v1", "api_key": "none"})
    clone = copy(model)
    clone._set_role("critic")
    assert clone.generate.__self__ is clone
    assert (clone.role, model.role, str(clone)) == ("critic", None, MODEL)


def test_response_of_unknown_length_is_reserved_at_the_maximum() -> None:
    assert CallLimit(10, None, PRICES[MODEL]).tokens == 10 + UNKNOWN_ANSWER
    assert CallLimit(10, 100).cost is None
    dearer = Price(input=1.0, output=1.0, cache_read=0.1, cache_write=1.25)
    assert CallLimit(1_000_000, 1_000_000, dearer).cost == pytest.approx(2.25)


COUNT = st.integers(0, 10)
USAGES = st.builds(
    Usage, calls=COUNT, input_tokens=COUNT, output_tokens=COUNT, unpriced=COUNT, failed=COUNT,
    unsettled=COUNT, unsettled_cost=st.none() | st.floats(0, 9), cost=st.none() | st.floats(0, 9), priced=st.booleans(),
)  # fmt: skip


@given(st.lists(USAGES, min_size=1, max_size=4))
def test_usages_add_up_in_any_order(parts: list[Usage]) -> None:
    def total(ordered: list[Usage]) -> Usage:
        out = Usage()
        for part in ordered:
            out = add_usage(out, part)
        return out

    one, other = total(parts), total(parts[::-1])
    assert one.replaced(cost=None, unsettled_cost=None) == other.replaced(cost=None, unsettled_cost=None)
    assert one.requests == sum(part.requests for part in parts)
    if one.cost_at_most is not None:
        assert one.cost_at_most >= (one.cost or 0.0)
        assert other.cost_at_most == pytest.approx(one.cost_at_most)


def test_priced_usage_stays_priced_if_nothing_is_added() -> None:
    known = Usage(calls=1, cost=1.0, priced=True)
    assert add_priced_usage(known, Usage(failed=1, cost=0.0, priced=True)).priced
    assert not add_priced_usage(known, Usage(unsettled=1, unsettled_cost=1.0)).priced
    assert add_priced_usage(known, Usage(unsettled=1)).cost_at_most is None
    assert Usage.model_validate({"calls": 2, "cost": None, "priced": False}).without_price  # as records of old have it


MIX: list[Any] = [
    says("a cat"), says("a cat", cached_tokens=40), says("late", delay=0.05), without_usage(),
    Answer(fault=Fault.LIMIT),
    Reply(status=500, content=b"{}", headers=SOON), Reply(status=503, content=b"{}", headers=SOON),
    Answer(fault=Fault.REJECTED), Answer(fault=Fault.NOT_JSON), Answer(fault=Fault.NO_CHOICES),
    Answer(text="x" * 5_000, fault=Fault.CUT),
]  # fmt: skip


async def _mixed(count: int, seed: int) -> None:
    """Calls of all kinds, some given up on their way: each request of the service's log is counted once."""
    random = Random(seed)
    account = ModelAccount(PRICES)
    with serving(lambda request, number: random.choice(MIX)) as served, account.current():
        model = model_at(served.args)
        model.api.client.max_retries = 1
        calls = [asyncio.ensure_future(model.generate(ASKED)) for _ in range(count)]
        while not all(call.done() for call in calls):
            await asyncio.wait(calls, timeout=0.05)
            for call in calls:
                if random.random() < 0.05:
                    call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await account.settle()
        total = account.total
    assert total.calls + total.unsettled <= len(served.requests) <= total.requests  # some failed before they arrived
    assert len(served.requests) > count / 10
    assert total.cost_at_most is not None and total.cost is not None
    assert total.cost_at_most >= total.cost
    assert total.estimated + total.unsettled == 0 or not total.priced


async def test_thirty_mixed_calls_agree_with_the_services_log() -> None:
    await _mixed(30, seed=1)


@pytest.mark.thorough(quick="models/test_usage_account.py::test_thirty_mixed_calls_agree_with_the_services_log")
@pytest.mark.parametrize("seed", range(5))
async def test_hundreds_of_mixed_calls_agree_with_the_services_log(seed: int) -> None:
    await _mixed(300, seed)
