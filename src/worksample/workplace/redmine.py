"""Redmine's files, taken out of Debian's package and not installed.

The package's own installation makes a database and a Gemfile's lock for the whole machine, which we do not want, and
fails where Ruby has had security updates. What it depends on is installed as usual.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from worksample.errors import SandboxUnavailable
from worksample.files.scratch import scratch_folder
from worksample.privileged import privileged
from worksample.sandboxes.guarded_subprocess import NOT_FOUND, call
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import once

LAST = "/usr/share/redmine"
"""Where its files say that they lie."""


def redmine_folder() -> Path | None:
    """Its files, of the newest version that was fetched; None where none was."""
    found = sorted(cache_folder().glob("redmine-*/config.ru"), key=lambda path: path.parent.stat().st_mtime_ns)
    return found[-1].parent if found else None


def fetch_redmine() -> Path:
    """Fetch the package by apt and unpack it. SandboxUnavailable where that fails."""
    with scratch_folder("redmine") as work:
        _run(["apt-get", "download", "-qq", "redmine"], work)
        [archive] = work.glob("redmine_*.deb")
        _run(["dpkg-deb", "-x", archive.name, "files"], work)
        version = archive.name.split("_")[1].replace("%3a", ":")
        return once(cache_folder() / f"redmine-{version}", lambda folder: _fill(folder, work / f"files{LAST}"))


def _fill(folder: Path, source: Path) -> None:
    """Its files at another place than they were made for: links to scripts of other packages become these scripts."""
    shutil.copytree(source, folder, dirs_exist_ok=True, symlinks=True)
    for path in folder.rglob("*"):
        if not path.is_symlink() or path.name == "instances":
            continue
        text = os.fspath(path.readlink())
        target = Path(os.path.normpath(Path(LAST, path.relative_to(folder)).parent / text))
        path.unlink()
        if target.is_file():
            shutil.copyfile(target, path)


def _run(argv: list[str], cwd: Path) -> None:
    done = call(argv, 600, cwd=cwd)
    if done.returncode == NOT_FOUND:
        raise SandboxUnavailable(
            f"there is no {argv[0]} here: the tracker needs Debian",
            where="workplace",
            next="leave the tracker out of --services, or use Debian",
        )
    if done.returncode:
        raise SandboxUnavailable(
            f"{argv[0]} failed: {done.stderr.strip()[:500]}", where="workplace", next=privileged("apt-get update")
        )
