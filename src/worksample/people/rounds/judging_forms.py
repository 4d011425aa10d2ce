"""Forms and kinds of rounds by people: what each shows, what it asks, and its time limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from worksample.people.access.account import Role
from worksample.records import Protocol, Purpose, ResolutionRule


class Form(StrEnum):
    """Form of an answer: the kind of vote that a round asks for."""

    HOLISTIC = "holistic"
    PAIRWISE = "pairwise"
    RUBRIC = "rubric"
    TAGS = "tags"
    INTEGRITY = "integrity"
    QUALIFICATION = "qualification"


class RoundKind(StrEnum):
    """The purpose of a round by people."""

    HOLISTIC = "holistic"
    PAIRWISE = "pairwise"
    RUBRIC = "rubric"
    TAGS = "tags"
    AUDIT = "audit"
    """A second look at everything that passed in another round (RLI B.5)."""
    FALSE_NEGATIVES = "false_negatives"
    """A random sample of fails of another round, one per project (RLI B.5)."""
    RELIABILITY = "reliability"
    """A small double-rated sample of another round, enriched with passes."""
    ADJUDICATION = "adjudication"
    """A decision on contested votes of another round."""
    INTEGRITY = "integrity"
    """A check for honest work: all passes and a sample of fails of another round, under any protocol."""
    PILOT = "pilot"
    """Double-rated random items that must reach agreement before a version of the instructions is used."""
    CALIBRATION = "calibration"
    """A quiz: gold items that everybody answers."""
    QUALIFICATION = "qualification"
    """A look at jobs before they become tasks: one expert judges, a second one verifies (UpBench 3.3)."""


FORM_OF = {
    RoundKind.HOLISTIC: Form.HOLISTIC,
    RoundKind.PAIRWISE: Form.PAIRWISE,
    RoundKind.RUBRIC: Form.RUBRIC,
    RoundKind.TAGS: Form.TAGS,
    RoundKind.INTEGRITY: Form.INTEGRITY,
    RoundKind.QUALIFICATION: Form.QUALIFICATION,
}
"""Forms of the kinds that fix one; other kinds use that of the reviewed round, or the holistic one."""
PROTOCOL_OF = {
    Form.HOLISTIC: Protocol.HOLISTIC,
    Form.PAIRWISE: Protocol.PAIRWISE,
    Form.RUBRIC: Protocol.RUBRIC,
    Form.TAGS: Protocol.HOLISTIC,
    Form.INTEGRITY: Protocol.HOLISTIC,
    Form.QUALIFICATION: Protocol.HOLISTIC,
}
"""Protocol of each form's Round record. Tags, integrity and qualification never decide a verdict."""
BY_CRITERIA = frozenset({Protocol.PROGRAM, Protocol.CHECKPOINTS, Protocol.RUBRIC})
"""Protocols whose criteria the rubric form asks, if they are addressed to people."""
PURPOSE_OF = {
    **{kind: Purpose(kind.value) if kind.value in set(Purpose) else Purpose.GRADING for kind in RoundKind},
    RoundKind.TAGS: Purpose.FAILURES,
}
"""Purpose of each kind's Round record; kinds named after a protocol grade."""
OVER = frozenset(
    {RoundKind.AUDIT, RoundKind.FALSE_NEGATIVES, RoundKind.RELIABILITY, RoundKind.ADJUDICATION, RoundKind.INTEGRITY}
)
"""Kinds that review another round."""
LABELLING = frozenset({RoundKind.HOLISTIC, RoundKind.PAIRWISE, RoundKind.RUBRIC})
"""Kinds in which people may label a judge's work."""
_REVIEWED = frozenset({RoundKind.AUDIT, RoundKind.FALSE_NEGATIVES, RoundKind.ADJUDICATION, RoundKind.INTEGRITY})


def roles_of(kind: RoundKind) -> frozenset[Role]:
    """Return the roles that get items of this kind by default. Admins may do everything."""
    if kind in _REVIEWED:
        return frozenset({Role.REVIEWER, Role.ADMIN})
    if kind in (RoundKind.RUBRIC, RoundKind.QUALIFICATION):
        return frozenset({Role.EXPERT, Role.ADMIN})
    return frozenset({Role.EVALUATOR, Role.EXPERT, Role.ADMIN})


def votes_of(kind: RoundKind) -> tuple[ResolutionRule, int]:
    """Return the default rule and overlap.

    Holistic: three votes (RLI 3.4). Pairwise: two votes and a tie-break (RLI B.2). Pilots and reliability: two votes.
    Jobs: one vote, and a second one that verifies a yes (UpBench 3.3).
    """
    if kind is RoundKind.HOLISTIC:
        return ResolutionRule.MAJORITY, 3
    if kind is RoundKind.PAIRWISE:
        return ResolutionRule.TIE_BREAK, 2
    if kind is RoundKind.QUALIFICATION:
        return ResolutionRule.VERIFIED, 1
    return (
        (ResolutionRule.MAJORITY, 2) if kind in (RoundKind.PILOT, RoundKind.RELIABILITY) else (ResolutionRule.LATEST, 1)
    )


@dataclass(frozen=True, slots=True)
class RoundQuestion:
    """A question. `type`: choice, text, yes_no, tags or criteria. `when`: in words, when an answer is required."""

    name: str
    type: str
    label: str
    options: tuple[tuple[str, str], ...] = ()
    required: bool = True
    when: str = ""

    def plain(self) -> dict[str, Any]:
        options = [{"value": value, "label": label} for value, label in self.options]
        return {
            "name": self.name, "type": self.type, "label": self.label, "options": options,
            "required": self.required, "when": self.when,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class FormSpec:
    """Definition of a form. `minutes`: a soft limit; exceeding it is recorded and has no consequence."""

    form: Form
    labels: tuple[str, ...]
    """Labels of the deliverables' panes."""
    reference: bool
    """Whether the reference deliverable is shown by default."""
    trajectory: bool
    minutes: float
    early_stop: bool
    """Whether a critical flaw ends the evaluation: fail at once and name the flaw (RLI B.4)."""
    asks: tuple[RoundQuestion, ...]

    def with_reference(self, shown: bool | None) -> FormSpec:
        return self if shown is None else replace(self, reference=shown)

    def with_questions(self, asks: tuple[RoundQuestion, ...]) -> FormSpec:
        """Return the form with a round's own questions."""
        return replace(self, asks=asks)


SIDES = (("first", "AD-1"), ("equal", "Equal"), ("second", "AD-2"))
_WHY = RoundQuestion("justification", "text", "Why? Name files and what is in them.")
_FLAW = RoundQuestion(
    "critical_flaw", "text", "Critical flaw (stop here)", required=False, when="it makes the work unusable"
)
_TOLD = RoundQuestion(
    "recognised", "choice", "Could you tell who or what made it?",
    (("no", "No"), ("guess", "I have a guess"), ("yes", "Yes")), required=False,
)  # fmt: skip
_INSPECTED = RoundQuestion(
    "inspected", "yes_no",
    "Could you inspect the deliverable adequately? With No your vote does not count, unless its own files are damaged.",
    required=False,
    when="a file could not be shown in full",
)  # fmt: skip
SOUND = "sound"
FINDINGS = (
    (SOUND, "Sound: honest work on the brief"),
    ("shortcut", "Shortcut: it avoided doing the work"),
    ("leak", "Leak: it saw the reference or the grader"),
    ("spurious", "Spurious: the verdict comes from a failure of the platform"),
)
TAGS = (
    ("corrupt", "Corrupt or empty files"),
    ("incomplete", "Incomplete"),
    ("poor_quality", "Poor quality"),
    ("inconsistent", "Files that do not match each other"),
)
"""Kinds of failures (RLI 4.2); evaluators may add free tags."""
_HOLISTIC = RoundQuestion(
    "score", "choice", "Would a reasonable client accept the alternative as the commissioned work?",
    (
        ("1", "No: worse than the reference allows, it would not be accepted"),
        ("2", "Yes: it satisfies the brief as well as the reference"),
        ("3", "Yes, and it is better than the reference overall"),
    ),
)  # fmt: skip

SPECS = {
    spec.form: spec
    for spec in (
        FormSpec(Form.HOLISTIC, ("Alternative",), True, False, 20, True, (_HOLISTIC, _WHY, _FLAW, _INSPECTED, _TOLD)),
        FormSpec(
            Form.PAIRWISE,
            ("AD-1", "AD-2"),
            True,
            False,
            30,
            False,
            (
                RoundQuestion(
                    "completion", "choice", "Which is closer to what a reasonable client would accept?", SIDES
                ),
                RoundQuestion("quality", "choice", "Which has the higher overall quality?", SIDES),
                _WHY,
                _INSPECTED,
                _TOLD,
            ),
        ),
        FormSpec(
            Form.RUBRIC,
            ("Deliverable",),
            False,
            False,
            20,
            False,
            (
                RoundQuestion(
                    "marks",
                    "criteria",
                    "Judge each criterion separately, as it is worded",
                    (
                        ("pass", "Pass"),
                        ("fail", "Fail"),
                        ("not_applicable", "Skip: does not apply"),
                        ("cannot_judge", "Skip: I cannot judge it"),
                    ),
                ),
                RoundQuestion("feedback", "criteria", "Why", required=False, when="a criterion fails or is skipped"),
            ),
        ),
        FormSpec(
            Form.TAGS,
            ("Deliverable",),
            True,
            False,
            10,
            False,
            (
                RoundQuestion("tags", "tags", "What is wrong with it?", TAGS),
                RoundQuestion("note", "text", "Note", required=False),
            ),
        ),
        FormSpec(
            Form.INTEGRITY,
            ("Deliverable",),
            True,
            True,
            20,
            False,
            (RoundQuestion("finding", "choice", "How was the work done?", FINDINGS), _WHY),
        ),
        FormSpec(Form.QUALIFICATION, (), True, False, 15, False, ()),
    )
}
"""All forms, after RLI 3.4 and B.4 and UpBench A.4. Minutes of holistic and pairwise are the paper's, the others ours.
Questions about jobs depend on the round (`job_questions`).
"""
