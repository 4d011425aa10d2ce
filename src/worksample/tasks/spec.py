"""A package as it was read: what its files say, checked, with nothing taken in yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.records import About, CollectSpec, Criteria, Deliverable, Environment, Protocol

from .shown_reference import ReferenceVisibility


@dataclass(frozen=True, slots=True)
class GradingSpec:
    """A `[grading.PROTOCOL]` table. `settings` holds `timeout` (seconds) and `memory` (bytes) where they are given."""

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
    """The task's, with the instance's own limits and paths."""
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
    """The score lies in low..high; both are the same where one figure is given."""
    passes: Mapping[str, bool]
    base: str
    """`nothing` or `reference`: what the files in `output/` are laid over."""
    output: Path
    script: Path | None = None
    """Of a scripted agent, in place of `output`: what it leaves in the company's services is the submission."""


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
    """Whether what was changed in the image's root is taken in."""
    collect: tuple[CollectSpec, ...] = ()
    """What is run in the box before that."""
    exports: tuple[str, ...] = ()
    """Services whose state is taken when a trial ends."""
    shown: ReferenceVisibility = field(default_factory=ReferenceVisibility)
    """What of the references people see."""
    apart: frozenset[str] = field(default_factory=frozenset)
    """Paths in the package that are no part of the grader: briefs, inputs, references."""
