"""Calling programs of this machine that take long, such as installers: a kill of the platform ends them, too, and
whatever they started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

NOT_FOUND = 127
"""The exit status where there is no such program."""
_GUARD = Path(__file__).with_name("guard_program.py")


def run_guarded(
    words: Sequence[str], seconds: float, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A program to its end, and what it printed. subprocess.TimeoutExpired after so many seconds; exit status 127 where
    it is not to be found."""
    guard = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid())]
    with subprocess.Popen(
        [*guard, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=cwd,
        env=env,
        encoding="utf-8",
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        finally:
            process.terminate()  # harmless where it has ended
    return subprocess.CompletedProcess(list(words), process.returncode, out, err)
