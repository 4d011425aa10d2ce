"""A package as it was read and checked; nothing is ingested yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.records import About, CollectSpec, Criteria, Deliverable, Environment, Protocol

from .shown_reference import ReferenceVisibility


@dataclass(frozen=True, slots=True)
class GradingSpec:
    """A `[grading.PROTOCOL]` table. `settings` contains `timeout` (seconds) and `memory` (bytes) if they are given."""

    protocol: Protocol
    entry: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InstanceSpec:
    """An `[[instance]]` table; `inputs` and `reference` are folders relative to the package."""

    name: str
    title: str
    inputs: str
    reference: str
    brief_file: str
    brief: str
    """The text of `brief_file`, settings filled in."""
    settings: Mapping[str, Any]
    environment: Environment
    """The task's environment with the instance's own limits and paths."""
    deliverables: tuple[Deliverable, ...]
    """The task's and the instance's own."""


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """`cases/<name>/case.toml`: a submission, and the score that it must get."""

    name: str
    about: str
    instance: str
    low: float
    high: float
    """The score lies between low and high; both are the same if one figure is given."""
    passes: Mapping[str, bool]
    base: str
    """`nothing` or `reference`: the files in `output/` are added to it."""
    output: Path
    script: Path | None = None
    """The script of an agent, in place of `output`: its result in the company's services is the submission."""


@dataclass(frozen=True, slots=True)
class Package:
    """A task's folder, read and found sound."""

    root: Path
    id: str
    title: str
    version: str
    canary: str
    about: About
    criteria: Criteria
    notes: str
    gradings: Mapping[Protocol, GradingSpec]
    instances: tuple[InstanceSpec, ...]
    cases: tuple[CaseSpec, ...] = ()
    probes: tuple[str, ...] = ()
    """Names of the files in `probes/`, sorted."""
    root_captured: bool = False
    """Whether changes to the image's root are captured."""
    collect: tuple[CollectSpec, ...] = ()
    """Commands that run in the box before the capture."""
    exports: tuple[str, ...] = ()
    """Services whose state is captured when a trial ends."""
    shown: ReferenceVisibility = field(default_factory=ReferenceVisibility)
    """Which part of the references people see."""
    apart: frozenset[str] = field(default_factory=frozenset)
    """Paths in the package that are not part of the grader: briefs, inputs, references."""
