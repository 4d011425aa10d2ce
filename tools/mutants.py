"""Which changes of a package its tests do not notice.

    python tools/mutants.py PACKAGE [--sample 100] [--seed 1] [--only FILE ...] [--tests FOLDER ...] [--seconds 20]

Changes one thing at a time in a copy of the checkout and runs, in the quick profile and up to the first that fails,
the package's tests that go through the changed function. What survives is printed with file and line: a test is missing
there, or the change means nothing, which somebody who reads it has to say. Exits with 1 where something survived.
"""

from __future__ import annotations

import argparse
import compileall
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from py_compile import PycInvalidationMode

from mutations import Mutant, mutants
from warm_tests import Passed, failing, record, warm_up

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "tests", "docs", "examples", "pyproject.toml", "README.md", "CHANGELOG.md", "dev", "locks")
PATIENCE = 4.0
"""A change that makes the tests so many times slower is noticed: they hang."""


def checkout(folder: Path) -> None:
    """What tests need of this one."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
        else:
            shutil.copy2(source, folder / name)


def environment(folder: Path) -> Path:
    """The interpreter of an environment like this one, in which the package is that of `folder`: what runs in a box
    finds it by its environment and not by a variable."""
    home = folder / ".venv"
    venv.create(home, symlinks=True)
    packages = next(home.glob("lib/python3*/site-packages"))
    # Paths that a path file names bring no path files of their own, and so not this checkout.
    (packages / "checkout.pth").write_text(f"{folder / 'src'}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return home / "bin/python"


def compiled(folder: Path, python: Path) -> None:
    """Bytecode of all but what changes: each module is compared by content, since a change may keep time and size."""
    tasks = re.compile(r"/suites/[^/]+/")
    compileall.compile_dir(
        folder / "src/worksample", quiet=2, rx=tasks, invalidation_mode=PycInvalidationMode.CHECKED_HASH
    )
    subprocess.run([python, "-m", "pytest", "-q", "-n", "0", "--rewrite"], cwd=folder, check=True)


def tests_of(mutant: Mutant, passed: Mapping[str, Passed], folder: Path, seconds: float) -> list[str]:
    """Those that go through the function that is changed, or through its file where it is in none; the cheapest come
    first, and no more than take so many seconds, but one at least."""
    file = str(folder / mutant.file)
    through = [
        name
        for name, test in passed.items()
        if any(file == place and mutant.within in (0, line) for place, line in test.functions)
    ]
    chosen: list[str] = []
    spent = 0.0
    for name in _by_turns(through, passed):
        spent += passed[name].seconds
        if chosen and spent > seconds:
            break
        chosen.append(name)
    return chosen


def _by_turns(names: Sequence[str], passed: Mapping[str, Passed]) -> list[str]:
    """The cheapest first; a second set of parameters of a test comes after the first of all others."""
    turns: dict[str, int] = {}
    placed = []
    for name in sorted(names, key=lambda name: passed[name].seconds):
        test = name.partition("[")[0]
        turns[test] = turns.get(test, 0) + 1
        placed.append((turns[test], passed[name].seconds, name))
    return [name for _, _, name in sorted(placed)]


def survivors(found: Sequence[Mutant], passed: Mapping[str, Passed], folder: Path, scratch: Path, most: float) -> int:
    """Print those that no test notices; how many they are."""
    survived = 0
    for number, mutant in enumerate(found, 1):
        tests = {name: passed[name] for name in tests_of(mutant, passed, folder, most)}
        asked = len(tests)
        if not noticed(mutant, tests, folder, scratch):
            survived += 1
            print(f"survived {asked} tests  {mutant}", flush=True)
        print(f"\r{number} of {len(found)}", end="", file=sys.stderr, flush=True)
    return survived


def noticed(mutant: Mutant, tests: dict[str, Passed], folder: Path, scratch: Path) -> bool:
    """Whether a test fails that passes once more as it was; one that fails then, too, is left out."""
    file = folder / mutant.file
    text = file.read_text(encoding="utf-8")
    while tests:
        file.write_text(mutant.source, encoding="utf-8")
        name = failing(tests, PATIENCE, scratch)
        file.write_text(text, encoding="utf-8")
        if name is None:
            return False
        if not name or failing({name: tests[name]}, PATIENCE, scratch) is None:
            return True
        print(f"\nfails as it is, too: {name}", file=sys.stderr, flush=True)
        del tests[name]
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", help="records, store, runs, grading, ...")
    parser.add_argument("--sample", type=int, help="so many changes, drawn by chance; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the names of files")
    parser.add_argument("--tests", nargs="+", help="default: tests/PACKAGE")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="of tests' processor time for each change; all by default"
    )
    parser.add_argument("--checkout", type=Path, help="that the changes are made in; by default one that is made")
    asked = parser.parse_args()
    if asked.checkout is None:
        with tempfile.TemporaryDirectory(prefix="worksample-mutants-") as made:
            checkout(Path(made))
            python = environment(Path(made))
            compiled(Path(made), python)
            return subprocess.call([python, __file__, *sys.argv[1:], "--checkout", made])
    folder = asked.checkout
    package = folder / "src/worksample" / asked.package
    found = [
        m
        for file in sorted(package.rglob("*.py"))
        if any(part in file.name for part in asked.only)
        for m in mutants(file, folder)
    ]
    if not found:
        sys.exit(f"nothing to change in src/worksample/{asked.package}")
    if asked.sample and asked.sample < len(found):
        found = sorted(random.Random(asked.seed).sample(found, asked.sample), key=lambda m: (m.file, m.line))
    with tempfile.TemporaryDirectory(prefix="worksample-mutants-") as scratch:
        warm_up(folder, asked.package)
        passed = record(asked.tests or [f"tests/{asked.package}"], package, Path(scratch))
        survived = survivors(found, passed, folder, Path(scratch), asked.seconds)
    print(f"{asked.package}: {len(found)} changes, {len(found) - survived} noticed, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
