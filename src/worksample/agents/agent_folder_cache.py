"""Cache of the folders with the programs of `command` agents, by digest. A box mounts the folder of its agent as
`{agent}`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from worksample.box import Mount
from worksample.errors import PlanError
from worksample.files.scratch_folder import scratch_folder
from worksample.sandboxes.host_state import cache_folder

from .installing.agent_program import PROGRAM
from .installing.installed_programs import digest_of_tree, make_read_only

LARGEST, MOST_FILES = 512 << 20, 20_000
"""Maximum number of bytes and maximum number of files in the folder of one agent."""
_UNWANTED = shutil.ignore_patterns("__pycache__", "*.pyc")


def keep_files(sources: Sequence[Path]) -> str:
    """Copy single files into one folder of the cache. Return the SHA-256 of the files.

    Raises PlanError if two files have the same name, or for the reasons of `keep_folder`.
    """
    names = [one.name for one in sources]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise PlanError(f"two of the agent's files are called {twice!r}", where="files", next="rename one of them")
    with scratch_folder("files", inside=_programs()) as draft:
        for one in sources:
            if not one.is_file():
                raise PlanError(
                    "the agent's file does not exist",
                    where=str(one),
                    next="correct `files` in the agent's table; a folder is named with `folder`",
                )
            try:
                shutil.copy2(one, draft / one.name)
            except OSError as error:
                raise PlanError(
                    f"the agent's file cannot be copied: {error}", where=str(one), next="let this account read it"
                ) from error
        return keep_folder(draft)


def keep_folder(source: Path) -> str:
    """Copy a folder or a single file into the cache. Return the SHA-256 of its files.

    Raises PlanError if the path does not exist, if the folder has more than 512 MiB or 20,000 files, or if it cannot be
    read.
    """
    where = f"the agent's folder {source}"
    if not source.exists():
        raise PlanError(
            "the agent's file or folder does not exist", where=where, next="correct `folder` in the agent's table"
        )
    _check_size(source, where)
    with scratch_folder("program", inside=_programs()) as draft:
        try:
            if source.is_dir():
                shutil.copytree(source, draft / "tree", symlinks=True, ignore=_UNWANTED)
            else:
                (draft / "tree").mkdir()
                shutil.copy2(source, draft / "tree" / source.name)
        except (OSError, shutil.Error) as error:
            raise PlanError(
                f"the agent's folder cannot be copied: {error}", where=where, next="let this account read it"
            ) from error
        digest = digest_of_tree(draft / "tree", installed=False)
        kept = _programs() / digest
        if not kept.exists():
            make_read_only(draft / "tree")
            # Only root may move a read-only folder: make it writable for a moment.
            (draft / "tree").chmod(0o755)
            try:
                (draft / "tree").rename(kept)
            except OSError:
                if not kept.exists():  # otherwise another process has just stored the same files
                    raise
            kept.chmod(0o555)
    return digest


def mount_of(name: str, digest: str) -> Mount:
    """Return the mount of a cached folder. Raises PlanError if the cache of this machine lacks the folder."""
    kept = _programs() / digest
    if not digest or not kept.is_dir():
        raise PlanError(
            f"the agent's folder {name!r} (digest {digest[:16]}) is not on this machine",
            where="agent with harness command",
            next="start the run with the experiment file that names the folder, beside that folder",
        )
    return Mount(str(kept), PROGRAM)


def _programs() -> Path:
    folder = cache_folder() / "programs"
    folder.mkdir(exist_ok=True)
    return folder


def _check_size(source: Path, where: str) -> None:
    size = count = 0
    for parent, _, files in os.walk(source):
        for name in files:
            size += (Path(parent) / name).lstat().st_size
            count += 1
            if size > LARGEST or count > MOST_FILES:
                raise PlanError(
                    f"the agent's folder holds more than {LARGEST >> 20} MiB or {MOST_FILES:,} files",
                    where=where,
                    next="name a smaller folder, or install the program below /usr",
                )
