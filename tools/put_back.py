"""Puts faults that this project had, or must not have, back one by one, and runs the tests that are to notice.

    python tools/put_back.py [NAME ...]

The files of `tools/faults` list them: what the source says, what it said with the fault, and the tests. A test holds
that each source still says so and that each test is there. Exits with 1 where a fault was not noticed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LISTS = ROOT / "tools" / "faults"
PATIENCE = 300
"""Seconds after which tests hang, and so do notice."""


@dataclass(frozen=True)
class Fault:
    """`was` stands once in `file`; with `becomes` in its place one of `tests` fails."""

    name: str
    what: str
    file: str
    was: str
    becomes: str
    tests: tuple[str, ...]


def listed() -> Iterator[Fault]:
    """All of them, in the lists' order."""
    for file in sorted(LISTS.glob("*.toml")):
        for one in tomllib.loads(file.read_text(encoding="utf-8"))["fault"]:
            yield Fault(**{**one, "tests": tuple(one["tests"])})


def noticed(fault: Fault, folder: Path) -> bool:
    """Whether a test fails with the fault in a copy of the source; that they pass without it is CI's to say."""
    source = folder / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
    file = source / "worksample" / fault.file
    file.write_text(file.read_text(encoding="utf-8").replace(fault.was, fault.becomes), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    tests = [f"tests/{test}" for test in fault.tests]
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--basetemp", str(folder / "t")]
    asked = [*words, *tests]
    try:
        done = subprocess.run(
            asked,
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in (0, 1):
        raise SystemExit(f"{fault.name}: the tests did not run\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 1


def main(names: list[str]) -> int:
    """Say of each whether it is noticed."""
    missed = 0
    for fault in listed():
        if names and fault.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            seen = noticed(fault, Path(folder))
        missed += not seen
        print(f"{'noticed' if seen else 'NOT NOTICED'}  {fault.name}: {fault.what}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
