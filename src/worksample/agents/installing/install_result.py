"""Result of an installer, and the function that runs installers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import InstallError
from worksample.sandboxes.guarded_subprocess import run_guarded

SECONDS = 900.0
"""Time limit of one installer in seconds."""


@dataclass(frozen=True, slots=True)
class InstallResult:
    """Result of installing a program. The fields have the same meaning as those of `Installed`."""

    version: str
    packages: dict[str, str]
    runtime: str = ""
    node: str = ""
    python: str = ""


def run_installer(words: Sequence[str], cwd: Path, what: str) -> str:
    """Run an installer and return its output. If the installer fails, raises InstallError with the last lines of its
    output.
    """
    env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")}
    try:
        done = run_guarded(words, SECONDS, cwd=cwd, env=env)
    except subprocess.TimeoutExpired:
        raise InstallError(
            f"{what} was not installed within {SECONDS:.0f} seconds",
            where=words[0],
            next="try again, and check the registry that npm, pip or uv are configured for",
        ) from None
    if done.returncode:
        last = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()][-4:]
        raise InstallError(
            f"{what} could not be installed: {' / '.join(last) or 'the installer said nothing'}",
            where=words[0],
            next="check the version's name, and the registry that npm, pip or uv are configured for",
        )
    return done.stdout
