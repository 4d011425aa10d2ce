"""Scripts of the scripted agent: a folder with one TOML file for each task. Described in
docs/how-to/choose-an-agent.md.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from worksample.errors import ManifestError, PlanError
from worksample.files.config_files import Faults, FaultyManifest, UnreadableFile, load, validate
from worksample.models.usage import MOST_TOKENS
from worksample.records import Frozen, Instance
from worksample.sandboxes.browser import ACTIONS as BROWSER
from worksample.sandboxes.desktop import AGENT_TOOLS as DESKTOP

DEFAULT = "_default"
WAITING = ("desktop_tree", "desktop_windows")
ACTIONS = ("run", "python", "write", "view", "browse", "desktop", "say", "submit", "sleep", "fail")
_SEE = "see docs/how-to/choose-an-agent.md, Scripts"
LARGEST = 8 << 20
"""Maximum number of bytes of all files that the steps of a script copy with `from`. The files become part of the
agent's record.
"""


class StepUsage(Frozen):
    """Numbers of tokens that an answer of the scripted model reports as used."""

    input: int = Field(default=100, ge=0, le=MOST_TOKENS)
    output: int = Field(default=20, ge=0, le=MOST_TOKENS)
    cache_read: int = Field(default=0, ge=0, le=MOST_TOKENS)
    cache_write: int = Field(default=0, ge=0, le=MOST_TOKENS)


class ScriptStep(Frozen):
    """Step of a script: one answer of the model. A step with `also` is a further action in the same answer as the step
    before.
    """

    run: str | None = None
    python: str | None = None
    write: str | None = None
    text: str | None = None
    data: str | None = None
    """Content of the file that `from` names, encoded in Base64 if the file is not text."""
    view: str | None = None
    browse: str | None = None
    """Name of an action in the browser. `args` has the arguments of the action."""
    desktop: str | None = None
    """Name of a tool of the desktop, such as `computer`. `args` has the arguments of the tool."""
    args: dict[str, bool | int | float | str | tuple[float, ...] | tuple[str, ...]] = {}
    until: str | None = None
    """Text to wait for, with `browse = "noop"` or a desktop's tool in `WAITING`: the step is repeated until the answer
    has this text, for at most a minute.
    """
    say: str | None = None
    submit: str | bool | None = None
    sleep: float | None = Field(default=None, ge=0)
    fail: Literal["service", "refused", "malformed", "crash"] | None = None
    timeout: float | None = Field(default=None, gt=0)
    usage: StepUsage = StepUsage()
    also: bool = False
    raw: bool = False

    @model_validator(mode="after")
    def _one_action(self) -> ScriptStep:
        given = [name for name in ACTIONS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"a step must have exactly one of {', '.join(ACTIONS)}; this one has {', '.join(given) or 'none'}"
            )
        if self.submit is False:
            raise ValueError("submit must be true or a text")
        if (self.write is not None) != (self.text is not None or self.data is not None):
            raise ValueError("write needs exactly one of text and from")
        if self.text is not None and self.data is not None:
            raise ValueError("write needs exactly one of text and from")
        if self.browse is not None and self.browse not in BROWSER:
            raise ValueError(f"browse must be one of {', '.join(BROWSER)}")
        if self.desktop is not None and self.desktop not in DESKTOP:
            raise ValueError(f"desktop must be one of {', '.join(DESKTOP)}")
        if self.args and self.browse is None and self.desktop is None:
            raise ValueError("args may be given only with browse or desktop")
        if self.until is not None and self.browse != "noop" and self.desktop not in WAITING:
            raise ValueError(f'until may be given only with browse = "noop", or desktop = {" or ".join(WAITING)}')
        if self.timeout is not None and self.run is None and self.python is None:
            raise ValueError("timeout may be given only with run or python")
        return self

    @property
    def action(self) -> str:
        return next(name for name in ACTIONS if getattr(self, name) is not None)


class TaskScript(Frozen):
    """Script for one task: its steps."""

    steps: tuple[ScriptStep, ...] = ()
    instances: dict[str, tuple[ScriptStep, ...]] = {}


class Script(Frozen):
    """Scripts for all tasks, by task name. The entry `_default` is used for tasks without a script."""

    tasks: dict[str, TaskScript]

    def plain(self) -> dict[str, Any]:
        """Return the scripts as JSON types. Values that equal their default are left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def steps(self, instance: Instance) -> tuple[ScriptStep, ...]:
        """Return the steps for an instance. Raises PlanError if the script has no steps for the instance."""
        own = self.tasks.get(instance.task)
        found = own.instances.get(instance.name, own.steps) if own else ()
        if not found and DEFAULT in self.tasks:
            found = self.tasks[DEFAULT].steps
        if not found:
            raise PlanError(
                f"no script for {instance.key}: neither {instance.task}.toml (for this instance) nor {DEFAULT}.toml",
                next="write one, or leave the task out",
            )
        return found


def read_script(folder: Path) -> Script:
    """Read the scripts in a folder. If `folder` is a pattern, read the scripts of the cases that the pattern matches.

    Raises ManifestError, which names the file, the step and the allowed values, if a script is invalid. Raises
    PlanError if no script is found.
    """
    files = _cases(folder) if "*" in str(folder) else _files(folder)
    script = Script(tasks={name: _read_task(path) for name, path in files.items()})
    size = sum(
        len(step.text or "") + len(step.data or "")
        for task in script.tasks.values()
        for steps in (task.steps, *task.instances.values())
        for step in steps
    )
    if size > LARGEST:
        raise ManifestError(
            f"the files that the steps write take {size} bytes; {LARGEST} are allowed",
            where=str(folder),
            next="make large files with a run or python step",
        )
    return script


def _files(folder: Path) -> dict[str, Path]:
    """Return the script files in a folder, by task name."""
    if not folder.is_dir():
        raise PlanError(f"{folder} is not a folder of scripts (<task>.toml)", next=_SEE)
    files = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if not files:
        raise PlanError(f"no <task>.toml in {folder}", next=_SEE)
    return files


def _cases(pattern: Path) -> dict[str, Path]:
    """Return the script files that match a pattern `TASKS/*/cases/NAME/script.toml`, by task name. Each is the script
    of one case of a task.
    """
    *above, star, cases, name, file = pattern.parts
    if (star, cases, file) != ("*", "cases", "script.toml") or "*" in name:
        problem = f"{pattern} is not a pattern for the scripts of cases"
        raise PlanError(problem, next="TASKS/*/cases/NAME/script.toml; see docs/how-to/choose-an-agent.md, Scripts")
    found = {path.parts[-4]: path for path in sorted(Path(*above).glob(f"*/cases/{name}/script.toml"))}
    if not found:
        raise PlanError(f"no task in {Path(*above)} has cases/{name}/script.toml", next=_SEE)
    return found


def read_steps(path: Path, instance: str) -> tuple[ScriptStep, ...]:
    """Read the steps for an instance from a file. If the file has no steps for this instance, return the steps for all
    instances. Raises ManifestError if the file is invalid.
    """
    found = _read_task(path)
    return found.instances.get(instance, found.steps)


def _read_task(path: Path) -> TaskScript:
    try:
        table = load(path)
    except UnreadableFile as error:
        raise ManifestError(f"is not readable as TOML: {error}", where=str(path), next=_SEE) from error
    unknown = sorted(set(table) - {"step", "instance"})
    if unknown:
        raise ManifestError(
            f"unknown key {unknown[0]}; allowed: step, instance",
            where=str(path),
            next="name a folder of scripts, one <task>.toml each (docs/how-to/choose-an-agent.md, Scripts)",
        )
    instances = table.get("instance", {})
    if not isinstance(instances, dict):
        raise ManifestError("`instance` must hold tables, as in [[instance.NAME.step]]", where=str(path), next=_SEE)
    return TaskScript(
        steps=_steps(table.get("step", []), path, "step"),
        instances={name: _instance(value, path, f"instance.{name}") for name, value in instances.items()},
    )


def _instance(table: Any, path: Path, key: str) -> tuple[ScriptStep, ...]:
    if not isinstance(table, dict) or set(table) != {"step"}:
        raise ManifestError(f"{key} may hold only [[{key}.step]]", where=str(path), next=_SEE)
    return _steps(table["step"], path, f"{key}.step")


def _steps(rows: Any, path: Path, key: str) -> tuple[ScriptStep, ...]:
    if not isinstance(rows, list):
        raise ManifestError(f"{key} must be a list of tables: write [[{key}]]", where=str(path), next=_SEE)
    return tuple(_step(row, path, f"{key}[{i}]") for i, row in enumerate(rows))


def _step(row: Any, path: Path, key: str) -> ScriptStep:
    if not isinstance(row, dict):
        raise ManifestError(f"{key} must be a table", where=str(path), next=_SEE)
    row = dict(row)
    source = row.pop("from", None)
    if "data" in row:
        raise ManifestError(f"{key}.data: unknown key", where=str(path), next="give a file with from")
    if source is not None:
        row |= _content(path.parent, source, f"{path}, {key}.from")
    faults = Faults()
    step = validate(ScriptStep, row, faults, file=path.name, at=key)
    if step is None or faults.found:
        raise FaultyManifest(faults.found, where=str(path), next=_SEE)
    return step


def _content(folder: Path, source: Any, where: str) -> dict[str, str]:
    if not isinstance(source, str):
        raise ManifestError("must be the path of a file beside the script", where=where, next=_SEE)
    try:
        data = (folder / source).read_bytes()
    except OSError as error:
        raise ManifestError(f"cannot be read: {error}", where=where, next=_SEE) from error
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"data": base64.b64encode(data).decode("ascii")}


def fill_placeholders(text: str, words: Mapping[str, str], *, raw: bool) -> str:
    """Replace `{input}` and the other known placeholders in a text. All other text stays unchanged. With `raw`, return
    the text unchanged.
    """
    if raw:
        return text
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text
