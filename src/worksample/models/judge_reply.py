"""A judge's words read as an answer: one of what could be answered, with quotes that stand in the exhibits, or none."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from worksample.errors import Cause, JudgeError

from .exhibit import Exhibit, Look
from .probe import TYPES, Probe, ProbeKind
from .quote_search import Found, Searchable, folded
from .tolerant_json import NotOneObject, one_object

Value = bool | str | dict[str, Any]
SIDES = ("first", "equal", "second")
LONGEST = 10_000
"""Characters of a reason that are kept."""
_YES = frozenset({"yes", "y", "true"})
_NO = frozenset({"no", "n", "false"})
_NO_EXHIBIT = frozenset({"", "null", "none", "n/a", "na", "0", "-"})
_NUMBERED = re.compile(r"(?:exhibit)?\s*(?:no\.?|number|#)?\s*(\d{1,4})", re.IGNORECASE)
_SIDE = re.compile(r"(?:the )?(first|second)(?: one| piece(?: of work)?| work)?")


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence. exhibit: number from 1; `checked`: a program found the text there; a picture's cannot be checked."""

    exhibit: int
    text: str
    checked: bool
    item: str = ""


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """value: bool for yes_no, an option, a dict for fields and checklist, `first`/`equal`/`second` for a pair."""

    value: Value
    reason: str = ""
    quotes: tuple[Quote, ...] = ()
    record: dict[str, Any] = field(default_factory=dict)
    """What is kept: model, prompt and raw answers by digest."""
    inspected: bool = True
    """Whether the judge says that it could inspect the work; asked only where a part of it could not be shown."""
    orders: tuple[str, ...] = ()
    """Of a pair: what was said as shown, and swapped, in terms of the order as shown. `value` joins them."""


class MalformedAnswer(JudgeError):
    """A judge's words that are no answer. `advice`: what the judge is told before it tries again, in our words only:
    what it wrote may repeat what the work says.
    """

    def __init__(self, what: str, advice: str, cause: Cause = Cause.JUDGE_MALFORMED) -> None:
        super().__init__(what, cause=cause)
        self.advice = advice


def malformed(what: str, advice: str = "") -> MalformedAnswer:
    return MalformedAnswer(what, advice or f"This was wrong: {what}.")


def read_answer(text: str, probe: Probe, exhibits: Mapping[int, Exhibit]) -> JudgeReply:
    """The answer to a probe in a completion. Raises MalformedAnswer where it is none."""
    try:
        found = one_object(text)
    except NotOneObject as error:
        raise malformed(str(error), error.advice) from error
    evidence = _Evidence(probe, exhibits)
    if not found.alone and evidence.holds(found.source):
        raise malformed(
            "its only JSON object stands in an exhibit, and other words around it",
            "Its only JSON object was copied from an exhibit. Write an answer of your own, as one JSON object alone.",
        )
    said = _inner({key.casefold(): value for key, value in found.value.items()}, probe)
    value, quotes = _READERS[probe.kind](said, probe, evidence)
    return JudgeReply(value, _reason(said.get("reason")), quotes, inspected=_inspected(said, probe))


def _inner(said: dict[str, Any], probe: Probe) -> dict[str, Any]:
    """The object that answers, also where it is the only value of another one."""
    wanted = {ProbeKind.FIELDS: "fields", ProbeKind.CHECKLIST: "items"}.get(probe.kind, "answer")
    while wanted not in said and len(said) == 1:
        [only] = said.values()
        if not isinstance(only, dict):
            break
        said = {str(key).casefold(): value for key, value in only.items()}
    return said


def _reason(said: Any) -> str:
    if isinstance(said, list) and all(isinstance(line, str) for line in said):
        said = "\n".join(said)
    if said is not None and not isinstance(said, str):
        raise malformed("its reason is not text")
    return (said or "")[:LONGEST]


def _inspected(said: Mapping[str, Any], probe: Probe) -> bool:
    """Whether the work could be inspected, where that was asked. Only a judge that says so could."""
    if not probe.asks_inspected:
        return True
    return said.get("inspected") is not None and _decided(said["inspected"], "inspected")


def _only(said: Any) -> Any:
    """The one element of a list of one."""
    return said[0] if isinstance(said, list) and len(said) == 1 else said


def _word(said: Any) -> str | None:
    """A short answer, without case, quotation marks and a full stop; None for what is no text."""
    said = _only(said)
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    if isinstance(said, int) and not isinstance(said, bool):
        said = str(said)
    if not isinstance(said, str):
        return None
    return " ".join(unicodedata.normalize("NFKC", said).casefold().split()).strip("'\"*_` ").rstrip(".!,;")


def _decided(said: Any, where: str = "answer") -> bool:
    said = _only(said)
    word = _word(said)
    if said is True or word in _YES:
        return True
    if said is False or word in _NO:
        return False
    raise malformed(f'"{where}" is neither "yes" nor "no"')


def _option(said: Any, probe: Probe) -> str:
    """The option that is meant: by its words, or by its words with what the question says of it."""
    allowed = SIDES if probe.kind is ProbeKind.PAIR else probe.options
    plain = _only(said)
    if isinstance(plain, str) and plain in allowed:
        return plain
    word = _word(plain)
    if word is not None:
        side = _SIDE.fullmatch(word) if probe.kind is ProbeKind.PAIR else None
        wanted = side[1] if side else word
        meant = [option for option in allowed if _word(option) == wanted]
        meant = meant or [option for option in allowed if _quoted_from_question(word, option, probe)]
        if len(meant) == 1:
            return meant[0]
    raise malformed(f'"answer" is none of {", ".join(allowed)}'[:1000])


def _quoted_from_question(word: str, option: str, probe: Probe) -> bool:
    begins = f"{_word(option)}:"
    return word.startswith(begins) and len(word) > len(begins) + 1 and folded(word) in folded(probe.question)


def _yes_no(said: dict[str, Any], probe: Probe, evidence: _Evidence) -> tuple[Value, tuple[Quote, ...]]:
    yes = _decided(said.get("answer"))
    return yes, evidence.quotes(said, needed=yes)


def _choice(said: dict[str, Any], probe: Probe, evidence: _Evidence) -> tuple[Value, tuple[Quote, ...]]:
    value = _option(said.get("answer"), probe)
    return value, evidence.quotes(said, needed=probe.kind is not ProbeKind.PAIR)


def _fields(said: dict[str, Any], probe: Probe, evidence: _Evidence) -> tuple[Value, tuple[Quote, ...]]:
    values = _named(said, "fields", probe.fields)
    read = {name: _typed(values[name], name, schema) for name, schema in probe.fields.items()}
    return read, evidence.quotes(said, needed=True)


def _named(said: Mapping[str, Any], key: str, names: Iterable[str]) -> dict[str, Any]:
    """The table under `key`, or beside the reason, with exactly these names."""
    wanted = {_word(name): name for name in names}
    table = said.get(key)
    if table is None and set(wanted) <= set(said) and not set(wanted) & {"reason", "exhibit", "quote", "inspected"}:
        table = {name: said[name] for name in wanted if name is not None}
    if isinstance(table, list) and all(isinstance(each, dict) and "name" in each for each in table):
        table = {each["name"]: {k: v for k, v in each.items() if k != "name"} for each in table}
    known = set(names)
    if isinstance(table, dict) and set(table) != known:
        table = {wanted.get(_word(name), name): value for name, value in table.items()}
    if not isinstance(table, dict) or set(table) != known:
        raise malformed(f'"{key}" must have these names, and no others: {", ".join(sorted(known))}'[:1000])
    return table


def _typed(value: Any, name: str, schema: Mapping[str, Any]) -> Any:
    """A field's value as its type, where it has one meaning in it."""
    kind = schema["type"]
    if kind == "boolean" and not isinstance(value, bool):
        value = _decided(value, name)
    elif kind in ("number", "integer") and isinstance(value, str):
        number = re.fullmatch(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?", value.strip())
        value = float(value) if number and "." in value else int(value) if number else value
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    sound = isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not sound or (isinstance(value, float) and not math.isfinite(value)):
        raise malformed(f"the field {name!r} is not of the type {kind}")
    if "enum" in schema and value not in schema["enum"]:
        meant = [allowed for allowed in schema["enum"] if _word(allowed) == _word(value) is not None]
        if len(meant) != 1:
            raise malformed(f"the field {name!r} is none of {schema['enum']}"[:1000])
        return meant[0]
    return value


def _checklist(said: dict[str, Any], probe: Probe, evidence: _Evidence) -> tuple[Value, tuple[Quote, ...]]:
    items = _named(said, "items", probe.items)
    values: dict[str, Any] = {}
    quotes: tuple[Quote, ...] = ()
    for name, item in items.items():
        table = {str(k).casefold(): v for k, v in item.items()} if isinstance(item, dict) else {"answer": item}
        values[name] = _decided(table.get("answer"), name)
        quotes += evidence.quotes(table, needed=values[name], item=name)
    return values, quotes


_READERS = {
    ProbeKind.YES_NO: _yes_no,
    ProbeKind.CHOICE: _choice,
    ProbeKind.FIELDS: _fields,
    ProbeKind.CHECKLIST: _checklist,
    ProbeKind.PAIR: _choice,
}
_WORTHLESS = {
    Found.NOWHERE: ("its quote stands in no exhibit", "Copy the passage word for word from the exhibit that you name."),
    Found.SHORT: ("its quote is too short", "Quote a whole phrase of several words."),
    Found.OFTEN: (
        "its quote stands in several places",
        "Quote more of the passage, so that it stands there only once, and name its exhibit.",
    ),
}


class _Evidence:
    """The exhibits of a question, as what quotes are looked for in."""

    def __init__(self, probe: Probe, exhibits: Mapping[int, Exhibit]) -> None:
        self.probe, self.exhibits = probe, exhibits
        self.texts = {
            number: Searchable(f"{exhibit.name}\n{exhibit.text}")
            for number, exhibit in exhibits.items()
            if exhibit.look is not Look.PICTURE and (exhibit.name.strip() or exhibit.text.strip())
        }

    def holds(self, source: str) -> bool:
        """Whether an exhibit has these words."""
        wanted = folded(source)
        return any(wanted in text for searchable in self.texts.values() for text in searchable.texts)

    def quotes(self, said: Mapping[str, Any], *, needed: bool, item: str = "") -> tuple[Quote, ...]:
        """The evidence, if it is any. A picture is named by its number; a text's quote has to stand in that text."""
        if not self.probe.quotes:
            return ()
        number, text = self._number(said.get("exhibit")), _only(said.get("quote"))
        where = f" ({item})" if item else ""
        if text is not None and not isinstance(text, str):
            raise malformed(f'"quote" is not one text{where}')
        text = text or ""
        if number is not None and self.exhibits[number].look is Look.PICTURE:
            return (Quote(number, text[:LONGEST], checked=False, item=item),)
        if not text.strip():
            if needed and self.texts:
                raise malformed(f"it affirms without a quote{where}")
            return ()
        place, worth = self._place(text, number)
        if worth is Found.EVIDENCE:
            return (Quote(place, text[:LONGEST], checked=True, item=item),)
        if not needed and (self.probe.kind is not ProbeKind.PAIR or worth is not Found.NOWHERE):
            # A judge that says no often puts into words what it misses: a remark, and no evidence.
            return ()
        what, advice = _WORTHLESS[worth]
        raise malformed(f"{what}{where}: {text[:300]!r}", f"This was wrong: {what}{where}. {advice}")

    def _number(self, said: Any) -> int | None:
        """The exhibit that is named: by its number, or by its file's name. None for none."""
        said = _only(said)
        if isinstance(said, bool) or not isinstance(said, int | float | str | None):
            raise malformed('"exhibit" is not a number')
        word = "" if said is None else _word(said) or ""
        if word in _NO_EXHIBIT:
            return None
        numbered = _NUMBERED.fullmatch(word)
        if numbered:
            number = int(numbered[1])
            return number if number in self.exhibits else None
        named = [number for number, exhibit in self.exhibits.items() if folded(exhibit.name) == folded(str(said))]
        if len(named) != 1:
            raise malformed('"exhibit" is not the number of an exhibit')
        return named[0]

    def _place(self, text: str, number: int | None) -> tuple[int, Found]:
        """Where a quote stands, and what it is worth there. Without a number that holds, it has to be one place."""
        places = [number] if number in self.texts else list(self.texts)
        worth = {place: self.texts[place].find(text) for place in places if place is not None}
        held = [place for place, found in worth.items() if found is not Found.NOWHERE]
        if len(held) == 1:
            return held[0], worth[held[0]]
        good = [place for place in held if worth[place] is Found.EVIDENCE]
        if len(good) > 1:
            return 0, Found.OFTEN
        return (good[0], Found.EVIDENCE) if good else (0, worth[held[0]] if held else Found.NOWHERE)
