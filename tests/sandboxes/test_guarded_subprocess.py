"""Subprocesses of the platform end with it, including all their descendants."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worksample.sandboxes.guarded_subprocess import NOT_FOUND, run_guarded

LINGERS = "(setsid sh -c 'while :; do sleep 0.05; done' {mark} </dev/null >/dev/null 2>&1 &)"
CALLER = """
import sys
from worksample.sandboxes.guarded_subprocess import run_guarded
run_guarded(["sh", "-c", sys.argv[1]], 600)
"""


def running(mark: str) -> list[int]:
    """Processes of this machine whose command line has the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def gone(mark: str) -> bool:
    until = time.monotonic() + 300
    while running(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_output_of_the_program_is_returned(tmp_path: Path) -> None:
    done = run_guarded(
        ["sh", "-c", "pwd; echo $A; echo no >&2; cat; exit 3"], 60, cwd=tmp_path, env={**os.environ, "A": "b"}
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, f"{tmp_path}\nb\n", "no\n")
    assert run_guarded(["sh", "-c", "kill -9 $$"], 60).returncode == 128 + 9
    assert run_guarded(["no-such-program"], 60).returncode == NOT_FOUND


def test_descendants_end_with_the_program() -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    assert run_guarded(["sh", "-c", LINGERS.format(mark=mark)], 60).returncode == 0
    assert running(mark) == []


def test_timeout_ends_the_program_and_its_descendants() -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    with pytest.raises(subprocess.TimeoutExpired):
        run_guarded(["sh", "-c", f"{LINGERS.format(mark=mark)}; sleep 600; : {mark}"], 0.5)
    assert gone(mark)


def test_killed_platform_ends_the_program_and_its_descendants() -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    script = f"{LINGERS.format(mark=mark)}; sleep 600; : done {mark}"
    with subprocess.Popen([sys.executable, "-c", CALLER, script]) as caller:
        until = time.monotonic() + 300
        while len(running(mark)) < 4:  # the caller, the guard, the program, and what lingers
            assert caller.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        caller.kill()
    assert gone(mark)
