"""Validation of answers: every required question is answered, and nothing else is in the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from worksample.people.access.tokens import storable
from worksample.people.errors import InvalidAnswer
from worksample.people.rounds.job_questions import CRITERIA, WHY, Question, all_questions, asks_of, options_of
from worksample.people.rounds.judging_forms import FINDINGS, SPECS, Form
from worksample.records import (
    Criteria,
    GradePayload,
    Holistic,
    Importance,
    Labels,
    Pairwise,
    PairwiseChoice,
    PartPayload,
    Payload,
    SkipReason,
    Tags,
)
from worksample.records.rubric_text import read_lines
from worksample.records.weighted_criteria import weigh
from worksample.results.round_evaluations import NO

LONGEST = 20_000
"""Maximum number of characters of a text in an answer."""
_SKIPS = {"not_applicable": SkipReason.NOT_APPLICABLE, "cannot_judge": SkipReason.CANNOT_JUDGE}
Answer = tuple[Payload, dict[str, Any]]
"""Payload of an answer, and the answers that are not part of the payload: `critical_flaw`, `recognised` and
`inspected`.
"""


def read_answer(form: Form, sent: Mapping[str, Any], criteria: Criteria, questions: Sequence[Question] = ()) -> Answer:
    """Convert an answer to a payload. Raises InvalidAnswer with all missing or wrong answers. `questions`: the round's
    own.
    """
    asks = asks_of(questions) if form is Form.QUALIFICATION else SPECS[form].asks
    known = {ask.name for ask in asks}
    faults = dict.fromkeys(sorted(set(map(str, sent)) - known), "is not asked here")
    answer = _Answer(sent, faults)
    if form is Form.RUBRIC:
        payload: Payload | None = _rubric(answer, criteria)
    elif form is Form.QUALIFICATION:
        payload = _qualification(answer, questions)
    else:
        payload = _READERS[form](answer)
    beside: dict[str, Any] = {
        name: value for name in ("critical_flaw", "recognised") if (value := answer.text(name, needed=False))
    }
    if "inspected" in known and sent.get("inspected") is not None:
        beside["inspected"] = answer.flag("inspected")
    if beside.get("recognised", "no") not in ("no", "guess", "yes"):
        faults["recognised"] = "is not one of no, guess, yes"
    if faults or payload is None:
        raise InvalidAnswer(faults)
    return payload, beside


class _Answer:
    def __init__(self, sent: Mapping[str, Any], faults: dict[str, str]) -> None:
        self.sent, self.faults = sent, faults

    def text(self, name: str, *, needed: bool = True) -> str:
        value = self.sent.get(name)
        if value is None:
            value = ""
        if not isinstance(value, str):
            self.faults[name] = "is not text"
            return ""
        if storable(value) != value:
            self.faults[name] = "has characters that are not text"
        if len(value) > LONGEST:
            self.faults[name] = f"is longer than {LONGEST} characters"
        if needed and not value.strip():
            self.faults[name] = "is missing"
        return value.strip()

    def choice(self, name: str, options: tuple[str, ...]) -> str:
        value = self.sent.get(name)
        text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
        if text not in options:
            self.faults[name] = "is missing" if value is None else f"is none of {', '.join(options)}"
            return ""
        return text

    def flag(self, name: str) -> bool:
        value = self.sent.get(name)
        if not isinstance(value, bool):
            self.faults[name] = "is neither true nor false"
        return bool(value)

    def table(self, name: str) -> dict[str, str]:
        value = self.sent.get(name) or {}
        good = isinstance(value, Mapping) and all(isinstance(k, str) and isinstance(v, str) for k, v in value.items())
        if not good:
            self.faults[name] = "is not a table of texts by criterion"
            return {}
        if any(storable(v) != v for v in value.values()):
            self.faults[name] = "has characters that are not text"
        if any(len(v) > LONGEST for v in value.values()):
            self.faults[name] = f"has a text longer than {LONGEST} characters"
        return dict(value)


def _holistic(answer: _Answer) -> Payload | None:
    score = answer.choice("score", ("1", "2", "3"))
    flaw = answer.text("critical_flaw", needed=False)
    if flaw and score in ("2", "3"):
        answer.faults["critical_flaw"] = "a deliverable with a critical flaw is not accepted: score 1, or no flaw"
    # The flaw is a sufficient reason: evaluators stop there (RLI B.4).
    why = answer.text("justification", needed=not flaw) or flaw
    inspected = answer.flag("inspected") if answer.sent.get("inspected") is not None else True
    if answer.faults:
        return None
    return Holistic.model_validate({"score": int(score), "justification": why, "inspected": inspected})


def _pairwise(answer: _Answer) -> Payload | None:
    sides = tuple(PairwiseChoice)
    completion, quality = answer.choice("completion", sides), answer.choice("quality", sides)
    why = answer.text("justification")
    if answer.faults:
        return None
    return Pairwise(completion=PairwiseChoice(completion), quality=PairwiseChoice(quality), justification=why)


def _tags(answer: _Answer) -> Payload | None:
    tags = answer.sent.get("tags")
    note = answer.text("note", needed=False)
    if not isinstance(tags, list | tuple) or not all(isinstance(t, str) for t in tags):
        answer.faults["tags"] = "is not a list of texts"
        return None
    named = tuple(dict.fromkeys(" ".join(t.split()).lower() for t in tags if t.strip()))
    if any(storable(t) != t for t in named):
        answer.faults["tags"] = "has characters that are not text"
    if not named or len(named) > 20 or any(len(t) > 60 for t in named):
        answer.faults["tags"] = "needs 1 to 20 tags of at most 60 characters"
    return None if answer.faults else Tags(tags=named, note=note)


def _integrity(answer: _Answer) -> Payload | None:
    finding = answer.choice("finding", tuple(value for value, _ in FINDINGS))
    why = answer.text("justification")
    return None if answer.faults else Labels(labels={"integrity": finding}, note=why)


def _qualification(answer: _Answer, questions: Sequence[Question]) -> Payload | None:
    labels, reasons = {}, {}
    for question in all_questions(questions):
        labels[question.name] = answer.choice(question.name, tuple(value for value, _ in options_of(question)))
        against = not question.answers and labels[question.name] == NO
        if why := answer.text(question.name + WHY, needed=against):
            reasons[question.name] = why
    criteria = Criteria()
    try:
        criteria = read_lines(answer.text(CRITERIA, needed=False))
    except ValueError as e:
        answer.faults[CRITERIA] = str(e)
    return None if answer.faults else Labels(labels=labels, reasons=reasons, criteria=criteria)


_READERS: dict[Form, Callable[[_Answer], Payload | None]] = {
    Form.HOLISTIC: _holistic,
    Form.PAIRWISE: _pairwise,
    Form.TAGS: _tags,
    Form.INTEGRITY: _integrity,
}


def _rubric(answer: _Answer, criteria: Criteria) -> Payload | None:
    marks, feedback = answer.table("marks"), answer.table("feedback")
    leaves = criteria.leaves
    ids = {leaf.id for leaf in leaves}
    for name in sorted((set(marks) | set(feedback)) - ids):
        answer.faults[name] = "is not a criterion"
    parts = []
    for leaf in leaves:
        mark, why = marks.get(leaf.id, ""), feedback.get(leaf.id, "").strip()
        if mark not in ("pass", "fail", *_SKIPS):
            answer.faults[leaf.id] = "has no mark: pass, fail, not_applicable or cannot_judge"
            continue
        if mark != "pass" and not why:
            answer.faults[leaf.id] = "needs a reason"
        fraction = None if mark in _SKIPS else float(mark == "pass")
        parts.append(
            PartPayload(
                name=leaf.id,
                points=leaf.worth,
                fraction=fraction,
                importance=leaf.importance,
                gate=leaf.gate,
                reason=why,
                skip=_SKIPS.get(mark),
            )
        )
    if not leaves:
        answer.faults["marks"] = "this instance has no criteria"
    return None if answer.faults else grade_of(criteria, tuple(parts))


def grade_of(criteria: Criteria, parts: tuple[PartPayload, ...]) -> GradePayload:
    """Compute the grade of a person's marks: points of passed criteria over those of applicable ones (UpBench 5.2.1:
    R).

    A failed gate closes the part that it belongs to (`records.weighted_criteria`). Full credit needs every applicable
    criterion; `metrics.rubric_scores` decides which ones completion needs.
    """
    score = weigh(criteria.criteria, {p.name: p.fraction for p in parts}) or 0.0
    failed = [p.name for p in parts if p.skip is None and not p.passed and p.importance is not Importance.OPTIONAL]
    reason = f"failed: {', '.join(failed)}" if failed else ""
    return GradePayload(score=score, parts=parts, composition="rubric", reason=reason[:LONGEST])
