"""What a program asks a model for, whichever dialect it speaks, and how a request is read that may hold anything."""

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

from .refusal import Refusal as Refusal  # noqa: PLC0414 - dialects take it from here
from .request_validation import check_sound
from .schema_conversion import parameters_of, schema_of
from .schema_references import expand

T = TypeVar("T")


@dataclass
class ModelRequest:
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
    legacy: bool = False
    """Whether the program speaks of functions, as before there were tools, and takes one call an answer."""
    noted: list[str] = field(default_factory=list)
    """What the program set that goes no further."""

    def only(self, names: Iterable[str] | None) -> ModelRequest:
        """With these of the tools alone, where the choice of tools names some."""
        if names is not None:
            allowed = set(names)
            self.tools = [one for one in self.tools if one.name in allowed]
        return self

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


def count(body: Any, key: str, least: int = 0, most: int = 1 << 31) -> int | None:
    """A whole number within bounds; some clients write 8.0. Refusal."""
    value = body.get(key) if isinstance(body, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refusal(400, f"{key} is {type(value).__name__}, not int")
    if not least <= value <= most:
        raise Refusal(400, f"{key} is {value}; it lies between {least} and {most}")
    return value


def words(body: Any, key: str) -> list[str] | None:
    """A list of texts, or one text alone. Refusal."""
    value = body.get(key) if isinstance(body, dict) else None
    if value is None or isinstance(value, str):
        return None if value is None else [value]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Refusal(400, f"{key} is not a list of texts")
    return value


def word(body: Any, key: str, known: Iterable[str]) -> Any:
    """One of the words that are known. Refusal."""
    value, known = take(body, key, str), tuple(known)
    if value is not None and value not in known:
        raise Refusal(400, f"{key} is {value[:100]!r}; it is one of {', '.join(known)}")
    return value


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def rest(body: Mapping[str, Any], taken: Iterable[str], refused: Mapping[str, Any] = {}, within: str = "") -> list[str]:
    """What was set and is neither read nor refused: it changes nothing, and is noted.

    refused: settings without which the answer would be another, with the value that says nothing. Refusal names one.
    """
    known = set(taken)
    for key, harmless in refused.items():
        value = body.get(key)
        if value is not None and value != harmless:
            raise Refusal(400, f"{within}{key} is not taken here: nothing behind this gateway does it; leave it out")
    return [f"{within}{key}" for key, value in body.items() if key not in known | set(refused) and value is not None]


def tool(name: str, about: str | None, schema: Any) -> ToolInfo:
    """A tool of the program's, from its JSON schema. Refusal where that is none."""
    try:
        params, more = parameters_of(expand(schema))
    except (ValueError, TypeError) as error:
        raise Refusal(400, f"tool {name[:100]}: {_line(error)}") from None
    said = "\n\n".join(filter(None, (about or name, more)))
    return ToolInfo(name=name, description=said, parameters=params)


def answer_schema(
    schema: Any, name: str | None = None, about: str | None = None, strict: bool | None = None
) -> ResponseSchema:
    """The form of the answer that a program wants. Refusal where it is none."""
    try:
        shape = schema_of(expand(schema))
    except (ValueError, TypeError) as error:
        raise Refusal(400, f"the schema of the answer: {_line(error)}") from None
    return ResponseSchema(name=name or "answer", json_schema=shape, description=about, strict=strict)


def any_object() -> ResponseSchema:
    """An answer that is any JSON object."""
    return ResponseSchema(name="answer", json_schema=JSONSchema(type="object", additionalProperties=True))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:500]


def arguments(text: str) -> dict[str, Any]:
    """The arguments of a tool call that is sent back, from their JSON; what is none stands under `input`. ValueError
    where no service could be sent them; Refusal where they are too large.
    """
    data = (text or "{}").encode(errors="surrogatepass")
    try:
        check_shape(data, what="the arguments of a tool call")
        found = json.loads(data)
    except ForeignInputError as error:
        raise Refusal(400, error.what) from None
    except (ValueError, RecursionError):
        return {"input": text}
    check_sound(found)
    return found if isinstance(found, dict) else {"input": found}


_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,", re.ASCII)
_URL_SAFE = str.maketrans("-_", "+/", " \t\r\n")
"""Google's own client writes bytes in the alphabet for addresses."""
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_FILMS = {"video/mp4": "mp4", "video/mpeg": "mpeg", "video/quicktime": "mov", "video/mov": "mov"}


def picture(uri: str) -> Content:
    """A picture. Refusal for one that the platform would have to fetch, or that is no data."""
    kind, data = _data_of(uri, "a picture")
    if not kind.startswith("image/"):
        raise Refusal(400, f"{kind[:100]} is no picture")
    return ContentImage(image=f"data:{kind};base64,{data}")


def media(uri: str, name: str = "") -> Content:
    """A picture, a sound, a film or a document, by its kind. Refusal."""
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
    raise Refusal(400, f"data of type {kind[:100]!r} is not taken here")


def _data_of(uri: str, what: str) -> tuple[str, str]:
    """Kind and Base64 of a data URI, in the plain alphabet and padded."""
    if not uri.startswith("data:"):
        raise Refusal(400, f"{what} is taken as data only: nothing is fetched for a program in a box")
    head = _DATA.match(uri)
    if head is None:
        raise Refusal(400, f"{what} is data:KIND;base64,DATA; this begins {uri[:40]!r}")
    data = uri[head.end() :]
    if any(odd in data for odd in "-_ \t\r\n"):
        data = data.translate(_URL_SAFE)
    data += "=" * (-len(data) % 4)
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError as error:
        raise Refusal(400, f"{what} is not Base64: {str(error)[:100]}") from None
    return head[1].lower(), data


def content(parts: list[Content]) -> str | list[Content]:
    """As a message takes it: text alone as a string."""
    if all(isinstance(part, ContentText) for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, ContentText))
    return parts


def assistant(text: str, calls: list[ToolCall]) -> ChatMessageAssistant:
    """An answer of the model that is sent back to it."""
    return ChatMessageAssistant(content=text, tool_calls=calls or None)


def result(id: str, text: str | list[Content], name: str | None = None, *, failed: bool = False) -> ChatMessageTool:
    """What a tool gave. A failure is what providers are told as one where the result is text alone."""
    error = ToolCallError("unknown", text) if failed and isinstance(text, str) else None
    return ChatMessageTool(content=text, tool_call_id=id, function=name, error=error)
