"""The files of Redmine, extracted from Debian's package without installing the package.

An installation of the package would create a database and a Gemfile.lock for the whole machine, and it fails on
machines whose Ruby has had security updates. The packages on which Redmine depends are installed as usual.
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
"""Path for which the files in Debian's package of Redmine were made."""


def redmine_folder() -> Path | None:
    """Return the folder of the newest downloaded version of Redmine, or None if no version was downloaded."""
    found = sorted(cache_folder().glob("redmine-*/config.ru"), key=lambda path: path.parent.stat().st_mtime_ns)
    return found[-1].parent if found else None


def fetch_redmine() -> Path:
    """Download Debian's package of Redmine by apt, unpack it and return its folder. Raises SandboxUnavailable if that
    fails.
    """
    with scratch_folder("redmine") as work:
        _run(["apt-get", "download", "-qq", "redmine"], work)
        [archive] = work.glob("redmine_*.deb")
        _run(["dpkg-deb", "-x", archive.name, "files"], work)
        version = archive.name.split("_")[1].replace("%3a", ":")
        return make_once(cache_folder() / f"redmine-{version}", lambda folder: _fill(folder, work / f"files{LAST}"))


def _fill(folder: Path, source: Path) -> None:
    """Copy the files of Redmine to a folder for which they were not made. Links to scripts of other packages are
    replaced by the scripts.
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
