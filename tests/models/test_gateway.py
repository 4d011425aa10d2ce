"""The gateway as programs see it: providers' own clients, and malformed requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openai_server import Answer, Call, Fault, calls, says, serving
from worksample.background_services import supervise
from worksample.models import ModelService, resolve
from worksample.models.gateway import ModelGateway, Refusal
from worksample.models.gateway.gateway import ROUTES
from worksample.models.gateway.http_server import LARGEST

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")  # the engine's
MODEL = "openai-api/local/model-1"


@asynccontextmanager
async def gateway_of(answers: list[Answer], turns: int | None = None) -> AsyncIterator[tuple[ModelGateway, int, Any]]:
    """A gateway on a port of loopback."""
    with serving(answers) as served:
        gateway = ModelGateway(resolve(MODEL, ModelService(args=served.args, retries=0)), ("model-1", MODEL), turns)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await gateway.serve(reader, writer)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            yield gateway, server.sockets[0].getsockname()[1], served


async def raw(port: int, *pieces: bytes, ends: bool = True) -> bytes:
    """All that is answered to these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if ends:
            writer.write_eof()
        return await reader.read()
    except ConnectionError:
        return await reader.read()
    finally:
        writer.close()


def request(body: Any, path: str = "/v1/chat/completions", **headers: str) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(data)}\r\n{more}\r\n".encode() + data


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def asking(text: Any = "hi", **more: Any) -> dict[str, Any]:
    return {"model": "model-1", "messages": [{"role": "user", "content": text}], **more}


TOOL = {
    "name": "look",
    "description": "Looks",
    "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}},
}


@pytest.mark.parametrize("streamed", [False, True])
async def test_openai_client_completes_chats(streamed: bool) -> None:
    answers = [Answer(text="I look.", calls=(Call("look", {"x": 1}),), cached_tokens=40), says("It is ü.")]
    async with gateway_of(answers) as (_, port, served):
        client = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="x", max_retries=0)
        tools: Any = [{"type": "function", "function": TOOL}]
        messages: Any = [{"role": "user", "content": "What is it?"}]
        for _ in range(2):
            if streamed:
                async with client.chat.completions.stream(
                    model="model-1", messages=messages, tools=tools, stream_options={"include_usage": True}
                ) as stream:
                    done: Any = await stream.get_final_completion()
            else:
                done = await client.chat.completions.create(model="model-1", messages=messages, tools=tools)
            message = done.choices[0].message
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            for call in message.tool_calls or ():
                assert json.loads(call.function.arguments) == {"x": 1}
                assert done.choices[0].finish_reason == "tool_calls"
                assert done.usage.prompt_tokens_details.cached_tokens == 40
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "blue"})
        assert message.content == "It is ü."
        assert [m["role"] for m in served.requests[1]["messages"]] == ["user", "assistant", "tool"]
        assert [m.id for m in (await client.models.list()).data] == ["model-1", MODEL]
        await client.close()


@pytest.mark.parametrize("streamed", [False, True])
async def test_openai_client_gets_responses(streamed: bool) -> None:
    answers = [Answer(calls=(Call("look", {"x": 1}), Call("apply", {"input": "a patch"}))), says("It is blue.")]
    async with gateway_of(answers) as (_, port, served):
        client = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="x", max_retries=0)
        tools: Any = [{"type": "function", "strict": False, **TOOL}, {"type": "custom", "name": "apply"},
                      {"type": "web_search"}]  # fmt: skip
        items: Any = [{"role": "user", "content": "What is it?"}]
        for _ in range(2):
            if streamed:
                async with client.responses.stream(model="model-1", input=items, tools=tools) as stream:
                    done: Any = await stream.get_final_response()
            else:
                done = await client.responses.create(model="model-1", input=items, tools=tools)
            items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in done.output]
            for item in done.output:
                if item.type == "function_call":
                    items.append({"type": "function_call_output", "call_id": item.call_id, "output": "blue"})
                if item.type == "custom_tool_call":
                    assert item.input == "a patch"
                    items.append({"type": "custom_tool_call_output", "call_id": item.call_id, "output": "applied"})
        assert done.output_text == "It is blue."
        assert done.status == "completed"
        assert done.usage.output_tokens == 20
        assert [m["role"] for m in served.requests[1]["messages"]] == ["user", "assistant", "tool", "tool"]
        assert {t["function"]["name"] for t in served.requests[0]["tools"]} == {"look", "apply"}
        await client.close()


@pytest.mark.parametrize("name", ["look", "space__look"])
async def test_namespaced_tool_keeps_its_full_name_both_ways(name: str) -> None:
    space = name.rpartition("__")[0]
    tool = {"type": "function", **TOOL}
    given = [{"type": "namespace", "name": space, "tools": [tool]}] if space else [tool]
    async with gateway_of([calls(name, x=1), says("done")]) as (_, port, served):
        first = {"model": "model-1", "input": "look", "tools": given}
        call = json.loads((await raw(port, request(first, "/v1/responses"))).partition(b"\r\n\r\n")[2])["output"][0]
        assert (call["name"], call.get("namespace", "")) == ("look", space)
        told = {"type": "function_call_output", "call_id": call["call_id"], "output": "seen"}
        then = [{"role": "user", "content": "look"}, {**call, "arguments": call["arguments"]}, told]
        assert status(await raw(port, request({**first, "input": then}, "/v1/responses"))) == 200
        one, two = served.requests
        assert one["tools"][0]["function"]["name"] == name
        assert two["messages"][1]["tool_calls"][0]["function"]["name"] == name


async def test_malformed_request_is_refused_in_the_dialect() -> None:
    wrong = [
        (request(asking(model="gpt-9")), 404),
        (request({"contents": [{"parts": [{"text": "hi"}]}]}, "/v1beta/models/gpt-9:generateContent"), 404),
        (request({**asking(), "max_tokens": 5, "model": "claude"}, "/v1/messages"), 404),
        (request(b"{broken"), 400),
        (request(b"\xff\xfe"), 400),
        (request(b"[" * 200_000), 400),
        (request(b"[]"), 400),
        (request({}), 400),
        (request(asking([{"type": "input_audio"}])), 400),
        (request(asking([{"type": "image_url", "image_url": {"url": "http://169.254.169.254/"}}])), 400),
        (request(asking(temperature="hot")), 400),
        (
            request(asking(tools=[{"type": "function", "function": {"name": "x", "parameters": {"type": "array"}}}])),
            400,
        ),
        (request({**asking(), "messages": [{"role": "emperor", "content": "x"}]}), 400),
        (request({"model": "model-1", "messages": []}, "/v1/messages"), 400),
        (request({"model": "model-1", "input": [{"type": "item_reference", "id": "x"}]}, "/v1/responses"), 400),
        (request({"model": "model-1", "input": "x", "previous_response_id": "y"}, "/v1/responses"), 400),
        (request(asking(), Content_Encoding="zstd"), 415),
        (request(asking(), "/v1/embeddings"), 404),
        (b"DELETE /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"SSH-2.0-x\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        (f"POST /v1/messages HTTP/1.1\r\nContent-Length: {LARGEST + 1}\r\n\r\n".encode(), 413),
        (b"POST /v1/messages HTTP/1.1\r\nX: " + b"y" * 200_000, 431),
    ]
    async with gateway_of([says("hi")]) as (gateway, port, served):
        for sent, expected in wrong:
            answer = await raw(port, sent)
            assert status(answer) == expected, (sent[:80], answer)
            body = json.loads(answer.partition(b"\r\n\r\n")[2])
            assert body["error"]["message"]
        assert served.requests == []
        assert (gateway.served, gateway.failure.error) == (0, None)
        good = await raw(port, request(asking()) + request(asking("again")))
        assert good.count(b"HTTP/1.1 200") == 2


async def test_ten_megabytes_are_accepted_and_many_at_once_are_not() -> None:
    big = request(asking("x" * (10 << 20)))
    async with gateway_of([says("hi")]) as (gateway, port, _):
        assert status(await raw(port, big)) == 200
        gateway.http.held = gateway.http.limits.held_bytes
        assert status(await raw(port, request(asking()))) == 429
        gateway.http.held = 0
        chunks = b"POST /v1/chat/completions HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
        body = json.dumps(asking()).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(chunks)
        assert (await reader.readline()).startswith(b"HTTP/1.1 100")
        writer.write(f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n")
        assert await reader.readline() == b"\r\n"
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_spent_budget_refuses_further_requests() -> None:
    async with gateway_of([calls("look", x=1)], turns=2) as (gateway, port, served):
        answers = [status(await raw(port, request(asking()))) for _ in range(4)]
        assert answers == [200, 200, 429, 429]
        assert len(served.requests) == 2
        with pytest.raises(Exception, match="all of its 2 steps"):
            await supervise(asyncio.sleep(60), gateway.failure)


@pytest.mark.parametrize(
    ("fault", "code", "cause"),
    [(Fault.LIMIT, 429, "model.error"), (Fault.FORBIDDEN, 401, "model.key"), (Fault.REJECTED, 400, None)],
)
async def test_service_fault_ends_the_work_and_program_fault_does_not(
    fault: Fault, code: int, cause: str | None
) -> None:
    async with gateway_of([Answer(fault=fault)]) as (gateway, port, _):
        assert status(await raw(port, request(asking()))) == code
        assert getattr(gateway.failure.error, "cause", None) == cause


BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["model", "messages", "input", "contents", "role", "content", "type", "text", "tools", "function", "name",
             "parameters", "tool_calls", "parts", "functionCall", "system", "max_tokens", "id", "call_id", "image_url"]
        ),
        inner | st.sampled_from(["user", "assistant", "tool", "text", "function", "message", "model-1"]),
        max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


@given(BODIES, st.sampled_from(ROUTES))
def test_any_request_is_read_or_refused(body: Any, route: Any) -> None:
    if not isinstance(body, dict):
        body = {"messages": [body], "input": [body], "contents": [body], "model": "model-1", "max_tokens": 1}
    end, dialect = route
    try:
        asked = dialect.read(body, f"/v1/models/model-1{end}")
    except (Refusal, ValueError):
        return
    first = [message.id for message in asked.numbered()]
    assert [message.id for message in dialect.read(body, f"/v1/models/model-1{end}").numbered()] == first
    assert len(set(first)) == len(first)


def test_every_dialect_reports_errors_like_its_provider() -> None:
    told = {dialect.name: dialect.fault(429, "slow down", "rate_limit_error") for _, dialect in ROUTES}
    assert told["anthropic"] == {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    assert told["gemini"]["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert told["openai"]["error"]["message"] == "slow down"
