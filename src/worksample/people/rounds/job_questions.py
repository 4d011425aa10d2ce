"""Questions about a job: UpBench's three criteria (3.3, A.1, A.2), and an organisation's own from a TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from worksample.errors import ManifestError
from worksample.files.config_files import Faults, Texts, need_file, read_toml, validate
from worksample.records import Frozen
from worksample.results.job_suitability import CORE_NAMES
from worksample.results.round_evaluations import NO

from .judging_forms import RoundQuestion

YES, NONE = "yes", "not_applicable"
CONTEXT, QUALITY, IDENTIFIERS = CORE_NAMES
CRITERIA = "acceptance_criteria"
WHY = "_why"
"""Suffix of the field that asks for a question's reason."""
LARGEST = 20
"""Most questions of one's own."""
_YES_NO = ((YES, "Yes"), (NO, "No"))


class Question(Frozen):
    """An additional question about a job. With `answers` it sets a label, without them it is yes or no."""

    name: str = Field(pattern="^[a-z][a-z0-9_]{0,39}$")
    text: str = Field(min_length=1, max_length=500)
    decides: bool = False
    """Whether a no disqualifies the job."""
    answers: Texts = ()

    @model_validator(mode="after")
    def _validate_question(self) -> Self:
        if self.answers and self.decides:
            raise ValueError(
                "a question that decides must be answered by yes or no: remove `answers`, or set decides = false"
            )
        if self.answers and (len(set(self.answers)) < 2 or any(not a.strip() for a in self.answers)):
            raise ValueError("give at least two answers, all different")
        return self

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        return tuple((a, a) for a in self.answers) or _YES_NO


_TEXTS = {
    CONTEXT: "Is the context complete: can the work be done as written, from post and attachments alone?",
    QUALITY: "Is the human's deliverable good enough to be a reference?",
    IDENTIFIERS: "Are post and attachments free of identifiers of people, companies and the client?",
}
CORE = tuple(Question(name=name, text=text, decides=True) for name, text in _TEXTS.items())
"""Criteria 1 to 3 of UpBench B, Table 5. A yes passes, and so does a missing deliverable."""
_BESIDE = {QUALITY: (*_YES_NO, (NONE, "There is none to see"))}


def all_questions(questions: Sequence[Question] = ()) -> tuple[Question, ...]:
    """Return the core questions and the additional ones."""
    return (*CORE, *questions)


def deciding_names(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return the names of questions that disqualify a job if the answer is no."""
    return tuple(q.name for q in questions if q.decides)


def options_of(question: Question) -> tuple[tuple[str, str], ...]:
    """Return value and label of each answer."""
    return _BESIDE.get(question.name, question.options)


def asks_of(questions: Sequence[Question] = ()) -> tuple[RoundQuestion, ...]:
    """Return the form's questions: each with its reason, and the rubric that the expert may write (UpBench A.3)."""
    out: list[RoundQuestion] = []
    for question in all_questions(questions):
        when = "needed where the answer is no" if not question.answers else ""
        out.append(RoundQuestion(question.name, "choice", question.text, options_of(question)))
        out.append(RoundQuestion(question.name + WHY, "text", "Why?", required=False, when=when))
    text = "Acceptance criteria: a line for each, `critical - text` (or important, optional, pitfall)"
    return (*out, RoundQuestion(CRITERIA, "text", text, required=False, when="where you write the rubric"))


def faults_of(questions: Sequence[Question]) -> list[tuple[str, str]]:
    """List faults in the questions as a whole, as (field, fault)."""
    names = [*_TEXTS, CRITERIA, *(q.name for q in questions)]
    out = [("name", f"{name!r} is taken") for name in sorted({n for n in names if names.count(n) > 1})]
    out += [("name", f"{name!r} ends like a reason") for name in names if name.endswith(WHY)]
    if len(questions) > LARGEST:
        out.append(("", f"{len(questions)} questions; at most {LARGEST} are asked"))
    return out


class QuestionFile(Frozen):
    """A TOML file of questions."""

    question: tuple[Question, ...] = ()


def read_questions(path: Path) -> tuple[Question, ...]:
    """Read the `[[question]]` tables of a TOML file. Raises ManifestError with all faults."""
    need_file(path)
    faults = Faults()
    document = read_toml(path, path.name, faults)
    table = validate(QuestionFile, document.data, faults, file=path.name)
    found = table.question if table else ()
    for at, what in faults_of(found):
        faults.add(path.name, f"question.{at}" if at else "question", what)
    faults.check("the questions", f"correct {path} and try again")
    if not found:
        raise ManifestError("the file has no question", where=str(path), next="write a [[question]] with name and text")
    return found
