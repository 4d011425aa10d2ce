"""The tables `[[environment.step]]` and `[[capture.collect]]` of `task.toml`: work in several steps, and commands that
run after a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from worksample.files.config_files import AllowedText, Faults
from worksample.records import CollectSpec, Environment, Frozen, HealthSpec, SourceFiles, StepSpec

from .package_files import Folder, is_folder, read_text
from .task_services import Word

BRIEF, FILES = "brief.md", "files"
"""Names in a step's folder: the file with the agent's instruction, and the folder whose files are copied into the
image's working folder.
"""


class StepTable(Frozen):
    """The table `[[environment.step]]` of `task.toml`."""

    name: Annotated[Word, Field(max_length=60)]
    folder: Folder
    time: Annotated[float, Field(gt=0), AllowedText("seconds")] | None = None
    health: HealthSpec | None = None

    def record(self) -> StepSpec:
        """Return the table as a `StepSpec` record without its brief. `with_briefs` adds the brief."""
        return StepSpec(name=self.name, files=SourceFiles(name=self.folder), time=self.time, health=self.health)


def check_steps(steps: Sequence[StepTable], *, image: bool) -> None:
    """Raise ValueError if there are steps but no image, or if two steps have the same name."""
    if steps and not image:
        raise ValueError("steps need an image, because the changes of its root after each step are graded")
    if len({one.name for one in steps}) < len(steps):
        raise ValueError("two steps have the same name")


def with_briefs(environment: Environment, root: Path, faults: Faults) -> Environment:
    """Return the environment with each step's brief and folder of files. A step without a brief is a fault."""

    def add_brief(step: StepSpec) -> StepSpec:
        assert step.files is not None
        folder = step.files.name
        files = f"{folder}/{FILES}"
        brief = read_text(root, f"{folder}/{BRIEF}", faults) if (root / folder / BRIEF).is_file() else ""
        if not brief.strip():
            faults.add(f"{folder}/{BRIEF}", "", "is empty", "what the agent is to do in this step")
        return step.replaced(brief=brief, files=SourceFiles(name=files) if is_folder(root / files) else None)

    return environment.replaced(steps=tuple(map(add_brief, environment.steps))) if environment.steps else environment


def folders_of(environment: Environment) -> tuple[str, ...]:
    """Return the folders of the steps in the package."""
    return tuple(one.files.name for one in environment.steps if one.files is not None)


def check_verified(verified: Sequence[str], environment: Environment, at: str, faults: Faults) -> None:
    """Add a fault for each verifier whose step does not exist, and for a step without a verifier if other steps have
    one.
    """
    names = [one.name for one in environment.steps]
    for name in verified:
        if name not in names:
            faults.add("task.toml", at, f"there is no step {name!r}", names)
    if verified and (left := [name for name in names if name not in verified]):
        faults.add("task.toml", at, f"the step {left[0]!r} has no table", "a table for each step")


def check_collected(collect: Sequence[CollectSpec], environment: Environment, faults: Faults) -> None:
    """Add a fault for each table `[[capture.collect]]` whose step does not exist."""
    names = [one.name for one in environment.steps]
    for number, one in enumerate(collect):
        if one.step and one.step not in names:
            faults.add("task.toml", f"capture.collect[{number}].step", f"there is no step {one.step!r}", names)
