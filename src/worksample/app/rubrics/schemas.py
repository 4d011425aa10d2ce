"""JSON models of rubrics written in the app: flat, with an importance for each criterion."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from worksample.app.server.json_models import Micros, RequestBody, ResponseBody
from worksample.records import By, Importance

Text = Annotated[str, Field(min_length=1, max_length=2000)]
CriterionId = Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
SuggestionId = Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9]+$")]
MOST = 200
"""Most criteria in one request."""


LEAST, MOST_SUGGESTED = 3, 20
"""Fewest and most criteria that a model may be asked for."""


class CriterionBody(RequestBody):
    """A criterion. `gate`: failing it makes the whole score 0."""

    id: CriterionId
    text: Text
    importance: Importance
    by: By
    gate: bool


class RubricDraft(RequestBody):
    """A new version. `over`: the version that it follows; 0 for the first."""

    over: int = Field(ge=0, le=100_000)
    reason: str = Field(max_length=5000)
    suggestions: Annotated[tuple[SuggestionId, ...], Field(max_length=MOST)] = ()
    """Suggestions from which criteria were taken."""
    criteria: Annotated[tuple[CriterionBody, ...], Field(min_length=1, max_length=MOST)]


class LintBody(RequestBody):
    """Criteria texts to check, unfinished ones included."""

    texts: Annotated[tuple[Annotated[str, Field(max_length=2000)], ...], Field(max_length=MOST)]


class FlawView(ResponseBody):
    """A flaw in a text. `words`: the flawed words; `instead`: what to write."""

    fault: str
    words: str
    instead: str


class LintResult(ResponseBody):
    """`flaws`: of each text, in order. `size`: a warning about the number of criteria; "" for none."""

    flaws: tuple[tuple[FlawView, ...], ...]
    size: str


class TomlBody(RequestBody):
    """The text of a `criteria.toml`."""

    text: str = Field(max_length=1_000_000)


class RubricCriteriaView(ResponseBody):
    criteria: tuple[CriterionBody, ...]


class RubricRow(ResponseBody):
    """A rubric by its latest version. `rounds`: number of rounds that asked any of its versions."""

    name: str
    number: int
    criteria: int
    author: str
    reason: str
    at: Micros
    rounds: int


class SuggestBody(RequestBody):
    """The client's brief, and the number of criteria wanted."""

    brief: str = Field(min_length=1, max_length=100_000)
    count: int = Field(ge=LEAST, le=MOST_SUGGESTED)


class Suggester(ResponseBody):
    """`model`: "" if none is configured."""

    model: str


class SuggestedView(ResponseBody):
    text: str
    importance: Importance


class SuggestionView(ResponseBody):
    """A model's draft; no version contains it until somebody takes it over. `prompt`: digest of the prompt. `cost`: US
    dollars, null if the model has no price.
    """

    id: str
    model: str
    prompt: str
    criteria: tuple[SuggestedView, ...]
    cost: float | None
    at: Micros


class TakenView(ResponseBody):
    """A model's draft whose criteria a version contains: how many were suggested, and how many are unchanged."""

    model: str
    prompt: str
    suggested: int
    unchanged: int
    at: Micros


class VersionView(ResponseBody):
    """A version. `rounds`: ids of rounds that asked exactly these criteria. `taken`: models' drafts that it took
    criteria from.
    """

    number: int
    digest: str
    criteria: tuple[CriterionBody, ...]
    author: str
    reason: str
    at: Micros
    rounds: tuple[str, ...]
    taken: tuple[TakenView, ...]


class RubricView(ResponseBody):
    """A rubric with all its versions, the latest first."""

    name: str
    versions: tuple[VersionView, ...]
