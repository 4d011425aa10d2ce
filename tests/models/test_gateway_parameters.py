"""Every parameter of the providers' clients is passed on, refused by name or noted; none is dropped."""

from __future__ import annotations

import collections
import contextlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from anthropic.types import message_create_params as messages
from anthropic.types.beta import message_create_params as beta
from google import genai
from google.genai import errors
from google.genai import types as google
from openai.types.chat import completion_create_params as chat
from openai.types.responses import response_create_params as responses

from models.recorded import recording
from models.typed_requests import MISSING, Case, cases, fields
from worksample.models.gateway import Refusal
from worksample.models.gateway.dialects import Dialect, anthropic, gemini, openai_chat, openai_responses
from worksample.models.gateway.request import ModelRequest

GEMINI = "/v1beta/models/m:generateContent"
TYPED: dict[str, tuple[Dialect, Any]] = {
    "chat": (openai_chat.DIALECT, chat.CompletionCreateParamsBase),
    "responses": (openai_responses.DIALECT, responses.ResponseCreateParamsBase),
    "messages": (anthropic.DIALECT, messages.MessageCreateParamsBase),
    "beta messages": (anthropic.DIALECT, beta.MessageCreateParamsBase),
}
BASE: dict[str, dict[str, Any]] = {"responses": {"model": "m", "input": "hi"}}
OWN = {"type", "id", "status"}
"""Of an item of a conversation: what changes nothing of what is said in it."""
SAME = {
    "chat": {
        ("response_format",), ("stream_options",), ("tool_choice",), ("function_call",), ("modalities",),
        ("messages", "content", "image_url", "detail"), ("tools", "custom", "format"),
    },
    "responses": {
        ("model",), ("reasoning",), ("text",), ("text", "format"), ("tool_choice",), ("include",),
        ("input", "content"), ("input", "content", "logprobs"), ("input", "encrypted_content"),
        ("tools", "format"), ("tools", "tools", "format"), ("tools", "tools", "parameters"),
        ("input", "content", "annotations"), ("input", "content", "detail"), ("input", "output", "detail"),
    },
    "messages": {("tool_choice",), ("thinking",), ("output_config",), ("tools", "type")},
    "beta messages": {("tool_choice",), ("thinking",), ("output_config",), ("tools", "type"), ("fallbacks",)},
}  # fmt: skip
"""What changes nothing since it says what holds anyhow (`tool_choice: auto`), or what the gateway remembers itself."""


SAME_GOOGLE = {("response_json_schema",)}
"""What the generated value is wrong for: text is no schema."""
FINE = ("passed", "noted", "refused", "given", "no request")


def seen(asked: ModelRequest) -> str:
    """All that goes to the model."""
    plain = [one.model_dump(exclude={"id"}) for one in asked.messages]
    tools = [one.model_dump() for one in asked.tools]
    rest = (
        asked.stream,
        asked.reports_usage,
        sorted(asked.free_text_tools),
        asked.spaces,
        asked.legacy,
        str(asked.choice),
    )
    return json.dumps([plain, tools, asked.config.model_dump(exclude_none=True), rest], default=str, sort_keys=True)


def read(dialect: Dialect, body: dict[str, Any], path: str = "/") -> ModelRequest | str:
    try:
        return dialect.read(json.loads(json.dumps(body)), path)
    except (Refusal, ValueError) as error:
        return str(error)


REFUSALS = ("is not supported", "does not download", "one of", "is missing", "stores no responses")


def verdict(dialect: Dialect, case: Case, base: dict[str, Any], path: str = "/") -> str:
    """What becomes of a parameter: passed, noted, refused, or `dropped`: it changes nothing, and nobody is told."""
    if case.without is MISSING:
        return "given"
    with_, without = read(dialect, base | case.value, path), read(dialect, base | case.without, path)
    if isinstance(without, str):
        return "no request"
    if isinstance(with_, str):
        return "refused" if any(part in with_ for part in (*case.path, *REFUSALS)) else f"refused: {with_}"
    if seen(with_) != seen(without):
        return "passed"
    if sorted(with_.ignored_settings) != sorted(without.ignored_settings):
        return "noted"
    whole = {note.partition(":")[0].rpartition(".")[2] for note in with_.ignored_settings}
    return "noted" if whole & set(case.path) else "dropped"


@pytest.mark.parametrize("name", TYPED)
def test_no_client_parameter_is_dropped_silently(name: str) -> None:
    dialect, hint = TYPED[name]
    found = [(verdict(dialect, case, BASE.get(name, {})), case) for case in cases(hint)]
    lost = {(case.path, f"{said}: {json.dumps(case.value)[-200:]}") for said, case in found if said not in FINE}
    counts = collections.Counter(said if said in FINE else "dropped" for said, _ in found)
    assert counts["passed"] > 30, counts
    left = {one for one in lost if one[0] not in SAME[name] and not (one[0][0] == "input" and one[0][-1] in OWN)}
    assert not left, "\n".join(["", str(counts), *map(str, sorted(left))])


@contextlib.contextmanager
def googles() -> Iterator[Callable[[dict[str, Any]], dict[str, Any] | None]]:
    """What Google's client sends for settings; None where it sends nothing for an API key."""
    with recording() as kept:
        client = genai.Client(api_key="k", vertexai=False, http_options=google.HttpOptions(base_url=kept.address))

        def sent(config: dict[str, Any]) -> dict[str, Any] | None:
            before = len(kept.requests)
            # The recorder's answer, or what is of another API of Google's.
            with contextlib.suppress(errors.APIError, ValueError, TypeError, AttributeError, httpx2.HTTPError):
                client.models.generate_content(model="m", contents="hi", config=config)  # type: ignore[arg-type]
            return kept.requests[-1][1] if len(kept.requests) > before else None

        yield sent
        client.close()


def test_no_google_setting_is_dropped_silently() -> None:
    counts: collections.Counter[str] = collections.Counter()
    lost = set()
    with googles() as sent:
        plain = sent({})
        assert plain is not None
        settings = [one for one in fields(google.GenerateContentConfig, depth=2) if one[0][0] != "http_options"]
        bodies = [(path, sent(given)) for path, given in settings]
    for path, body in bodies:
        if body is None or {"generationConfig": {}, **body} == {"generationConfig": {}, **plain}:
            counts["not sent"] += 1
            continue
        for spelt in (body, snake(body)):
            said = verdict(gemini.DIALECT, Case(tuple(map(gemini.camel, path)), spelt, plain), {}, GEMINI)
            counts[said if said in FINE else "dropped"] += 1
            if said not in FINE:
                lost.add((path, f"{said}: {json.dumps(spelt)[-200:]}"))
    assert counts["passed"] > 30, counts
    left = {one for one in lost if one[0] not in SAME_GOOGLE}
    assert not left, "\n".join(["", str(counts), *map(str, sorted(left))])


def snake(value: Any) -> Any:
    """The same in the other spelling that Google takes."""
    if isinstance(value, list):
        return [snake(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("(?<=[a-z])([A-Z])", lambda m: "_" + m[1].lower(), key): snake(one) for key, one in value.items()}
