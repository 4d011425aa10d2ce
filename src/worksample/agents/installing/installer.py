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
from .installed_programs import ABOUT, TREE, Installed, agents_folder, digest_of_tree, find_installed, make_read_only
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


def install(text: str) -> Installed:
    """Install `NAME[@VERSION]`, unless this version is already installed. For `@latest`, the registry is always asked
    for the latest version.

    Raises UsageError if the name is unknown. Raises InstallError with the installer's output if the installation fails.
    If two installations run at the same time, one waits for the other. If the process is killed, the incomplete folder
    does not count as installed.
    """
    program, version = parse_name(text)
    sweep_first()
    place = agents_folder()
    with (place / f".{program.name}.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sign_lock(lock)
        known = find_installed(program.name, version) if version != LATEST else None
        if known is not None and (known.anywhere or not shared_libraries.loader()):
            return known
        fresh = place / f".{program.name}.new"
        remove_tree(fresh)  # left by an installation that was killed
        tree = fresh / TREE
        tree.mkdir(parents=True)
        if isinstance(program.source, Npm):
            got = npm.install(program.source, "" if version == LATEST else version, tree)
        else:
            got = pypi.install(program.source, "" if version == LATEST else version, tree)
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
