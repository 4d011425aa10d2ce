"""The files of a Harbor task laid out as a package: image, tests, steps and solution.

Downloads of `uv` by curl are replaced by PyPI's `uv`.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from worksample.ascii_names import plain_letters
from worksample.errors import ImportFailed
from worksample.tasks.work_steps import BRIEF, FILES

from .task_toml import FILE, NEXT_COMMAND, HarborStep, HarborTask
from .unsupported_requirements import with_defaults

FROM, USER = re.compile(r"^\s*FROM\s", re.I | re.M), re.compile(r"^\s*USER\s+(\S+)", re.I | re.M)
OUTPUT = "/logs/artifacts"
"""Folder from which Harbor collects files that the task does not list as artifacts."""
WITHOUT_INTERNET = "no network for the whole internet"
TAG = "substituted: {}"
"""Tag of a package that names a replacement."""
_UV = re.compile(r"(?:curl|wget)\s[^|&;\n]*astral\.sh/uv[^|&;\n]*\|\s*(?:env\s+\S+\s+)?(?:ba)?sh(?:\s+-s\S*)?")
_INSTALL_UV = (
    # Without Python and without packages of the base, no reward may be written: a 0 would blame the agent.
    "{ python3 -m pip --version >/dev/null 2>&1 || { apt-get update -qq && apt-get install -qq -y python3-pip; } "
    '>/dev/null 2>&1 || { echo "uv cannot be installed: the base has no pip and no apt-get" >&2; exit 127; }; } && '
    'python3 -m pip install --quiet --break-system-packages uv && mkdir -p "$HOME/.local/bin" && '
    ': > "$HOME/.local/bin/env"'
)


def step_name(step: HarborStep) -> str:
    """Return a step's name in the form that packages allow. Raises ImportFailed if no character of it is allowed."""
    name = re.sub(r"[^a-z0-9_-]+", "-", plain_letters(step.name).lower()).strip("-_")[:60]
    if not name:
        raise ImportFailed(f"the step name {step.name[:80]!r} has no letter or digit", where=FILE, next=NEXT_COMMAND)
    return name


def lay_out(task: HarborTask, folder: Path, root: Path) -> list[str]:
    """Copy image, tests, steps and solution; return a description of each replacement made in them."""
    for name in ("inputs", "reference"):
        (root / name).mkdir()
    if task.steps:
        for step in task.steps:
            _lay_out_step(task, step, folder, root)
    else:
        _copy(folder / "solution", root / "reference")
        _copy(folder / "tests", root / "tests")
    replacements = []
    environment = task.environment
    if (folder / "environment" / "Dockerfile").is_file():
        _copy(folder / "environment", root / "image")
    elif environment.docker_image:
        (root / "image").mkdir()
        (root / "image" / "Dockerfile").write_text(f"FROM {environment.docker_image}\n", encoding="utf-8")
    phases: tuple[HarborStep | None, ...] = task.steps or (None,)
    for phase in phases:
        tests = tests_of(root, phase)
        own = task.verifier_environment(phase) if task.separate(phase) else None
        if own is not None and own.docker_image and not (tests / "Dockerfile").is_file():
            tests.mkdir(parents=True, exist_ok=True)
            (tests / "Dockerfile").write_text(f"FROM {own.docker_image}\nCOPY . /tests/\n", encoding="utf-8")
    found = [path for name in ("Dockerfile", "test.sh") for path in sorted((root / "tests").rglob(name))]
    for path in (root / "image" / "Dockerfile", *found):
        if path.is_file():
            text, changed = with_uv_from_pypi(path.read_text(encoding="utf-8"))
            if path.parent.name == "image":
                text = text.rstrip("\n") + "\n" + "".join(f"{line}\n" for line in _environment_lines(task, text))
            path.write_text(text, encoding="utf-8")
            replacements += ["uv from PyPI"] if changed and "uv from PyPI" not in replacements else []
    return replacements


def tests_of(root: Path, step: HarborStep | None) -> Path:
    """Return the folder of the package that holds the tests of a step, or of the task if `step` is None."""
    return root / "tests" if step is None else root / "tests" / step_name(step)


def _lay_out_step(task: HarborTask, step: HarborStep, folder: Path, root: Path) -> None:
    """Copy a step's instruction, files, tests and solution.

    The task's tests are added too, unless the step has its own image: an image is built from a single folder.
    """
    name, source = step_name(step), folder / "steps" / step.name
    if (root / "steps" / name).exists():
        raise ImportFailed(f"two steps get the same name {name}", where=str(folder), next=NEXT_COMMAND)
    instruction = source / "instruction.md"
    if not instruction.is_file():
        raise ImportFailed(f"the step {step.name} has no instruction.md", where=str(folder), next=NEXT_COMMAND)
    target = root / "steps" / name
    target.mkdir(parents=True)
    (target / BRIEF).write_text(instruction.read_text(encoding="utf-8"), encoding="utf-8")
    _copy(source / "workdir", target / FILES)
    _copy(source / "solution", root / "reference" / name)
    for each in (folder / "tests", source / "tests"):
        apart = task.separate(step) and (source / "tests" / "Dockerfile").is_file() and each != source / "tests"
        if not apart:
            _copy(each, tests_of(root, step))


def _environment_lines(task: HarborTask, text: str) -> list[str]:
    """Return lines for the Dockerfile that set the manifest's environment and create the folders that Harbor mounts."""
    users = USER.findall(FROM.split(text)[-1])
    lines = ["RUN mkdir -p /logs/agent /logs/verifier /logs/artifacts && chmod 777 /logs/*"]
    lines = ["USER root", *lines, f"USER {users[-1]}"] if users else lines
    lines += [f"ENV {key}={json.dumps(with_defaults(value))}" for key, value in task.environment.env.items()]
    lines += [f"WORKDIR {task.environment.workdir}"] if task.environment.workdir else []
    return lines + ([f"USER {task.agent.user}"] if task.agent.user is not None else [])


def _copy(source: Path, target: Path) -> None:
    """Copy a folder and replace links by their targets. Raises ImportFailed if a link leads out of the folder or is
    broken.
    """
    if not source.is_dir():
        return
    top = source.resolve()
    for path in source.rglob("*"):
        if path.is_symlink() and not (path.exists() and path.resolve().is_relative_to(top)):
            raise ImportFailed(
                f"{path.name} is a link that is broken or leads out of the folder", where=str(source), next=NEXT_COMMAND
            )
    shutil.copytree(source, target, dirs_exist_ok=True)


def with_uv_from_pypi(script: str) -> tuple[str, bool]:
    """Return a script or Dockerfile that installs `uv` from PyPI, and whether it was changed.

    Scripts source `~/.local/bin/env` of the original installer, so an empty file of that name is created.
    """
    changed, count = _UV.subn(f"{{ {_INSTALL_UV}; }}", script)
    return changed, count > 0
