"""`[grading.PROTOCOL]`: how submissions are graded under each protocol."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from worksample.files.config_files import AllowedText, Faults, Flag, Settings, Size, exact_fault, validate, value_fault
from worksample.records import Frozen, Protocol
from worksample.records.base import omittable

from .package_files import PythonFile
from .package_spec import GradingSpec

PROGRAMS = (Protocol.PROGRAM, Protocol.CHECKPOINTS)
RESERVED = ("timeout", "memory", "verifier", "workplace", "writable")
"""Names in a grading's settings that the platform fills from the keys beside them."""


def _refuse_reserved_names(settings: dict[str, Any]) -> dict[str, Any]:
    for name in RESERVED:
        if name in settings:
            raise exact_fault(f"{name} is a reserved name; give it beside the settings, not in them")
    return settings


class GradingTable(Frozen):
    """A grading by people or judges."""

    settings: Annotated[Settings, AfterValidator(_refuse_reserved_names)] = {}


def _plain_absolute_path(path: str) -> str:
    if (
        not path.startswith("/")
        or posixpath.normpath("/" + path.lstrip("/")) != path
        or path == "/"
        or not path.isprintable()
    ):
        raise value_fault()
    return path


AbsolutePath = Annotated[str, AfterValidator(_plain_absolute_path), AllowedText("a plain absolute path")]


class _Verifier(Frozen):
    command: tuple[str, ...] = ()
    tests: str = ""
    """A folder of the package, mounted at `/tests`."""
    image: str = ""
    """A folder of the package with a Dockerfile for the verifier's own root; by default the verifier uses the root that
    the agent left.
    """
    fresh: Flag = omittable(False)
    """Whether the verifier gets the work's image as it was before the work. Omitted if false, so that older gradings
    keep their digests.
    """
    artifacts: tuple[AbsolutePath, ...] = ()
    """Files and folders that are copied from the agent's root into the verifier's own, to the same paths."""
    solution: tuple[str, ...] = ()
    """The command that solves the task, with the reference at `/solution`; used for controls only."""
    user: str = ""
    workdir: str = ""
    env: dict[str, str] = {}
    network: Literal["none", "registries"] = "none"
    """`registries`: the hosts that image builds may reach on this machine."""


class StepVerifierTable(_Verifier):
    """The verifier of one step, run over the state after that step."""

    name: str
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    timeout: Annotated[float, Field(gt=0)] | None = None
    min_reward: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = {}
    """Reward -> the minimum for later steps to count. A plain number stands for `reward`."""

    @field_validator("min_reward", mode="before")
    @classmethod
    def _as_table(cls, given: Any) -> Any:
        return {"reward": given} if isinstance(given, int | float) and not isinstance(given, bool) else given


class VerifierTable(_Verifier):
    """The task's own program that looks at the agent's work in its image after the agent has ended."""

    step: tuple[StepVerifierTable, ...] = omittable(())
    """The verifiers of a task with steps, in place of a command. Omitted if empty, so that older gradings keep their
    digests.
    """
    strategy: Literal["mean", "final"] = omittable("mean")
    """How the steps' rewards are combined: the mean of those that count, or the last of them. Omitted for the mean."""

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if bool(self.command) == bool(self.step):
            raise ValueError(
                "a verifier needs either a command, or tables [[grading.program.verifier.step]] with a command each"
            )
        if len({one.name for one in self.step}) < len(self.step):
            raise ValueError("two steps have the same name")
        return self


class ProgramTable(GradingTable):
    """A grading by a program."""

    verifier: VerifierTable | None = None

    entry: PythonFile = Field(default="grade.py", validate_default=True)
    timeout: Annotated[float, Field(strict=True, gt=0)] | None = None
    memory: Size | None = None
    workplace: Flag = False
    """Whether the workplace's services run for the grader, over the state that the submission holds."""
    writable: Flag = False
    """Whether the grader may write into a temporary copy of the submission's folder."""


class GradingsTable(Frozen):
    """`[grading]`: a table for each protocol."""

    program: ProgramTable | None = None
    checkpoints: ProgramTable | None = None
    rubric: GradingTable | None = None
    holistic: GradingTable | None = None
    pairwise: GradingTable | None = None


def read_gradings(data: object, faults: Faults, context: Mapping[str, Any]) -> dict[Protocol, GradingSpec]:
    """Return a spec per protocol; at least one is required."""
    file, at = "task.toml", "grading"
    table = validate(GradingsTable, data, faults, file=file, at=at, context=context)
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
    settings |= {"workplace": True} if given.workplace else {}
    settings |= {"writable": True} if given.writable else {}
    settings |= {"verifier": given.verifier.plain()} if given.verifier is not None else {}
    return GradingSpec(protocol, given.entry, settings)
