"""Names and types of the keyword arguments of `run`, `resume`, `grade` and `submit`, so that editors complete them.

The docstring of each function explains its arguments with examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from worksample.models.price import Price
    from worksample.records.task import Protocol
    from worksample.records.verdict import JudgedBy
    from worksample.store import Store

    PriceTable = Mapping[str, Price | Mapping[str, float | None]]

Table = Mapping[str, Any]
"""A table of an experiment file, as a dictionary."""
ProtocolName = Literal["program", "checkpoints", "rubric", "holistic", "pairwise"]


class RunSettings(TypedDict, total=False):
    """Keyword arguments of `run`: the keys of an experiment file, and `model` and `script` for every agent."""

    model: str | Sequence[str] | None
    script: str | Path | None
    name: str | None
    store: Store | str | Path | None
    suite: str | None
    only: Sequence[str] | None
    agents: Sequence[Table] | None
    arms: Sequence[Table] | None
    chain: Table | None
    repeats: int | None
    protocols: Sequence[ProtocolName | Protocol] | None
    protocol: ProtocolName | Protocol | None
    judges: Mapping[str, Table] | None
    people: Table | None
    calibration: Table | None
    judged_by: Literal["combined", "people", "judge", "program"] | JudgedBy | None
    limits: Table | None
    parallel: int | None
    graders: int | None
    tries: int | None
    seed: int | None
    sandbox: str | None
    prices: PriceTable | None
    services: Mapping[str, Table] | None
    check_models: bool | None
    roles: Mapping[str, str] | None
    allow_hosts: Sequence[str] | None
    author: str | None


class ResumeOptions(TypedDict, total=False):
    """Keyword arguments of `resume`. An option that is left out stays as it was planned."""

    parallel: int | None
    graders: int | None
    tries: int | None
    judges: Mapping[str, Table]
    prices: PriceTable
    services: Mapping[str, Table]


class GradeOptions(TypedDict, total=False):
    """Keyword arguments of `grade`."""

    protocol: ProtocolName | Protocol | None
    by: Literal["program", "judge"]
    reason: str
    graders: int
    sandbox: str | None
    author: str | None
    judges: Mapping[str, Table]
    prices: PriceTable
    services: Mapping[str, Table]


class SubmissionFacts(TypedDict, total=False):
    """Keyword arguments of `submit`: what is known of the work. A fact that is left out is unknown, and never 0."""

    instance: str | None
    at: datetime | None
    minutes: float | None
    cost: float | None
    author: str | None
    repeat: int


def refuse_unknown(function: str, given: Mapping[str, Any], kind: type) -> None:
    """Raise UsageError if `given` holds a name that the TypedDict `kind` lacks."""
    from worksample.errors import UsageError

    allowed = tuple(kind.__annotations__)
    if unknown := [name for name in given if name not in allowed]:
        raise UsageError(f"{function} has no option {unknown[0]!r}", next=f"one of {', '.join(allowed)}")
