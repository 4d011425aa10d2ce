"""Rubrics as they are written in the app: flat, with an importance for each criterion."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from worksample.app.server.json_models import Micros, RequestBody, ResponseBody
from worksample.records import By, Importance

Text = Annotated[str, Field(min_length=1, max_length=2000)]
CriterionId = Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
SuggestionId = Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9]+$")]
MOST = 200
"""Criteria that are taken at once."""


LEAST, MOST_SUGGESTED = 3, 20
"""Criteria that a model may be asked for."""


class CriterionBody(RequestBody):
    """One criterion. `gate`: failing it makes the whole 0."""

    id: CriterionId
    text: Text
    importance: Importance
    by: By
    gate: bool


class RubricDraft(RequestBody):
    """What is to become the version after `over`; 0: the first."""

    over: int = Field(ge=0, le=100_000)
    reason: str = Field(max_length=5000)
    suggestions: Annotated[tuple[SuggestionId, ...], Field(max_length=MOST)] = ()
    """Of which criteria were taken."""
    criteria: Annotated[tuple[CriterionBody, ...], Field(min_length=1, max_length=MOST)]


class LintBody(RequestBody):
    """Texts to be looked at, half written ones too."""

    texts: Annotated[tuple[Annotated[str, Field(max_length=2000)], ...], Field(max_length=MOST)]


class FlawView(ResponseBody):
    """`words` show it; `instead`: what to write."""

    fault: str
    words: str
    instead: str


class LintResult(ResponseBody):
    """`flaws`: of each text, in order. `size`: what is unusual about how many there are, or nothing."""

    flaws: tuple[tuple[FlawView, ...], ...]
    size: str


class TomlBody(RequestBody):
    """The text of a `criteria.toml`."""

    text: str = Field(max_length=1_000_000)


class RubricCriteriaView(ResponseBody):
    criteria: tuple[CriterionBody, ...]


class RubricRow(ResponseBody):
    """A rubric by its latest version. `rounds`: how many asked any version of it."""

    name: str
    number: int
    criteria: int
    author: str
    reason: str
    at: Micros
    rounds: int


class SuggestBody(RequestBody):
    """The brief of the work, as the client wrote it, and how many criteria are wanted."""

    brief: str = Field(min_length=1, max_length=100_000)
    count: int = Field(ge=LEAST, le=MOST_SUGGESTED)


class Suggester(ResponseBody):
    """`model`: "" where none is configured."""

    model: str


class SuggestedView(ResponseBody):
    text: str
    importance: Importance


class SuggestionView(ResponseBody):
    """A draft by a model: no part of any version until somebody takes it. `prompt`: digest of what it was asked.
    `cost`: US dollars, null where it has no price.
    """

    id: str
    model: str
    prompt: str
    criteria: tuple[SuggestedView, ...]
    cost: float | None
    at: Micros


class TakenView(ResponseBody):
    """A model's draft of which a version has criteria: `suggested` of them, and how many stand as it wrote them."""

    model: str
    prompt: str
    suggested: int
    unchanged: int
    at: Micros


class VersionView(ResponseBody):
    """`rounds`: ids of those that asked exactly these criteria. `taken`: models' drafts that it has criteria of."""

    number: int
    digest: str
    criteria: tuple[CriterionBody, ...]
    author: str
    reason: str
    at: Micros
    rounds: tuple[str, ...]
    taken: tuple[TakenView, ...]


class RubricView(ResponseBody):
    """All versions, the latest first."""

    name: str
    versions: tuple[VersionView, ...]
