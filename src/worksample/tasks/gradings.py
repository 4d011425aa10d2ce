"""`[grading.PROTOCOL]`: how submissions are judged under each protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from worksample.manifests import Faults, Settings, Size, checked, told
from worksample.records import Frozen, Protocol

from .package_files import PythonFile
from .spec import GradingSpec

PROGRAMS = (Protocol.PROGRAM, Protocol.CHECKPOINTS)
RESERVED = ("timeout", "memory")
"""Names in a grading's settings that the platform fills from the keys beside them."""


def _unreserved(settings: dict[str, Any]) -> dict[str, Any]:
    for name in RESERVED:
        if name in settings:
            raise told(f"{name} is a reserved name; give it beside the settings, not in them")
    return settings


class GradingTable(Frozen):
    """How people or judges grade."""

    settings: Annotated[Settings, AfterValidator(_unreserved)] = {}


class ProgramTable(GradingTable):
    """How a program grades."""

    entry: PythonFile = Field(default="grade.py", validate_default=True)
    timeout: Annotated[float, Field(strict=True, gt=0)] | None = None
    memory: Size | None = None


class GradingsTable(Frozen):
    """`[grading]`: a table for each protocol."""

    program: ProgramTable | None = None
    checkpoints: ProgramTable | None = None
    rubric: GradingTable | None = None
    holistic: GradingTable | None = None
    pairwise: GradingTable | None = None


def read_gradings(data: object, faults: Faults, context: Mapping[str, Any]) -> dict[Protocol, GradingSpec]:
    """A spec per protocol; at least one is wanted."""
    file, at = "task.toml", "grading"
    table = checked(GradingsTable, data, faults, file=file, at=at, context=context)
    if isinstance(data, dict) and not any(protocol.value in data for protocol in Protocol):
        faults.add(file, at, "no protocol is given", [f"[grading.{p.value}]" for p in Protocol])
    given = {p: getattr(table, p.value, None) for p in Protocol}
    return {protocol: _spec(protocol, one) for protocol, one in given.items() if one is not None}


def _spec(protocol: Protocol, given: GradingTable) -> GradingSpec:
    settings = dict(given.settings)
    if not isinstance(given, ProgramTable):
        return GradingSpec(protocol, "", settings)
    settings |= {"timeout": given.timeout} if given.timeout is not None else {}
    settings |= {"memory": given.memory} if given.memory is not None else {}
    return GradingSpec(protocol, given.entry, settings)
