"""The files of a package: names that stay inside it, no links, and which of them belong to the grader."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from worksample.files.config_files import Faults, Line, exact_fault, show_value
from worksample.files.stray_files import is_stray_file

IGNORED = ("__pycache__", ".git", ".ipynb_checkpoints", ".mypy_cache", ".ruff_cache", ".pytest_cache")
"""Names, at any depth, that are no part of a package; and what desktops leave (`files.stray_files`)."""
APART = ("inputs", "software", "reference", "probes", "cases", "scripts", "dev", "docs")
"""Folders that are no part of the grader; `dev/` is for the author's own scripts."""
SINGLE = ("task.toml", "criteria.toml", "LICENSE", "LICENCE")


def is_ignored(path: str) -> bool:
    """Return whether a path of a package is left out of its manifest."""
    return is_stray_file(path) or any(step in IGNORED or step.endswith(".pyc") for step in path.split("/"))


def is_grader_file(path: str, apart: frozenset[str]) -> bool:
    """Whether a path is part of the grader: `grade.py`, `task.py`, and the modules and data beside them."""
    first = path.split("/", 1)[0]
    if first in APART or first in SINGLE or first.startswith(".") or ("/" not in path and path.endswith(".md")):
        return False
    return not any(path == a or path.startswith(a + "/") for a in apart)


def path_problem(root: Path, name: str, *, folder: bool) -> str | None:
    """Return why `name` is not a file (or folder) inside the package, or None if it is."""
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
    """Return the folder that `../` leads to, inside the suite of the package. Raises ValueError if it is not such a
    folder.
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
    """Return whether a folder exists; False for a name that no file can have."""
    try:
        return path.is_dir()
    except OSError:
        return False


def check_tree(root: Path, faults: Faults) -> None:
    """Add faults for links, devices and pipes outside `cases/*/output/`, and for names that are not UTF-8."""
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
"""Folder in a package's manifest for files shared with other packages of its suite; no package has such a folder."""
SUITE = "suite.toml"


def place_of(name: str) -> str:
    """Return a folder's path in a package's manifest, whether it lies in the package or beside it in the suite."""
    return f"{SHARED}/{name.replace('../', '')}" if name.startswith("../") else name


TEXT_LIMIT = 1 << 20
"""Bytes of a brief or of the notes."""


def read_text(root: Path, name: str, faults: Faults) -> str:
    """Read a text of the package; return "" and add a fault if that fails."""
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
    """Return a path that `path_problem` accepts, relative to the `root` of the validation's context."""
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
"""A folder of the package."""
SharedFolder = Annotated[Line, AfterValidator(_folder_or_shared)]
"""A folder of the package, or with `../` a folder of its suite that several packages share."""
PythonFile = Annotated[Line, AfterValidator(_python)]
MarkdownFile = Annotated[Line, AfterValidator(_markdown)]
