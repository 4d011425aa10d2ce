"""Installer of programs. A version is built in a temporary folder, made read-only, named by its digest, and moved into
place.
"""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

from worksample.errors import UsageError
from worksample.files.machine import sign_lock
from worksample.files.scratch_folder import remove_tree
from worksample.sandboxes.orphan_sweeper import sweep_first

from . import npm, pypi, shared_libraries
from .agent_program import Npm, Program
from .installed_programs import (
    ABOUT,
    TREE,
    Installed,
    agents_folder,
    digest_of_tree,
    find_installed,
    list_installed,
    make_read_only,
)
from .program_registry import find_program, program_names

LATEST = "latest"
WHOLE = "-whole"
LIBRARIES = "libraries"
"""Name of the folder of shared libraries next to a program's files."""


def parse_name(text: str) -> tuple[Program, str]:
    """Split `NAME[@VERSION]` into a program and a version. The default version is the one that the program's harness
    was written for. Raises UsageError if the name is unknown.
    """
    name, _, version = text.partition("@")
    program = find_program(name)
    if program is None:
        raise UsageError(
            f"no agent is called {name!r}; there are: {', '.join(program_names())}", next="worksample agent list"
        )
    return program, version or program.tried


def parse_source(text: str) -> tuple[str, str]:
    """Split `NAME[@VERSION][=PATH]` into the name with its version, and the absolute path of a package on this machine,
    such as an archive of npm, a wheel or a folder. Raises UsageError if there is no such path.
    """
    name, mark, path = text.partition("=")
    if not mark:
        return name, ""
    found = Path(path).expanduser().resolve()
    if not path or not found.exists():
        raise UsageError(
            f"there is no package at {path or 'the path after ='}", next=f"{name}=PATH with an archive, wheel or folder"
        )
    return name, str(found)


def remove(text: str) -> tuple[Installed, ...]:
    """Remove the installed versions of `NAME`, or only those of `NAME@VERSION`, and return them. Raises UsageError if
    the name is unknown or if nothing is installed under it. Wait for an installation of the same program.
    """
    program, version = parse_name(text)
    wanted = version if "@" in text else ""
    with (agents_folder() / f".{program.name}.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sign_lock(lock)
        found = tuple(one for one in list_installed(program.name) if wanted in ("", one.version))
        for one in found:
            remove_tree(Path(one.folder).parent)
    if not found:
        raise UsageError(f"{text} is not installed on this machine", next="worksample agent list")
    return found


def install(text: str) -> Installed:
    """Install `NAME[@VERSION][=PATH]`, unless this version is already installed. For `@latest` the registry is always
    asked for the latest version. With a path, the package comes from this machine and is always installed again; its
    dependencies still come from the registry.

    Raises UsageError if the name is unknown or if there is no such path. Raises InstallError with the installer's
    output if the installation fails. If two installations run at the same time, one waits for the other. If the process
    is killed, the incomplete folder does not count as installed.
    """
    name, path = parse_source(text)
    program, version = parse_name(name)
    sweep_first()
    place = agents_folder()
    with (place / f".{program.name}.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sign_lock(lock)
        known = find_installed(program.name, version) if version != LATEST and not path else None
        if known is not None and (known.anywhere or not shared_libraries.loader()):
            return known
        fresh = place / f".{program.name}.new"
        remove_tree(fresh)  # left by an installation that was killed
        tree = fresh / TREE
        tree.mkdir(parents=True)
        installer = npm if isinstance(program.source, Npm) else pypi
        got = installer.install(program.source, "" if version == LATEST else version, tree, path)
        brought = bool(shared_libraries.loader()) and (shared_libraries.relink(tree) or bool(got.node or got.python))
        if brought:
            shared_libraries.gather(fresh / LIBRARIES, tree, *(Path(one) for one in (got.node, got.python) if one))
            make_read_only(fresh / LIBRARIES)
        digest = digest_of_tree(tree)
        # An earlier release installed the same files without shared libraries: that folder stays unchanged.
        folder = place / f"{program.name}-{got.version}-{digest[:16]}{WHOLE if shared_libraries.loader() else ''}"
        if folder.exists():
            remove_tree(fresh)
        about = Installed(
            program.name,
            got.version,
            digest,
            str(folder / TREE),
            got.packages,
            ", ".join(filter(None, (got.runtime, shared_libraries.glibc() if brought else ""))),
            got.node,
            got.python,
            str(folder / LIBRARIES) if brought else "",
            bool(shared_libraries.loader()),
        )
        if not folder.exists():
            (fresh / ABOUT).write_text(json.dumps(about.plain(), indent=2, sort_keys=True), encoding="utf-8")
            make_read_only(tree)
            fresh.rename(folder)
    return about
