"""JSON models of a vote's content, one per form."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from worksample.app.server.json_models import ResponseBody
from worksample.records import Importance, PairwiseChoice, Payload


class HolisticContent(ResponseBody):
    """A holistic vote. `score`: 1 no, 2 yes, 3 better than the reference."""

    type: Literal["holistic"]
    score: Literal[1, 2, 3]
    justification: str
    inspected: bool


class PairwiseContent(ResponseBody):
    """A vote between two submissions, in the order shown: the first is `submission`."""

    type: Literal["pairwise"]
    completion: PairwiseChoice
    quality: PairwiseChoice
    justification: str


class CriterionResult(ResponseBody):
    """The result of one criterion. `fraction` is null if it was skipped."""

    name: str
    points: float
    fraction: float | None
    importance: Importance | None
    gate: bool
    reason: str
    skip: Literal["not_applicable", "cannot_judge"] | None
    parts: tuple[CriterionResult, ...]


class GradeContent(ResponseBody):
    type: Literal["grade"]
    score: float
    parts: tuple[CriterionResult, ...]
    composition: str
    reason: str


class TagsContent(ResponseBody):
    type: Literal["tags"]
    tags: tuple[str, ...]
    note: str


class LabelsContent(ResponseBody):
    type: Literal["labels"]
    labels: dict[str, str]
    note: str
    reasons: dict[str, str] = {}
    criteria: dict[str, JsonValue] = {}
    """A rubric that the expert wrote with the labels."""


VoteContent = Annotated[
    HolisticContent | PairwiseContent | GradeContent | TagsContent | LabelsContent, Field(discriminator="type")
]
_READ: TypeAdapter[VoteContent] = TypeAdapter(VoteContent)


def vote_view(payload: Payload | None) -> VoteContent | None:
    """Return a payload as its JSON model; None for None."""
    return _READ.validate_python(payload.model_dump(mode="json")) if payload is not None else None
