"""Installation of the programs of a workplace's services on this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

from worksample.errors import SandboxUnavailable
from worksample.sudo_command import root_command

from .page_libraries import libraries_of
from .redmine import fetch_redmine, redmine_folder
from .service_programs import missing_fonts, missing_packages, missing_programs_command


def install_programs(names: Iterable[str]) -> tuple[str, ...]:
    """Install the Debian packages that these services lack and fonts for their pages, and download Redmine and programs
    of web pages. Return the names of what was installed.

    The installation runs as root or by sudo without a password. Raises SandboxUnavailable, with the command to type, if
    that is impossible or a Python package is missing. The installed packages start no system services if the machine's
    policy (`policy-rc.d`) forbids that; a workplace does not need those system services.
    """
    given = tuple(names)
    brought: list[str] = []
    if packages := (*missing_packages(given), *missing_fonts()):
        brought += apt_get(packages)
    if "tracker" in given and redmine_folder() is None:
        brought.append(fetch_redmine().name)
    brought += [one.fetch().name for one in libraries_of(given) if one.path() is None]
    if line := missing_programs_command(given):
        raise SandboxUnavailable("the workplace's Python packages are missing", where="workplace", next=line)
    return tuple(brought)


def apt_get(packages: Iterable[str]) -> tuple[str, ...]:
    """Install Debian packages as root or by sudo without a password. Raises SandboxUnavailable, with the command to
    type, if that fails.

    If the first attempt fails, the package lists are downloaded and the installation is repeated, because a new machine
    has no package lists.
    """
    wanted = tuple(packages)
    words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *wanted]
    line = root_command(" ".join(words))
    if _as_root(words, line).returncode == 0:
        return wanted
    listed = _as_root(["apt-get", "update", "-qq"], line)
    done = _as_root(words, line) if listed.returncode == 0 else listed
    if done.returncode:
        said = done.stderr.strip()[-500:]
        raise SandboxUnavailable(f"the packages were not installed: {said}", where="apt-get", next=line)
    return wanted


def _as_root(words: list[str], line: str) -> subprocess.CompletedProcess[str]:
    asked = words if os.geteuid() == 0 else ["sudo", "-n", *words]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        return subprocess.run(
            asked, env=env, capture_output=True, text=True, check=False, encoding="utf-8", errors="replace"
        )
    except FileNotFoundError as error:
        raise SandboxUnavailable(f"{error.filename} is not installed", where="apt-get", next=line) from None
