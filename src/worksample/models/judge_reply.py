"""Reading of a judge's completion. The result is an allowed answer whose quotes occur in the exhibits, or an error."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from worksample.errors import Cause, JudgeError

from .judge_exhibit import Exhibit, Look
from .judge_probe import TYPES, Probe, ProbeKind
from .quote_search import QuoteWorth, Searchable, fold
from .tolerant_json import NotOneObject, one_object

Value = bool | str | dict[str, Any]
SIDES = ("first", "equal", "second")
LONGEST = 10_000
"""Maximum number of characters of a reason that are stored."""
_YES = frozenset({"yes", "y", "true"})
_NO = frozenset({"no", "n", "false"})
_NO_EXHIBIT = frozenset({"", "null", "none", "n/a", "na", "0", "-"})
_NUMBERED = re.compile(r"(?:exhibit)?\s*(?:no\.?|number|#)?\s*(\d{1,4})", re.IGNORECASE)
_SIDE = re.compile(r"(?:the )?(first|second)(?: one| piece(?: of work)?| work)?")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote that a judge gives as evidence.

    `exhibit` is the number of the quoted exhibit, from 1. `checked` is True if a program found the quote in the text of
    that exhibit. Quotes of pictures cannot be checked.
    """

    exhibit: int
    text: str
    checked: bool
    item: str = ""


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A judge's answer to a probe.

    `value` is a bool for a yes-no question, an option for a choice, a dict for fields or a checklist, and `first`,
    `equal` or `second` for a pair.
    """

    value: Value
    reason: str = ""
    quotes: tuple[Quote, ...] = ()
    record: dict[str, Any] = field(default_factory=dict)
    """Facts for the store: the model, and the digests of the prompt and of the raw answers."""
    inspected: bool = True
    """False if the judge says that it could not inspect the work. The judge is asked only if a part of the work could
    not be shown.
    """
    orders: tuple[str, ...] = ()
    """For a pair, the two answers to both orders; `first` means the side that was shown first. `value` joins the two
    answers.
    """


class MalformedAnswer(JudgeError):
    """Error for a completion that contains no valid answer.

    `advice` tells the judge how to correct its answer. It does not quote the judge, because the judge may repeat text
    of the untrusted work.
    """

    def __init__(self, what: str, advice: str, cause: Cause = Cause.JUDGE_MALFORMED) -> None:
        super().__init__(what, cause=cause)
        self.advice = advice


def malformed_answer(what: str, advice: str = "") -> MalformedAnswer:
    return MalformedAnswer(what, advice or f"This was wrong: {what}.")


def read_answer(text: str, probe: Probe, exhibits: Mapping[int, Exhibit]) -> JudgeReply:
    """Return the answer to a probe that a completion contains. Raises MalformedAnswer if it contains no valid
    answer.
    """
    try:
        found = one_object(text)
    except NotOneObject as error:
        raise malformed_answer(str(error), error.advice) from error
    evidence = _Evidence(probe, exhibits)
    if not found.alone and evidence.holds(found.source):
        raise malformed_answer(
            "its only JSON object was copied from an exhibit, with other words around it",
            "Its only JSON object was copied from an exhibit. Write an answer of your own, as one JSON object alone.",
        )
    said = _answer_object({key.casefold(): value for key, value in found.value.items()}, probe)
    value, quotes = _READERS[probe.kind](said, probe, evidence)
    return JudgeReply(value, _reason(said.get("reason")), quotes, inspected=_read_inspected(said, probe))


def _answer_object(said: dict[str, Any], probe: Probe) -> dict[str, Any]:
    """Return the JSON object that contains the answer. The object may also be the only value of another object."""
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
        raise malformed_answer("its reason is not text")
    return (said or "")[:LONGEST]


def _read_inspected(said: Mapping[str, Any], probe: Probe) -> bool:
    """Return whether the judge could inspect the work. Only an explicit yes counts. Return True if the judge was not
    asked.
    """
    if not probe.asks_inspected:
        return True
    return said.get("inspected") is not None and _read_value(said["inspected"], "inspected")


def _single_element(said: Any) -> Any:
    """Return the only element of a list, or any other value unchanged."""
    return said[0] if isinstance(said, list) and len(said) == 1 else said


def _normal_word(said: Any) -> str | None:
    """Return a short answer in lower case, without quotation marks and full stop. Return None if the answer is not
    text.
    """
    said = _single_element(said)
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    if isinstance(said, int) and not isinstance(said, bool):
        said = str(said)
    if not isinstance(said, str):
        return None
    return " ".join(unicodedata.normalize("NFKC", said).casefold().split()).strip("'\"*_` ").rstrip(".!,;")


def _read_value(said: Any, where: str = "answer") -> bool:
    said = _single_element(said)
    word = _normal_word(said)
    if said is True or word in _YES:
        return True
    if said is False or word in _NO:
        return False
    raise malformed_answer(f'"{where}" is neither "yes" nor "no"')


def _option(said: Any, probe: Probe) -> str:
    """Return the option that the judge chose. The judge may repeat the option exactly, or together with the explanation
    that the question gives for it.
    """
    allowed = SIDES if probe.kind is ProbeKind.PAIR else probe.options
    plain = _single_element(said)
    if isinstance(plain, str) and plain in allowed:
        return plain
    word = _normal_word(plain)
    if word is not None:
        side = _SIDE.fullmatch(word) if probe.kind is ProbeKind.PAIR else None
        wanted = side[1] if side else word
        meant = [option for option in allowed if _normal_word(option) == wanted]
        meant = meant or [option for option in allowed if _quoted_from_question(word, option, probe)]
        if len(meant) == 1:
            return meant[0]
    raise malformed_answer(f'"answer" is none of {", ".join(allowed)}'[:1000])


def _quoted_from_question(word: str, option: str, probe: Probe) -> bool:
    begins = f"{_normal_word(option)}:"
    return word.startswith(begins) and len(word) > len(begins) + 1 and fold(word) in fold(probe.question)


def _yes_no(said: dict[str, Any], probe: Probe, evidence: _Evidence) -> tuple[Value, tuple[Quote, ...]]:
    yes = _read_value(said.get("answer"))
    return yes, evidence.quotes(said, needed=yes)


def _choice(said: dict[str, Any], probe: Probe, evidence: _Evidence) -> tuple[Value, tuple[Quote, ...]]:
    value = _option(said.get("answer"), probe)
    return value, evidence.quotes(said, needed=probe.kind is not ProbeKind.PAIR)


def _fields(said: dict[str, Any], probe: Probe, evidence: _Evidence) -> tuple[Value, tuple[Quote, ...]]:
    values = _named_table(said, "fields", probe.fields)
    read = {name: _typed_value(values[name], name, schema) for name, schema in probe.fields.items()}
    return read, evidence.quotes(said, needed=True)


def _named_table(said: Mapping[str, Any], key: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the answers by name. They may be an object under `key`, or stand beside the reason, but their keys must be
    exactly `names`.
    """
    wanted = {_normal_word(name): name for name in names}
    table = said.get(key)
    if table is None and set(wanted) <= set(said) and not set(wanted) & {"reason", "exhibit", "quote", "inspected"}:
        table = {name: said[name] for name in wanted if name is not None}
    if isinstance(table, list) and all(isinstance(each, dict) and "name" in each for each in table):
        table = {each["name"]: {k: v for k, v in each.items() if k != "name"} for each in table}
    known = set(names)
    if isinstance(table, dict) and set(table) != known:
        table = {wanted.get(_normal_word(name), name): value for name, value in table.items()}
    if not isinstance(table, dict) or set(table) != known:
        raise malformed_answer(f'"{key}" must have these names, and no others: {", ".join(sorted(known))}'[:1000])
    return table


def _typed_value(value: Any, name: str, schema: Mapping[str, Any]) -> Any:
    """Convert a field's value to the type that the schema requires. The value must have exactly one meaning in that
    type.
    """
    kind = schema["type"]
    if kind == "boolean" and not isinstance(value, bool):
        value = _read_value(value, name)
    elif kind in ("number", "integer") and isinstance(value, str):
        number = re.fullmatch(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?", value.strip())
        value = float(value) if number and "." in value else int(value) if number else value
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    sound = isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not sound or (isinstance(value, float) and not math.isfinite(value)):
        raise malformed_answer(f"the field {name!r} is not of the type {kind}")
    if "enum" in schema and value not in schema["enum"]:
        meant = [allowed for allowed in schema["enum"] if _normal_word(allowed) == _normal_word(value) is not None]
        if len(meant) != 1:
            raise malformed_answer(f"the field {name!r} is none of {schema['enum']}"[:1000])
        return meant[0]
    return value


def _checklist(said: dict[str, Any], probe: Probe, evidence: _Evidence) -> tuple[Value, tuple[Quote, ...]]:
    items = _named_table(said, "items", probe.items)
    values: dict[str, Any] = {}
    quotes: tuple[Quote, ...] = ()
    for name, item in items.items():
        table = {str(k).casefold(): v for k, v in item.items()} if isinstance(item, dict) else {"answer": item}
        values[name] = _read_value(table.get("answer"), name)
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
    QuoteWorth.NOWHERE: (
        "its quote occurs in no exhibit",
        "Copy the passage word for word from the exhibit that you name.",
    ),
    QuoteWorth.SHORT: ("its quote is too short", "Quote a whole phrase of several words."),
    QuoteWorth.OFTEN: (
        "its quote occurs in several places",
        "Quote more of the passage, so that it occurs only once, and name its exhibit.",
    ),
}


class _Evidence:
    """The exhibits of a question, prepared for searching quotes."""

    def __init__(self, probe: Probe, exhibits: Mapping[int, Exhibit]) -> None:
        self.probe, self.exhibits = probe, exhibits
        self.texts = {
            number: Searchable(f"{exhibit.name}\n{exhibit.text}")
            for number, exhibit in exhibits.items()
            if exhibit.look is not Look.PICTURE and (exhibit.name.strip() or exhibit.text.strip())
        }

    def holds(self, source: str) -> bool:
        """Return whether any exhibit contains this text."""
        wanted = fold(source)
        return any(wanted in text for searchable in self.texts.values() for text in searchable.texts)

    def quotes(self, said: Mapping[str, Any], *, needed: bool, item: str = "") -> tuple[Quote, ...]:
        """Return the judge's quotes that count as evidence.

        A picture is cited by its number. A quote of any other exhibit must occur in the exhibit's text.
        """
        if not self.probe.quotes:
            return ()
        number, text = self._number(said.get("exhibit")), _single_element(said.get("quote"))
        where = f" ({item})" if item else ""
        if text is not None and not isinstance(text, str):
            raise malformed_answer(f'"quote" is not one text{where}')
        text = text or ""
        if number is not None and self.exhibits[number].look is Look.PICTURE:
            return (Quote(number, text[:LONGEST], checked=False, item=item),)
        if not text.strip():
            if needed and self.texts:
                raise malformed_answer(f"it says yes without a quote{where}")
            return ()
        place, worth = self._place(text, number)
        if worth is QuoteWorth.EVIDENCE:
            return (Quote(place, text[:LONGEST], checked=True, item=item),)
        if not needed and (self.probe.kind is not ProbeKind.PAIR or worth is not QuoteWorth.NOWHERE):
            # A judge that answers no often quotes what it misses: ignore such a quote.
            return ()
        what, advice = _WORTHLESS[worth]
        raise malformed_answer(f"{what}{where}: {text[:300]!r}", f"This was wrong: {what}{where}. {advice}")

    def _number(self, said: Any) -> int | None:
        """Return the number of the exhibit that the judge cites by number or by file name. Return None if no exhibit
        matches.
        """
        said = _single_element(said)
        if isinstance(said, bool) or not isinstance(said, int | float | str | None):
            raise malformed_answer('"exhibit" is not a number')
        word = "" if said is None else _normal_word(said) or ""
        if word in _NO_EXHIBIT:
            return None
        numbered = _NUMBERED.fullmatch(word)
        if numbered:
            number = int(numbered[1])
            return number if number in self.exhibits else None
        named = [number for number, exhibit in self.exhibits.items() if fold(exhibit.name) == fold(str(said))]
        if len(named) != 1:
            raise malformed_answer('"exhibit" is not the number of an exhibit')
        return named[0]

    def _place(self, text: str, number: int | None) -> tuple[int, QuoteWorth]:
        """Return the number of the exhibit that contains a quote, and the worth of the quote as evidence.

        If the judge cites no valid exhibit number, the quote counts only if exactly one exhibit contains it.
        """
        places = [number] if number in self.texts else list(self.texts)
        worth = {place: self.texts[place].find(text) for place in places if place is not None}
        held = [place for place, found in worth.items() if found is not QuoteWorth.NOWHERE]
        if len(held) == 1:
            return held[0], worth[held[0]]
        good = [place for place in held if worth[place] is QuoteWorth.EVIDENCE]
        if len(good) > 1:
            return 0, QuoteWorth.OFTEN
        return (good[0], QuoteWorth.EVIDENCE) if good else (0, worth[held[0]] if held else QuoteWorth.NOWHERE)
