"""`--rewrite`: asserts are rewritten once, and kept, before each process of a run would do it for itself.

Where PYTHONDONTWRITEBYTECODE is set they would keep nothing, and without it they begin at once and all do the same.
"""

from __future__ import annotations

import compileall
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from running.profiles import root_of


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("worksample").addoption(
        "--rewrite", action="store_true", help="only rewrite the asserts of all tests, for the next runs"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if not config.getoption("--rewrite"):
        return None
    root = root_of(config)
    for file in sorted(root.rglob("*.py")):
        if file.name == "conftest.py" or file.match("test_*.py"):
            keep(file, config)
        else:
            compileall.compile_file(file, quiet=1)
    return 0


def place_of(file: Path) -> Path:
    """Where pytest keeps what it made of a file of tests. It has no public way to any of this."""
    return rewrite.get_cache_dir(file) / f"{file.stem}{rewrite.PYC_TAIL}"


def is_kept(file: Path) -> bool:
    """Whether it is there, and of what the file is now."""
    return rewrite._read_pyc(file, place_of(file)) is not None


def keep(file: Path, config: pytest.Config) -> None:
    if not is_kept(file):
        digest, code = rewrite._rewrite_test(file, config)
        place_of(file).parent.mkdir(exist_ok=True, parents=True)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, place_of(file))
