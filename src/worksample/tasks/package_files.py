"""The files of a task package: checks that paths stay inside the package, and rules for which files belong to the
grader.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from worksample.files.config_files import Faults, Line, exact_fault, show_value
from worksample.files.stray_files import is_stray_file

IGNORED = ("__pycache__", ".git", ".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache")
"""Names that are left out of a package, at any depth. Files that desktops leave behind are left out, too
(`files.stray_files`).
"""
APART = ("inputs", "software", "reference", "probes", "cases", "scripts", "dev", "docs", "loaded")
"""Top-level folders of a package that do not belong to the grader. `dev/` contains the author's own scripts,
`loaded/` what `load()` of `task.py` returned.
"""
SINGLE = ("task.toml", "criteria.toml", "LICENSE", "LICENCE")


def is_ignored(path: str) -> bool:
    """Return whether a path is left out of the package's manifest."""
    return is_stray_file(path) or any(step in IGNORED or step.endswith(".pyc") for step in path.split("/"))


def is_grader_file(path: str, apart: frozenset[str]) -> bool:
    """Return whether a path belongs to the grader. The grader consists of `grade.py`, `task.py`, and the modules and
    data beside them.
    """
    first = path.split("/", 1)[0]
    if first in APART or first in SINGLE or first.startswith(".") or ("/" not in path and path.endswith(".md")):
        return False
    return not any(path == a or path.startswith(a + "/") for a in apart)


def path_problem(root: Path, name: str, *, folder: bool) -> str | None:
    """Return why `name` is not a file inside the package, or None if it is. folder: whether `name` must be a folder
    instead of a file.
    """
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
        return "must be a path inside the package, without '..' and not absolute"
    if not name.isprintable():
        return "holds characters that cannot be shown"
    if not path.parts:
        return "is the package itself"
    at = root
    for step in path.parts:
        at = at / step
        try:
            mode = at.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return "is missing"
        except OSError as error:
            return f"cannot be reached: {(error.strerror or type(error).__name__).lower()}"
        if stat.S_ISLNK(mode):
            return f"goes through the link {at.relative_to(root)}; put the file itself there"
    if folder and not stat.S_ISDIR(mode):
        return "is not a folder"
    if not folder and not stat.S_ISREG(mode):
        return "is not a file"
    return None


def shared_folder(root: Path, name: str) -> Path:
    """Return the path of a folder outside the package but inside its suite. `name` begins with `../`. Raises ValueError
    if there is no such folder.
    """
    up = next(n for n, step in enumerate((*name.split("/"), "")) if step != "..")
    home = root.resolve()
    suite = next((one for one in home.parents if (one / SUITE).is_file()), None)
    if suite is None:
        raise ValueError(f"leads out of the package, but the package is in no suite (no folder above has {SUITE})")
    if up >= len(home.parents) or not home.parents[up - 1].is_relative_to(suite):
        raise ValueError(f"leads out of the suite's folder {suite.name}/")
    outer, inner = home.parents[up - 1], name[3 * up :]
    problem = path_problem(outer, inner, folder=True)
    if problem:
        raise ValueError(problem)
    if home.is_relative_to(outer / inner):
        raise ValueError("is a folder that contains the package itself")
    return outer / inner


def is_folder(path: Path) -> bool:
    """Return whether a folder exists. Return False if the file system does not allow the name."""
    try:
        return path.is_dir()
    except OSError:
        return False


def check_tree(root: Path, faults: Faults) -> None:
    """Add a fault for each symbolic link, device, pipe, and file name that is not printable UTF-8. The folders
    `cases/*/output/` are not checked.
    """
    for where, folders, files in os.walk(root, followlinks=False):
        folders[:] = sorted(f for f in folders if not is_ignored(f))
        at = Path(where).relative_to(root)
        for name in sorted([*folders, *files]):
            path = at / name
            if is_ignored(path.as_posix()) or (path.parts[0] == "cases" and path.parts[2:3] == ("output",)):
                continue
            _check(root, path, faults)


def _check(root: Path, path: Path, faults: Faults) -> None:
    shown = path.as_posix().encode("utf-8", "backslashreplace").decode()
    if shown != path.as_posix() or not shown.isprintable():
        faults.add(shown.encode("unicode_escape").decode(), "", "the name is not printable UTF-8")
        return
    mode = (root / path).lstat().st_mode
    if stat.S_ISLNK(mode):
        target = os.fsencode((root / path).readlink()).decode("utf-8", "backslashreplace")
        inside = os.path.realpath(root / path).startswith(str(root.resolve()) + os.sep)
        problem = "is a link" if inside else f"is a link that leaves the package (to {target!r})"
        faults.add(shown, "", problem, "files and folders; replace the link by the file itself")
    elif not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        faults.add(shown, "", "is not a regular file", "files and folders")


SHARED = ".shared"
"""Folder in a package's manifest for files that several packages of a suite share. No folder of a package itself has
this name.
"""
SUITE = "suite.toml"


def place_of(name: str) -> str:
    """Return the path of a folder in the package's manifest. `name` may begin with `../`, for a folder of the suite."""
    return f"{SHARED}/{name.replace('../', '')}" if name.startswith("../") else name


TEXT_LIMIT = 1 << 20
"""Maximum size of a brief or of `notes.md`, in bytes."""


def read_text(root: Path, name: str, faults: Faults) -> str:
    """Return the text of a file in the package. If the file cannot be read, add a fault and return ""."""
    try:
        with (root / name).open("rb") as file:
            data = file.read(TEXT_LIMIT + 1)
    except OSError as error:
        faults.add(name, "", f"cannot be read: {(error.strerror or type(error).__name__).lower()}")
        return ""
    if len(data) > TEXT_LIMIT:
        faults.add(name, "", f"is larger than {TEXT_LIMIT:,} bytes")
        return ""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        faults.add(name, "", f"is not UTF-8 text: byte {error.start}")
        return ""


def _require_existing(name: str, info: ValidationInfo, *, folder: bool, ending: str = "") -> str:
    """Return `name` if it is a path inside the package, as `path_problem` checks it. The context of the validation
    holds the package's folder as `root`.
    """
    if not name.endswith(ending):
        raise exact_fault(f"{show_value(name)} does not end in {ending}")
    problem = path_problem(info.context["root"], name, folder=folder) if info.context else None
    if problem:
        raise exact_fault(f"{show_value(name)} {problem}")
    return name


def _folder(name: str, info: ValidationInfo) -> str:
    return _require_existing(name.rstrip("/") or name, info, folder=True)


def _folder_or_shared(name: str, info: ValidationInfo) -> str:
    name = name.rstrip("/") or name
    if not name.startswith("../") or not info.context:
        return _folder(name, info)
    try:
        shared_folder(info.context["root"], name)
    except ValueError as error:
        raise exact_fault(f"{show_value(name)} {error}") from None
    return name


def _python(name: str, info: ValidationInfo) -> str:
    return _require_existing(name, info, folder=False, ending=".py")


def _markdown(name: str, info: ValidationInfo) -> str:
    return _require_existing(name, info, folder=False, ending=".md")


Folder = Annotated[Line, AfterValidator(_folder)]
"""Path of a folder inside the package."""
SharedFolder = Annotated[Line, AfterValidator(_folder_or_shared)]
"""Path of a folder inside the package, or a path that begins with `../` for a folder of its suite that several packages
share.
"""
PythonFile = Annotated[Line, AfterValidator(_python)]
MarkdownFile = Annotated[Line, AfterValidator(_markdown)]
