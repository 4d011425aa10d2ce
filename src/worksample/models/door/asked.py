"""What a program asks a model for, whichever dialect it speaks, and how a request is read that may hold anything."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo, ToolParams
from pydantic import ValidationError

from worksample.errors import ForeignInputError
from worksample.foreign import read_json

from .expansion import expand
from .refusal import Refusal as Refusal  # noqa: PLC0414 - dialects take it from here

T = TypeVar("T")


@dataclass
class Asked:
    """A request, read."""

    model: str
    messages: list[ChatMessage] = field(default_factory=list)
    tools: list[ToolInfo] = field(default_factory=list)
    choice: ToolChoice | None = None
    config: GenerateConfig = field(default_factory=GenerateConfig)
    stream: bool = False
    usage_told: bool = True
    """Whether a stream's end tells the usage."""
    free: frozenset[str] = frozenset()
    """Tools that take free text, which the model is shown with one parameter, `input`."""
    spaces: dict[str, str] = field(default_factory=dict)
    """Tools that were given in a namespace, by the name that the model is shown."""

    has_ids: bool = False
    """Whether the messages are numbered."""
    sizes: list[int] = field(default_factory=list)
    """Bytes of the messages, once they are numbered."""
    rest: str = ""
    """A digest of tools and settings, by then."""
    rest_size: int = 0

    def numbered(self) -> list[ChatMessage]:
        """The messages, each with an id that is the same whenever the same conversation is sent again."""
        if self.has_ids:
            return self.messages
        running = hashlib.sha256()
        for message in self.messages:
            data = message.model_dump_json(exclude={"id"}).encode(errors="replace")
            running.update(data)
            self.sizes.append(len(data))
            message.id = running.hexdigest()[:22]
        rest = [self.config.model_dump_json(exclude_none=True), *(tool.model_dump_json() for tool in self.tools)]
        self.rest_size = sum(map(len, rest))
        self.rest = hashlib.sha256("\n".join(rest).encode(errors="replace")).hexdigest()
        self.has_ids = True
        return self.messages


@overload
def take(body: Any, key: str, kind: type[T], default: None = None) -> T | None: ...
@overload
def take(body: Any, key: str, kind: type[T], default: T) -> T: ...
def take(body: Any, key: str, kind: type[T], default: T | None = None) -> T | None:
    """A value of a request; the default where it is not given or null. Refusal where it is of another kind."""
    value = body.get(key) if isinstance(body, dict) else None
    if value is None:
        return default
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)  # type: ignore[return-value]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Refusal(400, f"{key} is {type(value).__name__}, not {kind.__name__}")
    return value


def need(body: Any, key: str, kind: type[T]) -> T:
    """A value that must be given. Refusal."""
    value = take(body, key, kind)
    if value is None:
        raise Refusal(400, f"{key} is missing")
    return value


def rows(body: Any, key: str) -> list[dict[str, Any]]:
    """A list of objects. Refusal."""
    found: list[Any] = take(body, key, list, [])
    if not all(isinstance(row, dict) for row in found):
        raise Refusal(400, f"{key} holds what is not an object")
    return found


def tool(name: str, about: str | None, schema: Any) -> ToolInfo:
    """A tool of the program's, from its JSON schema. Refusal where that is none."""
    try:
        params = ToolParams.model_validate({"properties": {}, **expand(schema or {})})
    except (ValidationError, TypeError) as error:
        raise Refusal(400, f"tool {name}: its parameters are not a JSON schema of an object: {error}") from None
    return ToolInfo(name=name, description=about or name, parameters=params)


def arguments(text: str) -> dict[str, Any]:
    """The arguments of a tool call that is sent back, from their JSON; what is none stands under `input`. Refusal."""
    try:
        found = read_json((text or "{}").encode(errors="surrogatepass"), what="the arguments of a tool call")
    except ForeignInputError as error:
        if error.too_large:
            raise Refusal(400, error.what) from None
        return {"input": text}
    return found if isinstance(found, dict) else {"input": found}


def picture(uri: str) -> ContentImage:
    """A picture. Refusal for one that the platform would have to fetch."""
    if not uri.startswith("data:"):
        raise Refusal(400, "a picture is taken as data only: nothing is fetched for a program in a box")
    return ContentImage(image=uri)


def content(parts: list[Content]) -> str | list[Content]:
    """As a message takes it: text alone as a string."""
    if all(isinstance(part, ContentText) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, ContentText))
    return parts


def assistant(text: str, calls: list[ToolCall]) -> ChatMessageAssistant:
    """An answer of the model that is sent back to it."""
    return ChatMessageAssistant(content=text, tool_calls=calls or None)


def result(id: str, text: str | list[Content], name: str | None = None) -> ChatMessageTool:
    """What a tool gave."""
    return ChatMessageTool(content=text, tool_call_id=id, function=name)
