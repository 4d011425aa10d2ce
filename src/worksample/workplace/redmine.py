"""Redmine's files, extracted from Debian's package without installing it.

The package's installation creates a database and a Gemfile.lock for the whole machine, which we do not want, and fails
if Ruby has had security updates. Its dependencies are installed as usual.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from worksample.errors import SandboxUnavailable
from worksample.files.scratch_folder import scratch_folder
from worksample.sandboxes.guarded_subprocess import NOT_FOUND, run_guarded
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import make_once
from worksample.sudo_command import root_command

LAST = "/usr/share/redmine"
"""Path for which its files were made."""


def redmine_folder() -> Path | None:
    """Return the folder of the newest downloaded version; None if there is none."""
    found = sorted(cache_folder().glob("redmine-*/config.ru"), key=lambda path: path.parent.stat().st_mtime_ns)
    return found[-1].parent if found else None


def fetch_redmine() -> Path:
    """Download the package by apt and unpack it. Raises SandboxUnavailable if that fails."""
    with scratch_folder("redmine") as work:
        _run(["apt-get", "download", "-qq", "redmine"], work)
        [archive] = work.glob("redmine_*.deb")
        _run(["dpkg-deb", "-x", archive.name, "files"], work)
        version = archive.name.split("_")[1].replace("%3a", ":")
        return make_once(cache_folder() / f"redmine-{version}", lambda folder: _fill(folder, work / f"files{LAST}"))


def _fill(folder: Path, source: Path) -> None:
    """Copy the files to a place that they were not made for: links to other packages' scripts are replaced by the
    scripts.
    """
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
    done = run_guarded(argv, 600, cwd=cwd)
    if done.returncode == NOT_FOUND:
        raise SandboxUnavailable(
            f"{argv[0]} is not installed: the tracker needs Debian",
            where="workplace",
            next="leave the tracker out of --services, or use Debian",
        )
    if done.returncode:
        raise SandboxUnavailable(
            f"{argv[0]} failed: {done.stderr.strip()[:500]}", where="workplace", next=root_command("apt-get update")
        )
