"""A transcript as steps: messages, calls and results, each once, with their usage."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from inspect_ai.event import Event, ModelEvent, ToolEvent
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall, ToolCallError, ToolInfo

from runs.material import player
from worksample.files import HashSink
from worksample.models import Price
from worksample.runs.atif_trajectory import (
    NAME,
    TrajectoryWriter,
    _document_bytes,
    _final_metrics,
    _tool_definitions,
    write_trajectory,
)

BRIEF = [ChatMessageSystem(content="be brief", id="s"), ChatMessageUser(content="write", id="u")]
PNG = f"data:image/png;base64,{base64.b64encode(b'a picture').decode()}"


def called(
    *said: ChatMessage, answer: ChatMessageAssistant | None = None, role: str | None = None, **more: Any
) -> ModelEvent:
    output = ModelOutput(
        model="m/x",
        choices=[ChatCompletionChoice(message=answer)] if answer else [],
        usage=ModelUsage(input_tokens=10, output_tokens=5, input_tokens_cache_read=2, input_tokens_cache_write=1),
    )
    return ModelEvent(
        model="m/x", role=role, input=list(said), tools=[], tool_choice="auto", config=GenerateConfig(),
        output=output, **more,
    )  # fmt: skip


def says(text: str, *calls: ToolCall) -> ChatMessageAssistant:
    return ChatMessageAssistant(content=text, tool_calls=list(calls) or None)


def bash(id: str, **more: Any) -> ToolCall:
    return ToolCall(id=id, function="bash", arguments={"cmd": "ls"}, **more)


def steps(*events: Event) -> list[dict[str, Any]]:
    writer = TrajectoryWriter({"m/x": Price(input=1, output=1)})
    writer.add_events(events)
    return writer.steps


def test_messages_are_listed_once_and_replies_of_others_never() -> None:
    found = steps(
        called(*BRIEF, answer=says("first")),
        called(*BRIEF, answer=says("a judge's"), role="judge"),
        called(*BRIEF, answer=says("refused"), error="429"),
        called(*BRIEF, answer=says("under way"), pending=True),
        called(*BRIEF),
        called(*BRIEF, ChatMessageUser(content="go on", id="v"), answer=says("second")),
    )
    assert [(s["step_id"], s["source"], s["message"]) for s in found] == [
        (1, "system", "be brief"), (2, "user", "write"), (3, "agent", "first"), (4, "user", "go on"),
        (5, "agent", "second"),
    ]  # fmt: skip
    assert "tool_calls" not in found[2] and "observation" not in found[2] and "reasoning_content" not in found[2]
    assert found[2]["metrics"]["prompt_tokens"] == 13
    assert (found[2]["model_name"], found[2]["llm_call_count"]) == ("m/x", 1)
    assert found[2]["metrics"] | {"cost_usd": 0} == {
        "prompt_tokens": 13, "completion_tokens": 5, "cached_tokens": 2, "cost_usd": 0,
        "extra": {"cache_creation_input_tokens": 1, "cached_as_input": True},
    }  # fmt: skip


def test_step_has_the_time_when_its_reply_was_complete() -> None:
    asked, complete = (datetime(2026, 1, 1, 12, minute, tzinfo=UTC) for minute in (0, 7))
    [*_, first] = steps(called(*BRIEF, answer=says("first"), timestamp=asked, completed=complete))
    assert first["timestamp"] == complete.isoformat()
    told = steps(called(*BRIEF, answer=says("first"), timestamp=asked))
    assert {step["timestamp"] for step in told} == {asked.isoformat()}


def test_tools_are_those_of_the_agents_first_call() -> None:
    def offering(name: str, role: str | None = None) -> ModelEvent:
        tool = ToolInfo(name=name, description="does it")
        return called(*BRIEF, answer=says("x"), role=role).model_copy(update={"tools": [tool]})

    found = _tool_definitions([offering("judging", "judge"), offering("bash"), offering("later")])
    [tool] = found["tool_definitions"]
    assert (tool["type"], tool["function"]["name"], tool["function"]["description"]) == ("function", "bash", "does it")
    assert "None" not in str(tool)
    assert _tool_definitions([called(*BRIEF, answer=says("x"))]) == _tool_definitions([]) == {}


def test_results_are_at_their_calls() -> None:
    result = ToolEvent(id="1", function="bash", arguments={}, result="a.txt", pending=None)
    failed = ToolEvent(
        id="2", function="bash", arguments={}, result="", error=ToolCallError(type="timeout", message="too slow")
    )
    late = ToolEvent(id="3", function="bash", arguments={}, result="x", pending=True)
    calls = (bash("1"), bash("2"), bash("3", parse_error="no JSON"))
    answered = says("look", *calls)
    again = called(*BRIEF, ChatMessageTool(content="told later", tool_call_id="3"), answer=says("done"))
    twice = called(*BRIEF, ChatMessageTool(content="told later", tool_call_id="3"), answer=says("over"))
    found = steps(called(*BRIEF, answer=answered), result, failed, late, again, twice)
    looked = found[2]
    assert [c["tool_call_id"] for c in looked["tool_calls"]] == ["1", "2", "3"]
    assert ["extra" in c for c in looked["tool_calls"]] == [False, False, True]
    assert looked["observation"]["results"] == [
        {"source_call_id": "1", "content": "a.txt"},
        {"source_call_id": "2", "content": "too slow", "extra": {"error": "timeout"}},
        {"source_call_id": "3", "content": "told later"},
    ]
    assert [s["message"] for s in found[3:]] == ["done", "over"]


def test_pictures_are_beside_the_document_and_invalid_ones_reported() -> None:
    writer = TrajectoryWriter({})
    content = [ContentText(text="see"), ContentImage(image=PNG), ContentImage(image="data:image/png;base64,!")]
    message = ChatMessageUser(content=content, id="p")
    writer.add_events([called(message, answer=says("seen"))])
    assert writer.pictures == {"images/0001.png": b"a picture"}
    assert writer.steps[0]["message"] == [
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"media_type": "image/png", "path": "images/0001.png"}},
        {"type": "text", "text": "[a picture that was not stored]"},
    ]
    only = ChatMessageUser(content=[ContentText(text="a"), ContentText(text="b")], id="q")
    writer.add_events([called(only, ChatMessageUser(content=[ContentImage(image=PNG)], id="r"), answer=says("both"))])
    assert [s["message"] for s in writer.steps[2:]] == ["a\nb", "both"]
    assert len(writer.pictures) == 1


def test_reasoning_and_summaries_are_marked() -> None:
    thought = [ContentReasoning(reasoning="hm", summary="so"), ContentReasoning(reasoning="aha"), ContentText(text="x")]
    summary = ChatMessageUser(content="before: much", id="c", metadata={"summary": True})
    found = steps(called(*BRIEF, summary, answer=ChatMessageAssistant(content=thought)))
    assert found[2]["extra"] == {"context_management": "compaction"}
    assert ("extra" in found[1], found[3]["reasoning_content"], found[3]["message"]) == (False, "so\naha", "x")


def test_programs_own_words_are_steps_without_a_call() -> None:
    writer = TrajectoryWriter({})
    writer.add_messages([*BRIEF, ChatMessageAssistant(content="printed")])
    assert [(s["source"], s.get("llm_call_count")) for s in writer.steps] == [
        ("system", None), ("user", None), ("agent", 0),
    ]  # fmt: skip
    assert "timestamp" not in writer.steps[2]


def metrics(**more: float) -> dict[str, Any]:
    return {"metrics": {"prompt_tokens": 3, "completion_tokens": 2, "cached_tokens": 1, **more}}


@pytest.mark.parametrize(
    ("given", "cost"),
    [([metrics(cost_usd=1.0), {}, metrics(cost_usd=0.5)], 1.5), ([metrics(cost_usd=1.0), metrics()], None), ([], None)],
)
def test_totals_have_a_cost_if_every_call_has_one(given: list[dict[str, Any]], cost: float | None) -> None:
    total = _final_metrics(given)
    count = sum("metrics" in step for step in given)
    assert (total["total_prompt_tokens"], total["total_completion_tokens"]) == (3 * count, 2 * count)
    assert (total["total_cached_tokens"], total["total_steps"]) == (count, len(given))
    assert total.get("total_cost_usd") == cost


def test_numbers_that_json_lacks_are_text() -> None:
    assert json.loads(_document_bytes({"a": [1.5, float("nan")]})) == {"a": [1.5, "NaN"]}


def test_document_is_a_part_with_its_pictures() -> None:
    kept: dict[str, bytes] = {}

    class Kept(HashSink):
        def put(self, data: bytes) -> str:
            kept[digest := super().put(data)] = data
            return digest

    writer = TrajectoryWriter({})
    writer.add_events([called(ChatMessageUser(content=[ContentImage(image=PNG)], id="p"), answer=says("seen"))])
    ann = player("ann")
    part = write_trajectory(writer, Kept(), ann, {"trial": "t.1", "outcome": {"ending": "done"}})
    entries = {e["path"]: e for e in json.loads(kept[part.manifest])["entries"]}
    assert set(entries) == {"images/0001.png", NAME}
    assert (part.files, part.size) == (2, sum(e["size"] for e in entries.values()))
    document = json.loads(kept[entries[NAME]["blob"]])
    assert (document["session_id"], document["extra"]["outcome"]) == ("t.1", {"ending": "done"})
    assert (document["agent"]["name"], document["agent"]["model_name"]) == ("scripted", ann.model)
    assert document["steps"] == writer.steps
