"""Checks for criteria that people or judges cannot answer consistently (UpBench A.3): subjective, unmeasurable,
compound, or unrelated to the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from worksample.records import By, Criterion, Instance, Protocol

from .findings import AuditCheck, Finding, warning
from .rubric_fault_words import COMPOUND, HEDGED, MEASURE, QUOTED, SUBJECTIVE, TIMELINE, UNMEASURABLE, VERB, WORKER

FEWEST, MOST = 5, 20
"""Usual numbers of criteria in a rubric (UpBench 3.4, A.3)."""
_BY_PROGRAMS = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS})


class RubricFault(StrEnum):
    """A fault of a criterion's text."""

    SUBJECTIVE = "subjective"
    UNMEASURABLE = "unmeasurable"
    COMPOUND = "compound"
    TIMELINE = "timeline-related"
    WORKER = "worker-related"
    NO_VERB = "without a verb"


INSTEAD = {
    RubricFault.SUBJECTIVE: "name visible facts: which parts, how many, which format "
    "('contains a title and axis labels')",
    RubricFault.UNMEASURABLE: "give a measure: a number, a list, or a comparison ('covers all 12 months')",
    RubricFault.COMPOUND: "make one criterion of each claim, so that each can pass or fail by itself",
    RubricFault.TIMELINE: "remove it: the work does not show when it was done (limits belong under [environment])",
    RubricFault.WORKER: "remove it: the work does not show who did it; say what the work must contain",
    RubricFault.NO_VERB: "write it as a claim that is true or false: 'Contains...', 'Includes...', 'Lists...'",
}


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fault, and the words that reveal it."""

    fault: RubricFault
    words: str


def lint(text: str) -> tuple[Flaw, ...]:
    """Return the flaws of one criterion's text, each kind once. Quoted text belongs to the deliverable and is
    skipped.
    """
    plain = QUOTED.sub(" ", text)
    found = {
        RubricFault.SUBJECTIVE: SUBJECTIVE.search(plain),
        RubricFault.UNMEASURABLE: HEDGED.search(plain)
        or (None if MEASURE.search(plain) else UNMEASURABLE.search(plain)),
        RubricFault.COMPOUND: COMPOUND.search(plain),
        RubricFault.TIMELINE: TIMELINE.search(plain),
        RubricFault.WORKER: WORKER.search(plain),
    }
    flaws = [Flaw(fault, " ".join(match.group().split())) for fault, match in found.items() if match]
    # A criterion that is to be removed needs no verb.
    if not VERB.search(plain) and not (found[RubricFault.TIMELINE] or found[RubricFault.WORKER]):
        flaws.append(Flaw(RubricFault.NO_VERB, ""))
    return tuple(flaws)


def check_rubric(instance: Instance) -> Iterator[Finding]:
    """Return warnings about the wording of a rubric. Criteria that a program decides are skipped."""
    graded = bool(_BY_PROGRAMS.intersection(instance.grading))
    for protocol, grading in instance.grading.items():
        leaves = [c for c in grading.criteria.leaves if c.by is not By.PROGRAM or not graded]
        for leaf in leaves:
            yield from _findings(leaf)
        if protocol is Protocol.RUBRIC and (unusual := lint_size(len(grading.criteria.leaves))):
            yield warning(AuditCheck.RUBRIC, unusual[0], "criteria.toml", unusual[1])


def _findings(leaf: Criterion) -> Iterator[Finding]:
    for flaw in lint(leaf.text):
        words = f": {flaw.words!r}" if flaw.words else ""
        what = f"criterion {leaf.id!r} is {flaw.fault}{words}"
        yield warning(AuditCheck.RUBRIC, what, "criteria.toml", INSTEAD[flaw.fault])


def lint_size(size: int) -> tuple[str, str] | None:
    """Return what is unusual about the number of criteria, and what to do; None for a usual number."""
    if FEWEST <= size <= MOST:
        return None
    do = (
        "split the criteria into claims that pass or fail separately"
        if size < FEWEST
        else "keep only what the brief asks for, and merge criteria that always pass together"
    )
    return f"the rubric has {size} criteria, {FEWEST} to {MOST} are usual", do
