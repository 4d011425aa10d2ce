"""The command line as a process of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from forking.child import Child

TINY = Path(__file__).resolve().parent.parent / "suites" / "tiny"
SCRIPTS = TINY / "scripts"


def argv_of(*words: object) -> list[str]:
    """What to execute where a process must start from nothing, as people's do."""
    return [sys.executable, "-m", "worksample", *map(str, words)]


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without the platform's own variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WORKSAMPLE_")}
    return {**kept, "WORKSAMPLE_AUTHOR": "tester", "COLUMNS": "160", **more}


def start(*words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Child:
    """Begin it."""
    return Child("worksample", words, clean_environment(**(env or {})), cwd)


def cli(
    *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    running = start(*words, cwd=cwd, env=env)
    out, err = running.communicate()
    return subprocess.CompletedProcess(argv_of(*words), running.wait(), out, err)


def here(*words: object, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it in this process: for what only reads and says, since a process of its own imports for a second first."""
    from worksample.cli.command_line import code_of

    out, err, before = io.StringIO(), io.StringIO(), dict(os.environ)
    os.environ.clear()
    os.environ.update(clean_environment(**(env or {})))
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = code_of([str(word) for word in words])
    finally:
        os.environ.clear()
        os.environ.update(before)
    return subprocess.CompletedProcess(argv_of(*words), code, out.getvalue(), err.getvalue())


def here_json(*words: object, code: int = 0) -> Any:
    """As `cli_json`, in this process."""
    return _document(here(*words, "--json"), code)


def cli_json(*words: object, code: int = 0, cwd: Path | None = None) -> Any:
    """Run it with `--json` and read the document; fails with what was said where the exit code is another."""
    return _document(cli(*words, "--json", cwd=cwd), code)


def _document(done: subprocess.CompletedProcess[str], code: int) -> Any:
    assert done.returncode == code, f"{done.returncode}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout)
