"""Installed programs in this machine's cache. Each version has a read-only folder named by version and digest."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from worksample.box import Mount
from worksample.sandboxes.host_state import cache_folder

from .agent_program import INTERPRETER, LIBRARIES, NODE, PROGRAM

ABOUT, TREE = "installed.json", "tree"
_OWN = frozenset(
    {
        "RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json", "pyvenv.cfg", ".lock",
        ".package-lock.json", "CACHEDIR.TAG", ".gitignore",
    }
)  # fmt: skip
"""Names of files that installers write about the machine or the registry. They are not part of the program."""


@dataclass(frozen=True, slots=True)
class Installed:
    """Installed version of a program on this machine."""

    name: str
    version: str
    digest: str
    """SHA-256 over all files of the program and its runtime, in hexadecimal."""
    folder: str
    """Absolute path of the folder with the program's files."""
    packages: dict[str, str]
    """Versions of all installed packages, by package name."""
    runtime: str = ""
    """Runtime of the program with its version, such as Node or Python; "" if the program needs no runtime."""
    node: str = ""
    """Absolute path of the program's Node; "" if the program does not run on Node."""
    python: str = ""
    """Absolute path of the program's copy of Python; "" if the program does not run on Python."""
    libraries: str = ""
    """Absolute path of the folder with the loader and the shared libraries. "" if the program needs none, or if those
    of this machine cannot be copied.
    """
    anywhere: bool = False
    """True if the program runs in a box with any image."""

    def mounts(self) -> tuple[Mount, ...]:
        """Return the mounts that the program needs in its box."""
        found = [Mount(self.folder, PROGRAM)]
        if self.node:
            found.append(Mount(self.node, NODE))
        if self.python:
            found.append(Mount(self.python, INTERPRETER if self.libraries else self.python))
        if self.libraries:
            found.append(Mount(self.libraries, LIBRARIES))
        return tuple(found)

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return asdict(self)


def agents_folder() -> Path:
    """Return the folder of installed programs, and create it if it is missing."""
    folder = cache_folder() / "agents"
    folder.mkdir(exist_ok=True)
    return folder


def list_installed(name: str | None = None) -> tuple[Installed, ...]:
    """Return the installed versions of the named program, or of all programs. They are sorted by name; the latest
    installation of each program comes first.
    """
    found, known = [], {field.name for field in fields(Installed)}
    for about in sorted(agents_folder().glob(f"*/{ABOUT}"), key=lambda path: path.stat().st_mtime, reverse=True):
        said = json.loads(about.read_text(encoding="utf-8"))
        one = Installed(
            **{key: value for key, value in said.items() if key in known}
        )  # a later release may write more fields
        if name in (None, one.name):
            found.append(one)
    return tuple(sorted(found, key=lambda one: one.name))


def find_installed(name: str, version: str = "", digest: str = "") -> Installed | None:
    """Return an installed program. If several match, return the latest installation. Return None if none matches."""
    fitting = (one for one in list_installed(name) if version in ("", one.version) and digest in ("", one.digest))
    return next(fitting, None)


def digest_of_tree(folder: Path, *, installed: bool = True) -> str:
    """Compute the SHA-256 over the paths, contents, links and executable bits of a folder's files. Compiled bytecode is
    left out.

    With `installed`, files that installers write and the folder `bin/` are left out, too.
    """
    total = hashlib.sha256()
    for parent, below, files in os.walk(folder):
        below[:] = sorted(name for name in below if name != "__pycache__")
        links = [name for name in below if (Path(parent) / name).is_symlink()]
        for name in sorted([*files, *links]):
            path = Path(parent) / name
            at = path.relative_to(folder).as_posix()
            if name.endswith(".pyc") or (installed and (name in _OWN or at.startswith("bin/"))):
                continue  # `bin/` of a virtual environment contains paths of this machine
            if path.is_symlink():
                what = f"link {path.readlink()}"
            else:
                with path.open("rb") as file:
                    mode = "x" if path.stat().st_mode & 0o100 else "-"
                    what = f"{mode} {hashlib.file_digest(file, 'sha256').hexdigest()}"
            total.update(f"{at}\0{what}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def make_read_only(folder: Path) -> None:
    """Make all files below a folder readable and not writable for all users."""
    for parent, below, files in os.walk(folder):
        for path in (Path(parent) / name for name in (*below, *files)):
            if not path.is_symlink():
                path.chmod(0o555 if path.is_dir() or path.stat().st_mode & 0o100 else 0o444)
    folder.chmod(0o555)
