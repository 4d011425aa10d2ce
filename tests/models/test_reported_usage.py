"""Services that report tokens partly, not at all, or under other names: the reply stays valid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig

from openai_server import Answer, says, serving
from openai_server.dialects import CHAT, MESSAGES, RESPONSES, Dialect
from openai_server.faults import Reply, reply
from worksample.models import ModelService, Price, resolve
from worksample.models.request_account import ModelAccount
from worksample.records import Usage

DEAR = Price(input=1e6, output=1e6, cache_read=1e5)
WAYS: tuple[tuple[str, Dialect, bool, dict[str, Any]], ...] = (
    ("openai-api/local/m", CHAT, False, {}),
    ("openai-api/local/m", CHAT, True, {"stream": True}),
    ("openai/m", CHAT, False, {"responses_api": False}),
    ("openai/m", RESPONSES, False, {"responses_api": True}),
    ("openai/m", RESPONSES, True, {"responses_api": True, "streaming": True}),
    ("anthropic/claude-3-5-haiku-latest", MESSAGES, False, {"streaming": False}),
    ("anthropic/claude-3-5-haiku-latest", MESSAGES, True, {"streaming": True}),
)


def _events(dialect: Dialect, body: dict[str, Any], usage: Any) -> bytes:
    """An answer as server-sent events, written from the providers' references."""
    if dialect is CHAT:
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        said = {"index": 0, "delta": {"role": "assistant", "content": "hello there"}, "finish_reason": None}
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        told = {} if usage is None else {"usage": usage}
        chunks: list[Any] = [head | {"choices": [said]}, head | {"choices": [end]}, head | {"choices": []} | told]
        return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"
    if dialect is RESPONSES:
        events: list[Any] = [
            {"type": "response.created", "sequence_number": 0, "response": body | {"status": "in_progress"}},
            {"type": "response.completed", "sequence_number": 1, "response": body},
        ]
        return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)
    assert dialect.streamed is not None
    whole = dialect.streamed(body | {"usage": {"output_tokens": 0}}).decode()
    text = "null" if usage is None else json.dumps(usage)
    return whole.replace('"usage": {"output_tokens": 0}', f'"usage": {text}').encode()


def _answer(dialect: Dialect, usage: Any, stream: bool) -> Answer:
    body = dialect.body(says("hello there"), 0, "m")
    del body["usage"]
    if usage is not None:
        body["usage"] = usage
    if not stream:
        return reply(200, body)
    return Reply(status=200, content=_events(dialect, body, usage), headers={"Content-Type": "text/event-stream"})


async def _asked(way: tuple[str, Dialect, bool, dict[str, Any]], usage: Any) -> tuple[str, Usage]:
    name, dialect, stream, args = way
    with serving([_answer(dialect, usage, stream)]) as served:
        base = served.root if dialect is MESSAGES else served.base_url
        service = ModelService(args=served.args | args | {"base_url": base}, retries=0, prices={name: DEAR})
        account = ModelAccount({name: DEAR})
        with account.current():
            output = await resolve(name, service).generate("hi", config=GenerateConfig(max_tokens=50))
        assert bool(served.requests[-1].get("stream")) is stream
        return output.completion, account.close_total()


@pytest.mark.parametrize("usage", [None, {}, {"nonsense": 1}], ids=["missing", "empty", "nonsense"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way[0].split('/')[0]}-{way[1] is RESPONSES}-{way[2]}")
async def test_reply_without_counts_is_kept_and_estimated(
    way: tuple[str, Dialect, bool, dict[str, Any]], usage: Any
) -> None:
    said, used = await _asked(way, usage)
    assert said == "hello there"
    assert (used.calls, used.estimated, used.priced) == (1, 1, False)
    assert used.input_tokens > 0
    assert used.output_tokens > 0


@pytest.mark.parametrize("way", [way for way in WAYS if way[1] is not MESSAGES], ids=lambda way: f"{way[0]}-{way[2]}")
async def test_missing_total_is_the_sum(way: tuple[str, Dialect, bool, dict[str, Any]]) -> None:
    names = ("input_tokens", "output_tokens") if way[1] is RESPONSES else ("prompt_tokens", "completion_tokens")
    said, used = await _asked(way, dict(zip(names, (100, 20), strict=True)))
    assert (said, used.input_tokens, used.output_tokens, used.estimated) == ("hello there", 100, 20, 0)
    assert used.cost == 120


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40},
        {"prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40, "prompt_tokens_details": {"cached_tokens": 60}},
        {"cached_tokens": 60},
        {"cached_tokens": 60, "prompt_tokens_details": {"cached_tokens": 0}},
        {"cached_tokens": 60, "prompt_tokens_details": None},
        {"cache_read_input_tokens": 60},
        {"num_cached_tokens": 60},
        {"input_tokens_details": {"cached_tokens": 60}},
        {"prompt_tokens_details": {"cached_tokens": 60}},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", WAYS[:3], ids=lambda way: f"{way[0]}-{way[2]}")
async def test_cached_tokens_are_read_under_each_services_name(
    way: tuple[str, Dialect, bool, dict[str, Any]], usage: Mapping[str, Any]
) -> None:
    _, used = await _asked(way, {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120} | dict(usage))
    assert (used.input_tokens, used.cache_read_tokens, used.output_tokens) == (40, 60, 20)
    assert used.cost == pytest.approx(66)
    assert used.priced


async def test_cache_writes_and_separate_counts_are_read() -> None:
    told = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    _, used = await _asked(WAYS[0], told | {"cache_read_input_tokens": 60, "cache_creation_input_tokens": 30})
    assert (used.input_tokens, used.cache_read_tokens, used.cache_write_tokens) == (10, 60, 30)
    _, used = await _asked(WAYS[0], told | {"prompt_tokens": 40, "prompt_tokens_details": {"cached_tokens": 60}})
    assert (used.input_tokens, used.cache_read_tokens) == (40, 60)
    parts = {"completion_tokens": 20, "prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40}
    _, used = await _asked(WAYS[0], parts)
    assert (used.input_tokens, used.cache_read_tokens, used.estimated) == (40, 60, 0)
