"""Rubrics as they are written in the app: flat, with an importance for each criterion."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from worksample.records import By, Importance

from .base import Micros, Sent, Shown

Text = Annotated[str, Field(min_length=1, max_length=2000)]
CriterionId = Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
MOST = 200
"""Criteria that are taken at once."""


class CriterionBody(Sent):
    """One criterion. `gate`: failing it makes the whole 0."""

    id: CriterionId
    text: Text
    importance: Importance
    by: By
    gate: bool


class RubricDraft(Sent):
    """What is to become the version after `over`; 0: the first."""

    over: int = Field(ge=0, le=100_000)
    reason: str = Field(max_length=5000)
    criteria: Annotated[tuple[CriterionBody, ...], Field(min_length=1, max_length=MOST)]


class LintBody(Sent):
    """Texts to be looked at, half written ones too."""

    texts: Annotated[tuple[Annotated[str, Field(max_length=2000)], ...], Field(max_length=MOST)]


class FlawView(Shown):
    """`words` show it; `instead`: what to write."""

    fault: str
    words: str
    instead: str


class Linted(Shown):
    """`flaws`: of each text, in order. `size`: what is unusual about how many there are, or nothing."""

    flaws: tuple[tuple[FlawView, ...], ...]
    size: str


class TomlBody(Sent):
    """The text of a `criteria.toml`."""

    text: str = Field(max_length=1_000_000)


class CriteriaView(Shown):
    criteria: tuple[CriterionBody, ...]


class RubricRow(Shown):
    """A rubric by its latest version. `rounds`: how many asked any version of it."""

    name: str
    number: int
    criteria: int
    author: str
    reason: str
    at: Micros
    rounds: int


class VersionView(Shown):
    """`rounds`: ids of those that asked exactly these criteria."""

    number: int
    digest: str
    criteria: tuple[CriterionBody, ...]
    author: str
    reason: str
    at: Micros
    rounds: tuple[str, ...]


class RubricView(Shown):
    """All versions, the latest first."""

    name: str
    versions: tuple[VersionView, ...]
