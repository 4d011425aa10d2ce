"""Run what CI runs: `checks.py lint`, or `checks.py test [all] [--shard K/N]`. `./dev` installs, then calls this."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
FAILED = ROOT / ".pytest_cache/v/cache/lastfailed"
LIMITS = {"quick": "900", "all": "3600"}
"""Seconds after which a test of a profile hangs: it fails with the stacks of all threads, and the others go on."""
RETRIED = 3
"""Tests that may fail beside others and pass alone; more fail the run."""
ROOM = 12 << 30, 16 << 30
"""Bytes free in /dev/shm and in memory at which tests write into memory, which saves a third of their time."""
TYPES = [[f"{BIN}/mypy"]]
RUFF = [[f"{BIN}/ruff", "check"], [f"{BIN}/ruff", "format", "--check"]]
IMPORTS = [[f"{BIN}/lint-imports", "--no-cache"]]
FRONT_END = [
    [sys.executable, "hatch_build.py", "types"],  # of the API, for svelte-check
    ["npm", "--prefix", "web", "run", "--silent", "check"],
    ["npm", "--prefix", "web", "test", "--silent"],
]
DOCS = [[sys.executable, "docs/build.py", "build"]]


class Checks:
    """Commands in threads of their own, one after another in each; their output is printed if one fails."""

    def __init__(self, *columns: Sequence[Sequence[str]]) -> None:
        self.failed: list[str] = []
        self._threads = [threading.Thread(target=self._run, args=[column], daemon=True) for column in columns]
        for thread in self._threads:
            thread.start()

    def _run(self, commands: Sequence[Sequence[str]]) -> None:
        for command in commands:
            done = subprocess.run(
                command, cwd=ROOT, check=False, encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            if done.returncode:
                self.failed.append(f"$ {' '.join(command)}\n{done.stdout}")

    def wait(self) -> int:
        """Return 0 if all passed, else print what failed and return 1."""
        for thread in self._threads:
            thread.join()
        for output in self.failed:
            sys.stderr.write(output + "\n")
        return int(bool(self.failed))


def has_room() -> bool:
    """Tell whether memory has room for the files of all tests. What is synced, and when, is tested by the calls."""
    shm = Path("/dev/shm")
    if not shm.is_dir() or shutil.disk_usage(shm).free < ROOM[0]:
        return False
    fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines())
    return int(fields["MemAvailable"].split()[0]) << 10 >= ROOM[1]


def run_pytest(*words: str) -> int:
    """Return pytest's exit code."""
    return subprocess.run([sys.executable, "-m", "pytest", "-q", *words], cwd=ROOT, check=False).returncode


def run_tests(profile: str, shard: str) -> int:
    """Run a profile in one pytest: four processes for two cores, since each waits now and then for a disk or a page."""
    FAILED.unlink(missing_ok=True)
    common = ["--profile", profile, "--timeout", LIMITS[profile]]
    words = ["-n", "4", "--dist", "worksteal", "--shard", shard, "--known-skips"]
    words += [] if os.environ.get("CI") else ["--write-counts"]
    if profile == "quick" and has_room():
        # Short, because the path of a Unix socket has 107 bytes at most.
        place = tempfile.mkdtemp(dir="/dev/shm", prefix="ws-tests-")
        try:
            code = run_pytest(*common, *words, "--basetemp", f"{place}/files")
        finally:
            shutil.rmtree(place, ignore_errors=True)
    else:
        code = run_pytest(*common, *words)
    return 0 if code == 1 and passes_alone(common) else code


def passes_alone(words: Sequence[str]) -> bool:
    """Run the failed tests once more, alone: on a busy machine one in thousands that waits for a page may fail."""
    names = json.loads(FAILED.read_text(encoding="utf-8")) if FAILED.exists() else {}
    failed = [name for name in names if not name.startswith("::")]  # a fault of the run is no test
    if not 0 < len(failed) <= RETRIED:
        return False
    sys.stderr.write(f"failed beside others; once more, alone: {' '.join(failed)}\n")
    if run_pytest("-n", "0", *words, *failed):
        return False
    sys.stderr.write(f"passed alone, and to be mended all the same: {' '.join(failed)}\n")
    return True


def main() -> int:
    """Return the exit code: 0 if everything passed."""
    parser = argparse.ArgumentParser(prog="./dev", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lint")
    test = commands.add_parser("test")
    test.add_argument("profile", nargs="?", choices=("quick", "all"), default="quick")
    test.add_argument("--shard", default="1/1", metavar="K/N")
    given = parser.parse_args()
    if given.command == "lint":
        return Checks(TYPES, [*RUFF, *IMPORTS]).wait()
    # Asserts are rewritten once, before each process would do it. Nothing is kept if no bytecode may be written.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if code := run_pytest("-n", "0", "--rewrite"):
        return code
    checks = Checks(TYPES, [*RUFF, *IMPORTS, *FRONT_END, *DOCS]) if given.shard.startswith("1/") else None
    code = run_tests(given.profile, given.shard)
    return (checks.wait() if checks else 0) or code


if __name__ == "__main__":
    sys.exit(main())
