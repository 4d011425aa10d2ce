"""Bring the programs of a workplace onto this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

from worksample.errors import SandboxUnavailable

from .converse import converse_folder, fetch_converse
from .programs import lacking, missing
from .redmine import fetch_redmine, redmine_folder


def install(names: Iterable[str]) -> tuple[str, ...]:
    """Install the Debian packages that these services lack, fetch Redmine and the chat's page; what was brought.

    As root or by sudo without a password. SandboxUnavailable, with the line to type, where that cannot be done, and for
    what has to be installed by pip. No service of a package is started where the machine's policy forbids it
    (`policy-rc.d`); ours need none of them.
    """
    given = tuple(names)
    brought: list[str] = []
    if packages := missing(given):
        words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
        _as_root(words)
        brought += packages
    if "tracker" in given and redmine_folder() is None:
        brought.append(fetch_redmine().name)
    if "chat" in given and converse_folder() is None:
        brought.append(fetch_converse().name)
    if line := lacking(given):
        raise SandboxUnavailable("Python's part of the workplace is missing", where="workplace", next=line)
    return tuple(brought)


def _as_root(words: list[str]) -> None:
    line = f"sudo {' '.join(words)}"
    asked = words if os.geteuid() == 0 else ["sudo", "-n", *words]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(asked, env=env, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise SandboxUnavailable(f"there is no {error.filename} here", where="workplace", next=line) from None
    if done.returncode:
        said = done.stderr.strip()[-500:]
        raise SandboxUnavailable(f"the packages were not installed: {said}", where="workplace", next=line)
