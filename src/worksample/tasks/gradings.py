"""The tables `[grading.PROTOCOL]` of `task.toml`: how submissions are graded under each protocol."""

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
"""Names that `settings` of a grading must not use. The platform itself sets these names from other keys of the
table.
"""


def _refuse_reserved_names(settings: dict[str, Any]) -> dict[str, Any]:
    for name in RESERVED:
        if name in settings:
            raise exact_fault(f"{name} is a reserved name; give it beside the settings, not in them")
    return settings


class GradingTable(Frozen):
    """The table of a grading by people or judges."""

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
    """A folder of the package that the verifier finds at `/tests`."""
    image: str = ""
    """A folder of the package with a Dockerfile, from which the verifier's own root file system is built. By default
    the verifier uses the root file system that the agent left.
    """
    fresh: Flag = omittable(False)
    """True if the verifier runs in the task's image without the agent's changes. Omitted if false, so that older
    gradings keep their digests.
    """
    live: Flag = omittable(False)
    """True if the verifier runs when the work ends, and reaches the ports on which the agent's programs listen. Such a
    result cannot be made again. Omitted if false.
    """
    artifacts: tuple[AbsolutePath, ...] = ()
    """Files and folders that are copied from the agent's root file system to the same paths in the verifier's own root
    file system.
    """
    solution: tuple[str, ...] = ()
    """A command that solves the task, with the reference in the folder `/solution`. Used for control submissions
    only.
    """
    user: str = ""
    workdir: str = ""
    env: dict[str, str] = {}
    network: Literal["none", "registries"] = "none"
    """Hosts that the verifier can connect to: `none`, or `registries` for the hosts that image builds on this machine
    may connect to.
    """


class StepVerifierTable(_Verifier):
    """The verifier of one step. It checks the state after this step."""

    name: str
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    timeout: Annotated[float, Field(gt=0)] | None = None
    min_reward: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = {}
    """Minimum of each reward, by name, that is needed for later steps to count. A plain number is the minimum of the
    reward named `reward`.
    """

    @field_validator("min_reward", mode="before")
    @classmethod
    def _as_table(cls, given: Any) -> Any:
        return {"reward": given} if isinstance(given, int | float) and not isinstance(given, bool) else given


class VerifierTable(_Verifier):
    """The verifier of a task: a program of the task that checks the agent's work in its image after the work is
    done.
    """

    step: tuple[StepVerifierTable, ...] = omittable(())
    """The verifiers of the steps, for a task with steps; the table then has no command. Omitted if empty, so that older
    gradings keep their digests.
    """
    strategy: Literal["mean", "final"] = omittable("mean")
    """How the rewards of steps are combined: `mean` is the mean of the steps that count, and `final` is the last of
    these steps. Omitted if `mean`.
    """

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        if bool(self.command) == bool(self.step):
            raise ValueError(
                "a verifier needs either a command, or tables [[grading.program.verifier.step]] with a command each"
            )
        if self.live and (self.step or self.image or self.fresh):
            raise ValueError("a live verifier has no steps and no image of its own")
        if len({one.name for one in self.step}) < len(self.step):
            raise ValueError("two steps have the same name")
        return self


class ProgramTable(GradingTable):
    """The table of a grading by a program."""

    verifier: VerifierTable | None = None

    entry: PythonFile = Field(default="grade.py", validate_default=True)
    timeout: Annotated[float, Field(strict=True, gt=0)] | None = None
    memory: Size | None = None
    workplace: Flag = False
    """True if the workplace's services run during the grading, with the state in the submission."""
    writable: Flag = False
    """True if the grader gets a temporary copy of the submission's folder and may write into the copy."""


class GradingsTable(Frozen):
    """The table `[grading]` of `task.toml`, with a table for each protocol."""

    program: ProgramTable | None = None
    checkpoints: ProgramTable | None = None
    rubric: GradingTable | None = None
    holistic: GradingTable | None = None
    pairwise: GradingTable | None = None


def read_gradings(data: object, faults: Faults, context: Mapping[str, Any]) -> dict[Protocol, GradingSpec]:
    """Read the gradings by protocol. A task without any grading is a fault."""
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
