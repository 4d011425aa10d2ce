"""Blame for a program's failed call: its own request, or the service behind the gateway."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig

from models.test_gateway import asking, gateway_of, raw, request, status
from openai_server import Answer, says
from openai_server.faults import reply
from worksample.errors import WorksampleError
from worksample.models import ModelService, resolve
from worksample.models.fault_attribution import QUESTION
from worksample.models.send_observer import NotSentError, observe
from worksample.models.service_wait_time import measure_waiting

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")  # the engine's
CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
GEMINI = "/v1beta/models/model-1:generateContent"
LONE = "\ud800"


def bodies(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The same words in each dialect."""
    return [
        (CHAT, asking(text)),
        (RESPONSES, {"model": "model-1", "input": text}),
        (MESSAGES, {"model": "model-1", "max_tokens": 5, "messages": [{"role": "user", "content": text}]}),
        (GEMINI, {"contents": [{"parts": [{"text": text}]}]}),
    ]


def refused(status: int) -> Answer:
    return reply(status, {"error": {"message": "not for you", "code": "content_policy"}})


@pytest.mark.parametrize("code", [400, 403, 404, 413, 422, 451])
async def test_request_rejected_by_a_working_service_goes_back(code: int) -> None:
    def choose(asked: dict[str, Any], count: int) -> Answer:
        return refused(code) if "TRIGGER" in json.dumps(asked) else says("ok")

    async with gateway_of(choose) as (gateway, port, _):
        for path, body in bodies("TRIGGER"):
            assert status(await raw(port, request(body, path))) == code
            assert gateway.failure.error is None
        assert status(await raw(port, request(asking("hi")))) == 200


async def test_forbidding_service_is_probed_and_ends_the_work() -> None:
    async with gateway_of([refused(403)]) as (gateway, port, served):
        assert status(await raw(port, request(asking("hi")))) == 403
        assert getattr(gateway.failure.error, "cause", None) == "model.refused"
        assert [one["messages"][-1]["content"] for one in served.requests] == ["hi", QUESTION]


async def test_probe_is_sent_once_for_many_forbidden_requests() -> None:
    def choose(asked: dict[str, Any], count: int) -> Answer:
        return says("yes") if QUESTION in json.dumps(asked) else refused(403)

    async with gateway_of(choose) as (gateway, port, served):
        for _ in range(5):
            assert status(await raw(port, request(asking("hi")))) == 403
        assert gateway.failure.error is None
        assert sum(QUESTION in json.dumps(one) for one in served.requests) == 1


UNSENT: dict[str, dict[str, Any]] = {
    "text": asking(LONE),
    "a stop word": asking(stop=[LONE]),
    "a tool's name": asking(tools=[{"type": "function", "function": {"name": LONE}}]),
    "a key of a schema": asking(
        tools=[{"type": "function", "function": {"name": "f", "parameters": {"properties": {LONE: {}}}}}]
    ),
    "a description": asking(tools=[{"type": "function", "function": {"name": "f", "description": LONE}}]),
    "a choice": asking(tool_choice={"type": "function", "function": {"name": LONE}}),
    "no number": asking(temperature=float("nan")),
    "no finite number": asking(top_p=float("inf")),
    "a number beyond all": asking(temperature=10**400),
    "an unhashable choice": asking(tool_choice=[1]),
    "a picture that is none": asking([{"type": "image_url", "image_url": {"url": "data:"}}]),
    "a path as a picture": asking([{"type": "image_url", "image_url": {"url": "data:/etc/passwd"}}]),
    "a picture of no data": asking([{"type": "image_url", "image_url": {"url": "data:image/png;base64,@@"}}]),
}


@pytest.mark.parametrize("name", UNSENT)
async def test_unsendable_request_is_refused(name: str) -> None:
    async with gateway_of([says("ok")]) as (gateway, port, served):
        assert status(await raw(port, request(UNSENT[name]))) == 400
        assert (gateway.failure.error, served.requests) == (None, [])


@pytest.mark.parametrize("raw_arguments", ['{"a": NaN}', '{"a": "\\ud800"}', '{"a":' + "[" * 600 + "]" * 600 + "}"])
async def test_unsendable_arguments_are_refused(raw_arguments: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": raw_arguments}}
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [call]}]
    async with gateway_of([says("ok")]) as (gateway, port, served):
        assert status(await raw(port, request({"model": "model-1", "messages": messages}))) == 400
        assert (gateway.failure.error, served.requests) == (None, [])


async def test_client_that_cannot_write_says_nothing_was_sent() -> None:
    """What no check of ours foresees: the provider's own client fails before it sends."""
    async with gateway_of([says("ok")]) as (gateway, _, served):
        stop = GenerateConfig(stop_seqs=[LONE])
        with observe() as seen, pytest.raises(NotSentError, match="cannot be written"):
            await gateway.model.generate("hi", config=stop)
        assert seen.failed_before_sending(ValueError())
        with observe() as seen:
            await gateway.model.generate("hi")
        assert seen.sent and not seen.failed_before_sending(ValueError())
        assert len(served.requests) == 1


async def test_client_that_fails_before_sending_is_no_service_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async with gateway_of([says("ok")]) as (gateway, port, _):
        monkeypatch.setattr("worksample.models.gateway.request_reader.check_sendable", lambda body: None)
        assert status(await raw(port, request(asking(stop=[LONE])))) == 400
        assert gateway.failure.error is None


async def test_unreachable_service_is_to_blame() -> None:
    async with gateway_of([says("ok")]) as (gateway, port, _):
        gateway.model = resolve(
            "openai-api/local/gone", ModelService(args={"base_url": "http://127.0.0.1:9/v1", "api_key": "k"}, retries=0)
        )
        assert status(await raw(port, request(asking()))) == 500
        assert isinstance(gateway.failure.error, WorksampleError)
        assert gateway.failure.error.cause == "model.error"


def test_program_sleeping_after_a_rejection_waits_for_no_service() -> None:
    from datetime import UTC, datetime, timedelta

    from inspect_ai.event import ModelEvent
    from inspect_ai.model import GenerateConfig, ModelOutput

    from worksample.models.service_wait_time import excuse

    begun = datetime(2026, 1, 1, tzinfo=UTC)
    call = ModelEvent(
        model="m", input=[], tools=[], tool_choice="auto", config=GenerateConfig(), output=ModelOutput(), error="400",
        timestamp=begun,
    )  # fmt: skip
    end = begun + timedelta(seconds=60)
    assert measure_waiting([call], end).is_services_fault(60)
    excuse(call)
    assert not measure_waiting([call], end).is_services_fault(60)
