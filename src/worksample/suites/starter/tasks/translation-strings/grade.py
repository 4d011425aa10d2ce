"""A translation file: keys, ICU structure, plurals, glossary, lengths, address and key words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import icu

from worksample.kit import (
    Case,
    Check,
    DeliverableError,
    Grade,
    ReferenceUnreadable,
    Table,
    gate_and_score,
    plain_text,
    read_csv,
)

MOST = 0.9
SHOWN = 6


@dataclass(frozen=True)
class Job:
    """What was given, and what is expected."""

    source: Mapping[str, str]
    existing: Mapping[str, str]
    status: Mapping[str, str]
    limits: Mapping[str, int]
    expected: Mapping[str, Any]

    @cached_property
    def ours(self) -> list[str]:
        """Keys that the translator answers for."""
        return [key for key in self.source if self.status[key] != "approved"]

    @cached_property
    def trees(self) -> dict[str, list[icu.Node]]:
        return {key: icu.parse(text) for key, text in self.source.items()}


def column(table: Table, key: str, value: str) -> dict[str, str]:
    return dict(zip(table.column(key), table.column(value), strict=True))


def job_of(case: Case) -> Job:
    """The inputs and the reference. ReferenceUnreadable: both are ours."""
    import json

    def messages(name: str) -> dict[str, str]:
        found: dict[str, str] = json.loads(case.input(name).read_text(encoding="utf-8"))
        return found

    try:
        limits = column(read_csv(case.input("limits.csv"), ","), "key", "max_characters")
        return Job(
            source=messages("en.json"),
            existing=messages(case.setting("existing")),
            status=column(read_csv(case.input("status.csv"), ","), "key", "status"),
            limits={key: int(most) for key, most in limits.items()},
            expected=case.ref_json("expected.json"),
        )
    except (OSError, ValueError) as error:
        raise ReferenceUnreadable(f"the inputs cannot be read: {error}") from error


def delivered(case: Case) -> dict[str, str]:
    """The messages that are texts, and no longer than any message. DeliverableError where the file is no object."""
    found = case.json("translation.json")
    if not isinstance(found, dict):
        raise DeliverableError("is no object", where="translation.json")
    texts = {key: text for key, text in found.items() if isinstance(text, str)}
    return {key: text for key, text in texts.items() if len(text) <= icu.LENGTH and text.strip()}


def share(faults: Mapping[str, str], total: int) -> Check:
    """One less the share of messages with a fault; the first faults as reason."""
    says = [f"{key}: {what}" for key, what in list(faults.items())[:SHOWN]]
    more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
    return Check(1 - len(faults) / total, "; ".join(says + more))


def untouched(got: Mapping[str, str], key: str, job: Job) -> bool:
    """Whether a message is missing or still English."""
    return key not in got or plain_text(got[key]) == plain_text(job.source[key])


def judged(got: Mapping[str, str], keys: list[str], job: Job, look: Callable[[str, list[icu.Node]], str]) -> Check:
    """`look` at each message's tree; what is missing, English or malformed is a fault of its own."""
    faults = {}
    for key in keys:
        if untouched(got, key, job):
            faults[key] = "is missing or English"
            continue
        try:
            fault = look(key, icu.parse(got[key]))
        except icu.Malformed as error:
            fault = str(error)
        if fault:
            faults[key] = fault
    return share(faults, len(keys))


def translated(got: Mapping[str, str], job: Job) -> Check:
    new = [key for key in job.ours if job.status[key] == "new"]
    open_ = [key for key in new if untouched(got, key, job)]
    return Check.of(len(open_) <= (1 - MOST) * len(new), f"{len(open_)} of {len(new)} are missing or English")


def keys(raw: Any, got: Mapping[str, str], job: Job) -> Check:
    lacking, extra = [k for k in job.source if k not in got], [k for k in raw if k not in job.source]
    return Check.of(not lacking and not extra, f"missing or empty: {lacking[:SHOWN]}; unknown: {extra[:SHOWN]!r:.200}")


def approved(got: Mapping[str, str], job: Job) -> Check:
    given = {k: v for k, v in job.existing.items() if job.status[k] == "approved"}
    return share({k: f"changed to {got.get(k)!r:.60}" for k, v in given.items() if got.get(k) != v}, len(given))


def messages(got: Mapping[str, str], job: Job) -> Check:
    def look(key: str, nodes: list[icu.Node]) -> str:
        mine, theirs = icu.shape(nodes), icu.shape(job.trees[key])
        if mine != theirs:
            return f"arguments differ in {sorted(mine ^ theirs)!r:.120}"
        lost = icu.exact_cases(job.trees[key]) - icu.exact_cases(nodes)
        if lost:
            return f"lacks the cases {sorted(lost)!r:.60}"
        return "" if icu.tags(got[key]) == icu.tags(job.source[key]) else "tags differ"

    return judged(got, job.ours, job, look)


def plurals(got: Mapping[str, str], job: Job) -> Check:
    wanted = set(job.expected["plural"])
    chosen = [k for k in job.ours if any(a.type in ("plural", "selectordinal") for a in icu.arguments(job.trees[k]))]

    def look(key: str, nodes: list[icu.Node]) -> str:
        for one in icu.arguments(nodes):
            if one.type == "plural" and not wanted <= set(one.branches):
                return f"{one.name!r} lacks {', '.join(sorted(wanted - set(one.branches)))}"
            if one.type in ("plural", "selectordinal") and not icu.counts(one.branches["other"]):
                return f"{one.name!r} does not show its number"
        found = {a.name for a in icu.arguments(nodes) if a.branches and a.type != "select"}
        lost = {a.name for a in icu.arguments(job.trees[key]) if a.branches and a.type != "select"} - found
        return f"{', '.join(sorted(lost))} is no plural" if lost else ""

    return judged(got, chosen, job, look)


def glossary(got: Mapping[str, str], job: Job) -> Check:
    terms, avoid = job.expected["terms"], job.expected["avoid"]
    said = {key: icu.literal(job.trees[key]) for key in job.ours}
    mentioned = {key: [t for t in terms if re.search(rf"\b{t}s?\b", said[key], re.IGNORECASE)] for key in job.ours}

    def look(key: str, nodes: list[icu.Node]) -> str:
        text = icu.literal(nodes)
        for term in mentioned[key]:
            exact = 0 if term == "Marquee" else re.IGNORECASE
            if not re.search(terms[term], text, exact):
                return f"lacks the glossary's word for {term!r}"
            if term in avoid and re.search(avoid[term], text, re.IGNORECASE):
                return f"has a word to avoid for {term!r}"
        return ""

    return judged(got, [key for key in job.ours if mentioned[key]], job, look)


def limits(got: Mapping[str, str], job: Job) -> Check:
    chosen = [key for key in job.limits if key in job.ours]

    def look(key: str, nodes: list[icu.Node]) -> str:
        length = len(got[key].strip())
        return f"{length} characters, {job.limits[key]} fit" if length > job.limits[key] else ""

    return judged(got, chosen, job, look)


def address(got: Mapping[str, str], job: Job) -> Check:
    wrong = re.compile(job.expected["wrong_address"], re.IGNORECASE)

    def look(key: str, nodes: list[icu.Node]) -> str:
        found = wrong.search(icu.literal(nodes))
        return f"says {found.group()!r}" if found else ""

    present = [key for key in job.ours if not untouched(got, key, job)]
    checked = judged(got, present, job, look) if present else Check(0.0, "nothing is translated")
    return Check.of(checked.passed, checked.reason)


def meaning(got: Mapping[str, str], job: Job) -> Check:
    expected = job.expected["meaning"]

    def look(key: str, nodes: list[icu.Node]) -> str:
        text = icu.literal(nodes)
        lost = [words for words in expected[key] if not re.search(words, text, re.IGNORECASE)]
        return f"says none of {lost[0]}" if lost else ""

    return judged(got, list(expected), job, look)


def grade(case: Case) -> Grade:
    job = job_of(case)
    return gate_and_score(
        case,
        gates={"translated": lambda: translated(delivered(case), job)},
        score={
            "keys": lambda: keys(case.json("translation.json"), delivered(case), job),
            "approved": lambda: approved(delivered(case), job),
            "messages": lambda: messages(delivered(case), job),
            "plurals": lambda: plurals(delivered(case), job),
            "glossary": lambda: glossary(delivered(case), job),
            "limits": lambda: limits(delivered(case), job),
            "address": lambda: address(delivered(case), job),
            "meaning": lambda: meaning(delivered(case), job),
        },
    )
