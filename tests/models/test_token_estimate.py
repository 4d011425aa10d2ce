"""Estimates of tokens in requests and replies: a likely number, and an upper bound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, ContentImage, ContentText, ModelOutput
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from worksample.models.token_estimate import PICTURE, Size, size_of_answer, size_of_request


@given(st.text(st.characters(codec=None), max_size=200))  # lone surrogates too
def test_any_text_has_a_size_and_at_most_as_many_tokens_as_bytes(text: str) -> None:
    size = size_of_request([ChatMessageUser(content=text)])
    assert size.bytes == len(text.encode("utf-8", "surrogatepass"))
    assert size.tokens <= size.tokens_at_most


def test_tools_calls_and_pictures_count() -> None:
    nested: object = 1
    for _ in range(3):
        nested = {"a": nested}
    call = ToolCall(id="1", function="look", arguments={"x": nested, "y": "\ud800"})
    picture = ContentImage(image="data:image/png;base64," + "A" * 1_000_000)
    messages: list[ChatMessage] = [
        ChatMessageUser(content=[ContentText(text="see"), picture]),
        ChatMessageAssistant(content="", tool_calls=[call]),
    ]
    schema = ToolParams(properties={"x": JSONSchema(type="string", description="\ud800")})
    size = size_of_request(messages, [ToolInfo(name="look", description="d" * 500, parameters=schema)])
    assert (size.frames, size.media) == (3, 1)
    assert 500 < size.bytes < 1_000
    assert size.tokens_at_most >= PICTURE + size.bytes
    assert size.tokens < 2_000


def test_words_and_calls_of_a_reply_count() -> None:
    output = ModelOutput.from_content("m", "seven words are said here, not more")
    assert size_of_answer(output).tokens == 10
    deep: list[object] = []
    inner = deep
    for _ in range(5_000):
        inner.append([])
        inner = inner[0]  # type: ignore[assignment]
    output.choices[0].message.tool_calls = [ToolCall(id="1", function="f", arguments={"x": deep})]
    assert size_of_answer(output).bytes >= len("seven words are said here, not more")


def test_likely_number_is_near_published_ones() -> None:
    """OpenAI's help page on tokens: 11 for the quote, and a token is about four characters of English."""
    assert 9 <= Size(len(b"You miss 100% of the shots you don't take")).tokens <= 13
    assert 1.0 <= Size(4_000).tokens / 1_000 <= 1.25
