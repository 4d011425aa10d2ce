"""Settings of programs reach the model in each dialect, and replies have the provider's form."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, Logprob, Logprobs, ModelOutput
from inspect_ai.tool import ToolCall

from models.test_gateway import asking, gateway_of, raw, request
from openai_server import Answer, Call, says
from worksample.models.gateway import Refusal
from worksample.models.gateway.conversation_memory import MOST_NOTES, note_settings
from worksample.models.gateway.dialects import anthropic, gemini, openai_chat, openai_responses
from worksample.models.gateway.request import ModelRequest

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")  # the engine's
GEMINI = "/v1beta/models/m:generateContent"
OBJECT = {"type": "object", "properties": {"x": {"type": "integer"}}}
MESSAGE: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x"}]}


def generate(config: dict[str, Any], **rest: Any) -> ModelRequest:
    return gemini.DIALECT.read({"contents": [{"parts": [{"text": "x"}]}], "generationConfig": config, **rest}, GEMINI)


FORMS: dict[str, ModelRequest] = {
    "chat": openai_chat.DIALECT.read(
        CHAT | {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": OBJECT}}}, "/"
    ),
    "responses": openai_responses.DIALECT.read(
        {"model": "m", "input": "x", "text": {"format": {"type": "json_schema", "name": "a", "schema": OBJECT}}}, "/"
    ),
    "messages": anthropic.DIALECT.read(
        MESSAGE | {"output_config": {"format": {"type": "json_schema", "schema": OBJECT}}}, "/"
    ),
    "messages, as it was": anthropic.DIALECT.read(
        MESSAGE | {"output_format": {"type": "json_schema", "schema": OBJECT}}, "/"
    ),
    "gemini": generate({"responseMimeType": "application/json", "responseJsonSchema": OBJECT}),
    "gemini's own": generate({"response_schema": {"type": "OBJECT", "properties": {"x": {"type": "INTEGER"}}}}),
}


@pytest.mark.parametrize("name", FORMS)
def test_response_format_is_passed_on(name: str) -> None:
    form = FORMS[name].config.response_schema
    assert form is not None
    assert form.json_schema.model_dump(exclude_none=True) == OBJECT


def test_effort_and_budgets_are_passed_on() -> None:
    assert openai_chat.DIALECT.read(CHAT | {"reasoning_effort": "low"}, "/").config.reasoning_effort == "low"
    thinking = MESSAGE | {"thinking": {"type": "enabled", "budget_tokens": 2048}, "output_config": {"effort": "max"}}
    config = anthropic.DIALECT.read(thinking, "/").config
    assert (config.reasoning_tokens, config.effort) == (2048, "max")
    adaptive = MESSAGE | {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}
    assert anthropic.DIALECT.read(adaptive, "/").config.reasoning_effort == "low"
    alone = MESSAGE | {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
    assert anthropic.DIALECT.read(alone, "/").config.parallel_tool_calls is False
    assert generate({"thinkingConfig": {"thinkingBudget": 512}}).config.reasoning_tokens == 512
    assert generate({"thinking_config": {"thinking_level": "LOW"}}).config.reasoning_effort == "low"
    assert generate({"candidateCount": 3, "seed": 5, "presencePenalty": 1}).config.num_choices == 3


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"audio": {"voice": "x"}}, "audio"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"web_search_options": {}}, "web_search_options"),
        ({"reasoning_effort": "banana"}, "reasoning_effort"),
        ({"n": 1000}, "n"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": 10**12}, "max_completion_tokens"),
        ({"response_format": {"type": "xml"}}, "type"),
        ({"logit_bias": {"word": 1}}, "logit_bias"),
        ({"tool_choice": "sometimes"}, "tool_choice"),
    ],
)
def test_unsupported_settings_are_refused_by_name(setting: dict[str, Any], named: str) -> None:
    with pytest.raises(Refusal, match=named):
        openai_chat.DIALECT.read(CHAT | setting, "/")


def test_settings_without_effect_are_noted() -> None:
    asked = openai_chat.DIALECT.read(CHAT | {"metadata": {"a": "b"}, "user": "me", "min_p": 0.1, "store": None}, "/")
    assert sorted(asked.ignored_settings) == ["metadata", "min_p", "user"]
    hosted = openai_responses.DIALECT.read({"model": "m", "input": "x", "tools": [{"type": "web_search"}]}, "/")
    assert (hosted.tools, hosted.ignored_settings) == ([], ["tools: web_search"])


def test_each_setting_is_noted_once_up_to_a_limit() -> None:
    noted: set[str] = set()
    note_settings([f"setting {n}" for n in range(10 * MOST_NOTES)], noted)
    assert len(noted) == MOST_NOTES
    note_settings(["one more"], noted)
    assert len(noted) == MOST_NOTES


async def test_noted_setting_appears_in_the_transcript() -> None:
    from inspect_ai.event import InfoEvent
    from inspect_ai.log import transcript

    async with gateway_of([says("ok")]) as (_, port, _served):
        before = len(transcript().events)
        for _ in range(3):
            await raw(port, request(asking(metadata={"a": "b"})))
        told = [one for one in transcript().events[before:] if isinstance(one, InfoEvent) and one.source == "door"]
        assert [one.data for one in told] == [{"not passed on to the model": ["metadata"]}]


@pytest.mark.parametrize("streamed", [False, True])
async def test_settings_reach_the_service_by_openais_client(streamed: bool) -> None:
    async with gateway_of([says("{}")]) as (_, port, served):
        client = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="x", max_retries=0)
        form: Any = {"type": "json_schema", "json_schema": {"name": "a", "schema": OBJECT, "strict": True}}
        tools: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
        done = await client.chat.completions.create(
            model="model-1", messages=[{"role": "user", "content": "x"}], response_format=form, seed=7, stop=["y"],
            frequency_penalty=0.5, presence_penalty=0.25, tools=tools, parallel_tool_calls=False, stream=streamed,
            reasoning_effort="low", logit_bias={"5": 1}, top_p=0.5,
        )  # fmt: skip
        if streamed:
            assert [piece async for piece in done]  # type: ignore[union-attr]
        sent = served.requests[0]
        assert sent["response_format"]["json_schema"]["schema"]["properties"] == OBJECT["properties"]
        assert (sent["seed"], sent["stop"], sent["frequency_penalty"], sent["top_p"]) == (7, ["y"], 0.5, 0.5)
        assert (sent["parallel_tool_calls"], sent["presence_penalty"]) == (False, 0.25)
        await client.close()


@pytest.mark.parametrize("streamed", [False, True])
async def test_legacy_functions_are_called(streamed: bool) -> None:
    answers = [Answer(calls=(Call("look", {"x": 1}),)), says("blue")]
    async with gateway_of(answers) as (_, port, served):
        client = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="x", max_retries=0)
        functions: Any = [{"name": "look", "parameters": OBJECT}]
        messages: Any = [{"role": "user", "content": "x"}]
        given: Any = {"model": "model-1", "functions": functions, "function_call": "auto"}
        if streamed:
            pieces = [p async for p in await client.chat.completions.create(messages=messages, stream=True, **given)]
            call = next(p.choices[0].delta.function_call for p in pieces if p.choices[0].delta.function_call)
            assert pieces[-1].choices[0].finish_reason == "function_call"
        else:
            done = await client.chat.completions.create(messages=messages, **given)
            call = done.choices[0].message.function_call
        assert (call.name, json.loads(call.arguments)) == ("look", {"x": 1})
        messages += [
            {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": call.arguments}},
            {"role": "function", "name": "look", "content": "it is blue"},
        ]
        await client.chat.completions.create(messages=messages, **given)
        assert [t["function"]["name"] for t in served.requests[0]["tools"]] == ["look"]
        assert [m["role"] for m in served.requests[1]["messages"]] == ["user", "assistant", "tool"]
        assert served.requests[1]["messages"][1]["tool_calls"][0]["function"]["name"] == "look"
        await client.close()


def output(*texts: str) -> ModelOutput:
    logprobs = Logprobs(content=[Logprob(token="a", logprob=-0.5, top_logprobs=None)])
    return ModelOutput(
        model="m",
        choices=[ChatCompletionChoice(message=ChatMessageAssistant(content=t), logprobs=logprobs) for t in texts],
    )


def test_every_choice_comes_with_its_probabilities() -> None:
    done = openai_chat.DIALECT.answer(output("a", "b"), ModelRequest(model="m"))
    assert [one["message"]["content"] for one in done["choices"]] == ["a", "b"]
    assert done["choices"][1]["logprobs"]["content"][0]["token"] == "a"
    pieces = b"".join(openai_chat.DIALECT.stream(output("a", "b"), ModelRequest(model="m"))).split(b"\n\n")
    told = [json.loads(p[6:]) for p in pieces if p.startswith(b"data: {")]
    assert {choice["index"] for piece in told for choice in piece["choices"]} == {0, 1}
    google = gemini.DIALECT.answer(output("a", "b"), ModelRequest(model="m"))["candidates"]
    assert [one["content"]["parts"][0]["text"] for one in google] == ["a", "b"]
    assert google[0]["logprobsResult"]["chosenCandidates"] == [{"token": "a", "logProbability": -0.5}]
    [message] = openai_responses.DIALECT.answer(output("a"), ModelRequest(model="m"))["output"]
    assert message["content"][0]["logprobs"][0]["logprob"] == -0.5


def test_free_text_tool_is_called_with_text_in_chats_too() -> None:
    asked = openai_chat.DIALECT.read(CHAT | {"tools": [{"type": "custom", "custom": {"name": "apply"}}]}, "/")
    calls = [ToolCall(id="c", function="apply", arguments={"input": "a patch"})]
    message = ChatMessageAssistant(content="", tool_calls=calls)
    done = openai_chat.DIALECT.answer(ModelOutput(model="m", choices=[ChatCompletionChoice(message=message)]), asked)
    [call] = done["choices"][0]["message"]["tool_calls"]
    assert call == {"id": "c", "type": "custom", "custom": {"name": "apply", "input": "a patch"}}
    back = openai_chat.DIALECT.read(CHAT | {"messages": [{"role": "assistant", "tool_calls": [call]}]}, "/")
    assert back.messages[0].tool_calls[0].arguments == {"input": "a patch"}  # type: ignore[union-attr]


def test_choice_among_some_tools_shows_only_these() -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in "abc"]
    some = {"mode": "required", "tools": [{"type": "function", "function": {"name": n}} for n in "ab"]}
    asked = openai_chat.DIALECT.read(
        CHAT | {"tools": tools, "tool_choice": {"type": "allowed_tools", "allowed_tools": some}}, "/"
    )
    assert ([one.name for one in asked.tools], asked.choice) == (["a", "b"], "any")
    declared = [{"function_declarations": [{"name": name} for name in "abc"]}]
    config = {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["b", "c"]}}
    google = generate({}, tools=declared, tool_config=config)
    assert ([one.name for one in google.tools], google.choice) == (["b", "c"], "any")


def test_url_safe_base64_becomes_plain_base64() -> None:
    asked = gemini.DIALECT.read(
        {"contents": [{"parts": [{"inline_data": {"mime_type": "image/png", "data": "_-8"}}]}]}, GEMINI
    )
    assert asked.messages[0].content[0].image == "data:image/png;base64,/+8="  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["application/pdf", "audio/wav", "video/mp4", "text/plain"])
def test_files_of_other_kinds_are_passed_on(kind: str) -> None:
    asked = gemini.DIALECT.read({"contents": [{"parts": [{"inlineData": {"mimeType": kind, "data": "AAAA"}}]}]}, GEMINI)
    assert f"data:{kind};base64,AAAA" in asked.messages[0].model_dump_json()
