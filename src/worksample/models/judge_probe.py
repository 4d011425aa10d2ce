"""Probes: narrow questions to a judge, each with the exhibits that the judge must look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from worksample.errors import UsageError

from .judge_exhibit import Exhibit

TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "number": (int, float), "integer": int, "boolean": bool}
MOST = 50
"""Maximum number of options, checklist items or fields in one probe."""


class ProbeKind(StrEnum):
    YES_NO = "yes_no"
    CHOICE = "choice"
    FIELDS = "fields"
    CHECKLIST = "checklist"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to a judge. Build it with a function of this module.

    `question` is written by the author of the task. `exhibits` are untrusted data. `instruction`, if not empty,
    replaces the platform's default instruction for this kind of question.
    """

    kind: ProbeKind
    question: str
    exhibits: tuple[Exhibit, ...] = ()
    second: tuple[Exhibit, ...] = ()
    """Exhibits of the second side, if the probe is a comparison of two."""
    options: tuple[str, ...] = ()
    items: Mapping[str, str] = field(default_factory=dict)
    """Questions of a checklist, by the name of the item."""
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Properties of the answer in JSON schema, by name. Each has a "type" and may have an "enum"; properties cannot be
    nested.
    """
    instruction: str = ""
    quotes: bool = True
    """True if an affirmative answer must quote an exhibit. Exhibits without text need no quote."""
    asks_inspected: bool = False
    """True if the judge must also say whether it could inspect the work. It is asked if a part of the work could not be
    shown.
    """

    def __post_init__(self) -> None:
        fault = _fault(self)
        if fault:
            raise UsageError(
                f"the probe is not valid: {fault}",
                where=f"probe {self.kind}",
                next="see docs/how-to/judge-with-models.md",
            )

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(e.text for e in (*self.exhibits, *self.second))


def yes_no(question: str, *exhibits: Exhibit, instruction: str = "", quotes: bool = True) -> Probe:
    """Build a question whose answer is a bool. The answer yes must be supported by a quote."""
    return Probe(ProbeKind.YES_NO, question, exhibits, instruction=instruction, quotes=quotes)


def choice(
    question: str, options: Sequence[str], *exhibits: Exhibit, instruction: str = "", quotes: bool = True
) -> Probe:
    """Build a question whose answer is one of `options`, repeated exactly."""
    return Probe(ProbeKind.CHOICE, question, exhibits, options=tuple(options), instruction=instruction, quotes=quotes)


def fields(
    question: str, schema: Mapping[str, Mapping[str, Any]], *exhibits: Exhibit, instruction: str = "",
    quotes: bool = True,
) -> Probe:  # fmt: skip
    """Build a question whose answer is a dict with exactly the keys of `schema`.

    `schema` maps each key to {"type": string | number | integer | boolean}.
    """
    return Probe(ProbeKind.FIELDS, question, exhibits, fields=schema, instruction=instruction, quotes=quotes)


def checklist(
    question: str, items: Mapping[str, str], *exhibits: Exhibit, instruction: str = "", quotes: bool = True
) -> Probe:
    """Build a question whose answer is a dict with a bool for each item. Each yes must be supported by a quote."""
    return Probe(ProbeKind.CHECKLIST, question, exhibits, items=items, instruction=instruction, quotes=quotes)


def pair(
    question: str, first: Sequence[Exhibit], second: Sequence[Exhibit], *, instruction: str = "", quotes: bool = True
) -> Probe:
    """Build a comparison whose answer is `first`, `second` or `equal`.

    The judge is asked twice, with the two sides in both orders. If the two answers differ, the result is `equal`.
    """
    return Probe(ProbeKind.PAIR, question, tuple(first), tuple(second), instruction=instruction, quotes=quotes)


def _fault(probe: Probe) -> str:
    if not probe.question.strip():
        return "its question is empty"
    many = {ProbeKind.CHOICE: probe.options, ProbeKind.CHECKLIST: probe.items, ProbeKind.FIELDS: probe.fields}.get(
        probe.kind
    )
    if many is not None and not 1 <= len(many) <= MOST:
        return f"it has {len(many)} options, items or fields; allowed: 1 to {MOST}"
    if probe.kind is ProbeKind.CHOICE and len(set(probe.options)) < max(2, len(probe.options)):
        return "it needs at least two options, all different"
    for name, schema in probe.fields.items():
        if schema.get("type") not in TYPES or set(schema) - {"type", "enum", "description"}:
            return f"field {name!r}: allowed are type ({', '.join(TYPES)}), enum and description"
    if probe.kind is ProbeKind.PAIR and not (probe.exhibits and probe.second):
        return "a pair needs exhibits on both sides"
    return ""
