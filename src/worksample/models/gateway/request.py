"""A program's request to a model, in a form that does not depend on the dialect. Helpers read values from untrusted
JSON.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Content,
    ContentAudio,
    ContentDocument,
    ContentImage,
    ContentText,
    ContentVideo,
    GenerateConfig,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolCallError, ToolChoice, ToolInfo
from inspect_ai.util import JSONSchema

from worksample.errors import ForeignInputError
from worksample.files.untrusted import check_shape

from .request_error import Refusal as Refusal  # noqa: PLC0414 - dialects take it from here
from .request_validation import check_sendable
from .schema_conversion import parameters_of, schema_of
from .schema_references import expand

T = TypeVar("T")


@dataclass
class ModelRequest:
    """A parsed request of a program to its model."""

    model: str
    messages: list[ChatMessage] = field(default_factory=list)
    tools: list[ToolInfo] = field(default_factory=list)
    choice: ToolChoice | None = None
    config: GenerateConfig = field(default_factory=GenerateConfig)
    stream: bool = False
    reports_usage: bool = True
    """True if the stream of the answer reports token usage at its end."""
    free_text_tools: frozenset[str] = frozenset()
    """Names of tools that accept free text. The model sees such a tool with a single parameter, `input`."""
    spaces: dict[str, str] = field(default_factory=dict)
    """Namespace of each tool that has a namespace, by the tool name that the model sees."""
    legacy: bool = False
    """True if the program uses functions, the older form of tools, which allows one call per answer."""
    ignored_settings: list[str] = field(default_factory=list)
    """Names of settings in the request that the gateway does not pass on to the model."""

    def keep_tools(self, names: Iterable[str] | None) -> ModelRequest:
        """Remove all tools except those in `names`. If `names` is None, keep all tools."""
        if names is not None:
            allowed = set(names)
            self.tools = [one for one in self.tools if one.name in allowed]
        return self

    has_ids: bool = False
    """True after `number_messages` has given the messages their ids."""
    sizes: list[int] = field(default_factory=list)
    """Size of each message in bytes, set by `number_messages`."""
    rest: str = ""
    """Digest of the tools and settings, set by `number_messages`."""
    rest_size: int = 0

    def number_messages(self) -> list[ChatMessage]:
        """Give each message an id and return the messages. The ids are the same if the same conversation is sent
        again.
        """
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
def optional(body: Any, key: str, kind: type[T], default: None = None) -> T | None: ...
@overload
def optional(body: Any, key: str, kind: type[T], default: T) -> T: ...
def optional(body: Any, key: str, kind: type[T], default: T | None = None) -> T | None:
    """Return the value of `key` in a request, or the default if the value is missing or null. Raises Refusal if the
    value has another type than `kind`.
    """
    value = body.get(key) if isinstance(body, dict) else None
    if value is None:
        return default
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)  # type: ignore[return-value]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Refusal(400, f"{key} is {type(value).__name__}, not {kind.__name__}")
    return value


def read_required(body: Any, key: str, kind: type[T]) -> T:
    """Return the value of `key` in a request. Raises Refusal if the value is missing or has another type than
    `kind`.
    """
    value = optional(body, key, kind)
    if value is None:
        raise Refusal(400, f"{key} is missing")
    return value


def read_rows(body: Any, key: str) -> list[dict[str, Any]]:
    """Return the value of `key` in a request, a list of objects. Raises Refusal if the value is anything else."""
    found: list[Any] = optional(body, key, list, [])
    if not all(isinstance(row, dict) for row in found):
        raise Refusal(400, f"{key} contains an item that is not an object")
    return found


def read_count(body: Any, key: str, least: int = 0, most: int = 1 << 31) -> int | None:
    """Return the value of `key` in a request, a whole number from `least` to `most`, or None if the value is missing.
    Numbers such as 8.0, which some clients write, are accepted. Raises Refusal for anything else.
    """
    value = body.get(key) if isinstance(body, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refusal(400, f"{key} is {type(value).__name__}, not int")
    if not least <= value <= most:
        raise Refusal(400, f"{key} is {value}; it must be between {least} and {most}")
    return value


def read_texts(body: Any, key: str) -> list[str] | None:
    """Return the value of `key` in a request as a list of texts, or None if the value is missing. A single text becomes
    a list with one element. Raises Refusal for anything else.
    """
    value = body.get(key) if isinstance(body, dict) else None
    if value is None or isinstance(value, str):
        return None if value is None else [value]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Refusal(400, f"{key} is not a list of texts")
    return value


def read_word(body: Any, key: str, known: Iterable[str]) -> Any:
    """Return the value of `key` in a request, which must be one of the values in `known`. Raises Refusal for any other
    value.
    """
    value, known = optional(body, key, str), tuple(known)
    if value is not None and value not in known:
        raise Refusal(400, f"{key} is {value[:100]!r}; it must be one of {', '.join(known)}")
    return value


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def unused_settings(
    body: Mapping[str, Any], taken: Iterable[str], refused: Mapping[str, Any] = {}, within: str = ""
) -> list[str]:
    """Return the names of settings that the gateway does not pass on, so that they can be recorded as ignored. `taken`
    are the settings that the gateway reads.

    `refused` maps each setting that would change the answer to its harmless value. Raises Refusal if such a setting has
    another value.
    """
    known = set(taken)
    for key, harmless in refused.items():
        value = body.get(key)
        if value is not None and value != harmless:
            raise Refusal(
                400, f"{within}{key} is not supported: no model behind this gateway offers it; leave the setting out"
            )
    return [f"{within}{key}" for key, value in body.items() if key not in known | set(refused) and value is not None]


def build_tool(name: str, about: str | None, schema: Any) -> ToolInfo:
    """Build a tool of the program from its name, description and JSON schema. Raises Refusal if the schema is
    invalid.
    """
    try:
        params, more = parameters_of(expand(schema))
    except (ValueError, TypeError) as error:
        raise Refusal(400, f"tool {name[:100]}: {_line(error)}") from None
    said = "\n\n".join(filter(None, (about or name, more)))
    return ToolInfo(name=name, description=said, parameters=params)


def answer_schema(
    schema: Any, name: str | None = None, about: str | None = None, strict: bool | None = None
) -> ResponseSchema:
    """Build the schema that the model's answer must follow. Raises Refusal if the schema is invalid."""
    try:
        shape = schema_of(expand(schema))
    except (ValueError, TypeError) as error:
        raise Refusal(400, f"the schema of the answer: {_line(error)}") from None
    return ResponseSchema(name=name or "answer", json_schema=shape, description=about, strict=strict)


def any_object() -> ResponseSchema:
    """Return the schema of an answer that may be any JSON object."""
    return ResponseSchema(name="answer", json_schema=JSONSchema(type="object", additionalProperties=True))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:500]


def parse_arguments(text: str) -> dict[str, Any]:
    """Parse the arguments of a tool call that the program sends back. If the text is not JSON, return it under the key
    `input`.

    Raises ValueError if the arguments contain values that cannot be sent to any service; Refusal if the arguments are
    too large.
    """
    data = (text or "{}").encode(errors="surrogatepass")
    try:
        check_shape(data, what="the arguments of a tool call")
        found = json.loads(data)
    except ForeignInputError as error:
        raise Refusal(400, error.what) from None
    except (ValueError, RecursionError):
        return {"input": text}
    check_sendable(found)
    return found if isinstance(found, dict) else {"input": found}


_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,", re.ASCII)
_URL_SAFE = str.maketrans("-_", "+/", " \t\r\n")
"""Translation from the URL-safe Base64 alphabet, which Google's client writes, to the standard alphabet. White space is
removed.
"""
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_FILMS = {"video/mp4": "mp4", "video/mpeg": "mpeg", "video/quicktime": "mov", "video/mov": "mov"}


def read_picture(uri: str) -> Content:
    """Return a picture from its data URI. Raises Refusal for any other address, because the gateway fetches nothing
    from the network.
    """
    kind, data = _data_of(uri, "a picture")
    if not kind.startswith("image/"):
        raise Refusal(400, f"{kind[:100]} is not a picture")
    return ContentImage(image=f"data:{kind};base64,{data}")


def read_media(uri: str, name: str = "") -> Content:
    """Return a picture, sound, film or document from its data URI, according to its media type. Raises Refusal if the
    URI or the media type is invalid.
    """
    kind, data = _data_of(uri, "a file")
    whole: Any = f"data:{kind};base64,{data}"
    if kind.startswith("image/"):
        return ContentImage(image=whole)
    if kind in _SOUNDS:
        return ContentAudio(audio=whole, format=_SOUNDS[kind])  # type: ignore[arg-type]
    if kind in _FILMS:
        return ContentVideo(video=whole, format=_FILMS[kind])  # type: ignore[arg-type]
    if kind == "application/pdf" or kind.startswith("text/"):
        return ContentDocument(document=whole, mime_type=kind, filename=name or "document")
    raise Refusal(400, f"data of type {kind[:100]!r} is not supported")


def _data_of(uri: str, what: str) -> tuple[str, str]:
    """Return the media type and the data of a data URI. The data are Base64 in the standard alphabet, with padding."""
    if not uri.startswith("data:"):
        raise Refusal(400, f"send {what} as data: this gateway does not download files for programs in a box")
    head = _DATA.match(uri)
    if head is None:
        raise Refusal(400, f"{what} must be data:KIND;base64,DATA; this one begins {uri[:40]!r}")
    data = uri[head.end() :]
    if any(odd in data for odd in "-_ \t\r\n"):
        data = data.translate(_URL_SAFE)
    data += "=" * (-len(data) % 4)
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError as error:
        raise Refusal(400, f"{what} is not Base64: {str(error)[:100]}") from None
    return head[1].lower(), data


def join_content(parts: list[Content]) -> str | list[Content]:
    """Return the content of a message: a single string if all parts are text, otherwise the list of parts."""
    if all(isinstance(part, ContentText) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, ContentText))
    return parts


def assistant_message(text: str, calls: list[ToolCall]) -> ChatMessageAssistant:
    """Build a message from a model's earlier answer that the program sent back."""
    return ChatMessageAssistant(content=text, tool_calls=calls or None)


def tool_result_message(
    id: str, text: str | list[Content], name: str | None = None, *, failed: bool = False
) -> ChatMessageTool:
    """Build a message with the result of a tool. If the tool failed and the result is only text, the text is passed on
    as the tool's error.
    """
    error = ToolCallError("unknown", text) if failed and isinstance(text, str) else None
    return ChatMessageTool(content=text, tool_call_id=id, function=name, error=error)
