"""Long-running subprocesses, such as installers, that are killed with all their children if the platform is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

NOT_FOUND = 127
"""Exit status of `run_guarded` if the program does not exist."""
_GUARD = Path(__file__).with_name("guard_program.py")


def run_guarded(
    words: Sequence[str], seconds: float, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program until it exits and return its output. The exit status is 127 if the program does not exist. Raises
    subprocess.TimeoutExpired if the program runs longer than `seconds`.
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
