"""The content of a task package after it was read and checked, before it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.records import About, CollectSpec, Criteria, Deliverable, Environment, Protocol

from .shown_reference import ReferenceVisibility


@dataclass(frozen=True, slots=True)
class GradingSpec:
    """The content of a table `[grading.PROTOCOL]`. `settings` contains `timeout` (in seconds) and `memory` (in bytes)
    if the table sets them.
    """

    protocol: Protocol
    entry: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InstanceSpec:
    """The content of a table `[[instance]]`. `inputs` and `reference` are folders relative to the package."""

    name: str
    title: str
    inputs: str
    reference: str
    brief_file: str
    brief: str
    """The text of the file `brief_file`, with placeholders replaced by settings."""
    settings: Mapping[str, Any]
    environment: Environment
    """The environment of the task, with the instance's own limits and paths."""
    deliverables: tuple[Deliverable, ...]
    """The deliverables of the task and of the instance together."""


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """A test case of a grader: a submission, and the score that it must get."""

    name: str
    about: str
    instance: str
    low: float
    high: float
    """Upper end of the allowed range of scores; `low` is the lower end. Both are equal if `case.toml` states a single
    score.
    """
    passes: Mapping[str, bool]
    base: str
    """The files to which the files in `output/` are added: `nothing` for none, or `reference`."""
    output: Path
    script: Path | None = None
    """Path of a script that replaces `output/`. The state of the company's services after the script is the
    submission.
    """


@dataclass(frozen=True, slots=True)
class Package:
    """A task package without faults, as it was read from its folder."""

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
    """Names of the files in `probes/`, in alphabetical order."""
    root_captured: bool = False
    """True if the agent's changes to the image's root file system are stored."""
    collect: tuple[CollectSpec, ...] = ()
    """Commands that run in the agent's box after the work, before the evidence is stored."""
    exports: tuple[str, ...] = ()
    """Names of the services whose state is stored when a trial ends."""
    shown: ReferenceVisibility = field(default_factory=ReferenceVisibility)
    """Which files of the reference people see."""
    apart: frozenset[str] = field(default_factory=frozenset)
    """Paths in the package that do not belong to the grader, such as briefs, inputs and references."""
