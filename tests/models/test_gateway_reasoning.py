"""The gateway adds the reasoning of its own replies to a program's requests, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
)
from inspect_ai.tool import ToolCall

from worksample.models.gateway.conversation_memory import AnswerMemory
from worksample.models.gateway.request import ModelRequest


def said(command: str, thought: str | None = None, id: str = "bash:0", text: str = "") -> ChatMessageAssistant:
    parts: Any = text if thought is None else [ContentReasoning(reasoning=thought), ContentText(text=text)]
    calls = [ToolCall(id=id, function="bash", arguments={"command": command})]
    return ChatMessageAssistant(content=parts, tool_calls=calls)


def conversation(*answers: ChatMessageAssistant) -> list[ChatMessage]:
    out: list[ChatMessage] = [ChatMessageUser(content="go")]
    for number, answer in enumerate(answers):
        out += [answer.model_copy(deep=True), ChatMessageTool(content=f"result {number}", tool_call_id="bash:0")]
    return ModelRequest(model="m", messages=out).number_messages()


def thoughts(messages: list[ChatMessage]) -> list[str]:
    return [
        part.reasoning
        for one in messages
        if not isinstance(one.content, str)
        for part in one.content
        if isinstance(part, ContentReasoning)
    ]


def commands(messages: list[ChatMessage]) -> list[str]:
    return [
        call.arguments["command"]
        for one in messages
        if isinstance(one, ChatMessageAssistant)
        for call in one.tool_calls or ()
    ]


@pytest.fixture
def memory() -> AnswerMemory:
    """Of two turns whose calls have one id."""
    memory = AnswerMemory()
    memory.keep(conversation(), said("ls first", "one"))
    memory.keep(conversation(said("ls first")), said("rm second", "two"))
    return memory


def test_repeated_ids_are_distinguished(memory: AnswerMemory) -> None:
    sent = conversation(said("ls first"), said("rm second"))
    assert commands(memory.restore(sent)) == ["ls first", "rm second"]
    assert thoughts(memory.restore(sent)) == ["one", "two"]


@pytest.mark.parametrize(
    "edited",
    [said("[shortened]"), said("ls first", id="mine"), said("ls first", text="more words")],
    ids=["arguments", "id", "text"],
)
def test_edited_reply_belongs_to_the_program(memory: AnswerMemory, edited: ChatMessageAssistant) -> None:
    sent = conversation(edited, said("rm second"))
    restored = memory.restore(sent)
    assert commands(restored) == commands(sent)
    assert [one.text for one in restored] == [one.text for one in sent]
    assert thoughts(restored) == ["two"]


def test_equal_replies_keep_their_own_reasoning() -> None:
    memory = AnswerMemory()
    memory.keep(conversation(), said("ls", "one"))
    memory.keep(conversation(said("ls")), said("ls", "two"))
    assert thoughts(memory.restore(conversation(said("ls"), said("ls")))) == ["one", "two"]
    shortened = memory.restore([ChatMessageUser(content="summary", id="s"), said("ls")])
    assert thoughts(shortened) == []


def test_calls_with_one_id_in_one_reply_are_distinguished() -> None:
    memory = AnswerMemory()
    two = said("a", "both")
    two.tool_calls = [*(two.tool_calls or ()), ToolCall(id="bash:0", function="bash", arguments={"command": "b"})]
    memory.keep(conversation(), two)
    plain = said("a")
    plain.tool_calls = [*(plain.tool_calls or ()), ToolCall(id="bash:0", function="bash", arguments={"command": "c"})]
    assert commands(memory.restore(conversation(plain))) == ["a", "c"]
