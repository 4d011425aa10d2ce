"""Subprocesses that take long, such as installers: if the platform is killed, so are they and their children."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

NOT_FOUND = 127
"""Exit status if the program does not exist."""
_GUARD = Path(__file__).with_name("guard_program.py")


def run_guarded(
    words: Sequence[str], seconds: float, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return its output. Raises subprocess.TimeoutExpired after `seconds`; the exit status
    is 127 if the program does not exist.
    """
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
            process.terminate()  # harmless if it has ended
    return subprocess.CompletedProcess(list(words), process.returncode, out, err)
