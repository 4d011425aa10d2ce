"""Reading of a JSON object from a model's text. The text is rejected if it has more than one possible meaning.

Accepted are text around the object, Markdown fences, reasoning in tags, trailing commas, comments, single and curly
quotes, Python's literals, keys without quotes, line ends inside strings, and an object written as a JSON string.
Rejected are two different objects, a repeated key, unescaped quotes inside a string, NaN, and truncated text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DEEPEST = 20
"""Maximum depth of nested objects and lists."""
LONGEST = 200_000
"""Maximum number of characters of an answer that are read."""
_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad|reason|seed:think"
_OPENS = re.compile(
    rf"<(?:{_TAGS})>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>\s*(?:analysis|commentary)", re.IGNORECASE
)
_ENDS = re.compile(
    rf"</(?:{_TAGS})>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE
)
_POINT = re.compile(rf"(?P<opens>{_OPENS.pattern})|(?P<ends>{_ENDS.pattern})|(?P<brace>\{{)", re.IGNORECASE)
_BEGINS = re.compile(r"""\{\s*(?:["'“‘]|\\+"|//|/\*|[A-Za-z_]\w*\s*[:=])""")
"""Pattern of the beginning of an object. It does not match a brace in ordinary prose."""
_ESCAPED = re.compile(r'\{\s*(?:\\n|\\r|\\t)*\s*\\"')
_SPACE = re.compile(r"(?:\s|[\u200b\u2060\ufeff]|//[^\n]*|/\*.*?\*/|#[^\n]*)+", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_]\w*")
_QUOTES = {'"': '"', "'": "'", "“": "“”", "‘": "‘’"}
"""Characters that may close a string, by the quotation mark that opened it."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "\n": ""}
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_NO_NUMBERS = frozenset({"nan", "infinity", "inf", "undefined"})


class NotOneObject(ValueError):
    """Error for text that contains no object, several objects, or an unreadable object. `advice` tells the model what
    to write instead.
    """

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.advice = (
            advice or "It was not one JSON object that can be read. Write one, and nothing before or after it."
        )


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object, the text from which it was read, and whether the model wrote other words around it."""

    value: dict[str, Any]
    source: str
    alone: bool


def one_object(text: str) -> FoundObject:
    """Return the only object in a model's text. Raises NotOneObject if the text contains no object, several objects, or
    an unreadable object.
    """
    if len(text) > LONGEST:
        raise NotOneObject(f"the answer has more than {LONGEST:,} characters", "It was too long. Give short texts.")
    stripped = text.strip().strip("\ufeff").strip()
    unpacked = _unpack(stripped)
    if unpacked is not None:
        return one_object(unpacked)
    found = _objects(stripped)
    if not found:
        raise NotOneObject(f"the answer holds no JSON object: {text.strip()[:200]!r}")
    first, source = found[0]
    if any(json.dumps(value, sort_keys=True) != json.dumps(first, sort_keys=True) for value, _ in found[1:]):
        raise NotOneObject(
            "the answer holds several JSON objects, which differ",
            "It held several JSON objects, and they differ. Write the one that is your answer, and nothing else.",
        )
    return FoundObject(first, source, _stripped_of_fences(stripped) == source)


def _stripped_of_fences(text: str) -> str:
    return re.sub(r"\A(?:```|~~~)[A-Za-z0-9]*\s*|\s*(?:```|~~~)\s*\Z", "", text).strip()


def _unpack(text: str) -> str | None:
    """Return the inner text if the whole text is a single JSON string, or an object in which all quotes are escaped.
    Otherwise return None.
    """
    body = _stripped_of_fences(text)
    if not (body.startswith('"') and body.endswith('"')):
        if not (body.startswith("{") and _ESCAPED.match(body)):
            return None
        body = f'"{body}"'
    try:
        inner = json.loads(body, strict=False)
    except ValueError:
        return None
    return inner if isinstance(inner, str) and inner != text and "{" in inner else None


def _objects(text: str) -> list[tuple[dict[str, Any], str]]:
    """Return the objects in a text, each with the text from which it was read. Reasoning is skipped, because it is not
    part of the answer.
    """
    found: list[tuple[dict[str, Any], str]] = []
    place = 0
    while point := _POINT.search(text, place):
        place = point.end()
        if point["opens"]:
            end = _ENDS.search(text, place)
            if end is None:
                raise NotOneObject(
                    "the reasoning in the answer does not end",
                    "Its reasoning did not end. Reason briefly, then answer.",
                )
            found, place = [], end.end()
        elif point["ends"]:
            found = []
        elif _BEGINS.match(text, point.start()):
            value, place = _Reader(text, point.start()).object()
            found.append((value, text[point.start() : place]))
    return found


class _Reader:
    """A parser of a single value that starts at a position in a text. Raises NotOneObject if the value cannot be
    parsed.
    """

    def __init__(self, text: str, place: int) -> None:
        self.text, self.place, self.depth = text, place, 0

    def object(self) -> tuple[dict[str, Any], int]:
        """Return the object at the current position, and the position of its end."""
        return self._object(), self.place

    def _fault(self, what: str) -> NotOneObject:
        near = self.text[max(0, self.place - 30) : self.place + 30]
        return NotOneObject(
            f"the answer is not a JSON object: {what} at character {self.place}: {near!r}",
            f'It was no valid JSON: {what} at character {self.place}. Escape quotation marks inside texts as \\".',
        )

    def _space(self) -> str:
        found = _SPACE.match(self.text, self.place)
        if found is None:
            return ""
        self.place = found.end()
        return found[0]

    def _next(self) -> str:
        if self.place >= len(self.text):
            raise self._fault("the JSON is cut off")
        return self.text[self.place]

    def _members(self, close: str, take: Callable[[], None]) -> None:
        """Read the members of an object or list up to the closing bracket. Members are separated by commas or line
        ends.
        """
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._fault(f"the JSON is nested deeper than {DEEPEST} levels")
        self.place += 1
        self._space()
        while self._next() != close:
            take()
            gap = self._space()
            if self._next() in ",，":
                self.place += 1
                self._space()
            elif self._next() != close and "\n" not in gap:
                raise self._fault("a comma or the end is missing")
        self.place += 1
        self.depth -= 1

    def _object(self) -> dict[str, Any]:
        out: dict[str, Any] = {}

        def member() -> None:
            key = self._text() if self._next() in _QUOTES else self._word("a key is missing")
            self._space()
            if self._next() not in ":：":
                raise self._fault("a colon is missing")
            self.place += 1
            self._space()
            value = self._value()
            if key.strip().casefold() in out:
                raise self._fault(f"the key {key[:50]!r} is repeated")
            out[key.strip().casefold()] = _Keyed(key.strip(), value)

        self._members("}", member)
        return {each.name: each.value for each in out.values()}

    def _list(self) -> list[Any]:
        out: list[Any] = []
        self._members("]", lambda: out.append(self._value()))
        return out

    def _value(self) -> Any:
        head = self._next()
        if head == "{":
            return self._object()
        if head == "[":
            return self._list()
        if head in _QUOTES:
            return self._text()
        number = _NUMBER.match(self.text, self.place)
        if number:
            return self._number(number)
        word = self._word("a value is missing")
        if word.casefold() in _NO_NUMBERS:
            raise self._fault(f"{word} is not a JSON value")
        return _WORDS.get(word.casefold(), word)

    def _number(self, found: re.Match[str]) -> int | float:
        if len(found[0]) > 40 or not math.isfinite(float(found[0])):
            raise self._fault("a number is too large")
        self.place = found.end()
        number: int | float = json.loads(found[0])
        return number

    def _word(self, otherwise: str) -> str:
        found = _WORD.match(self.text, self.place)
        if found is None:
            raise self._fault(otherwise)
        self.place = found.end()
        return found[0]

    def _text(self) -> str:
        close, out = _QUOTES[self._next()], []
        self.place += 1
        while (character := self._next()) not in close:
            self.place += 1
            out.append(self._escape() if character == "\\" else character)
        self.place += 1
        # Half of an escaped pair gives a lone surrogate: replace it.
        return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _escape(self) -> str:
        character = self._next()
        self.place += 1
        if character != "u":
            # Models escape Markdown (`\_`) and write LaTeX (`\alpha`), which JSON does not allow.
            return _ESCAPES.get(character, character if not character.isalnum() else f"\\{character}")
        digits = self.text[self.place : self.place + 4]
        if not re.fullmatch(r"[0-9A-Fa-f]{4}", digits):
            return "\\u"
        self.place += 4
        return chr(int(digits, 16))


@dataclass(frozen=True, slots=True)
class _Keyed:
    name: str
    value: Any
