"""The command line as a process of its own, as people use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TINY = Path(__file__).resolve().parent.parent / "suites" / "tiny"
SCRIPTS = TINY / "scripts"


def argv_of(*words: object) -> list[str]:
    """What to execute."""
    return [sys.executable, "-m", "worksample", *map(str, words)]


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without the platform's own variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WORKSAMPLE_")}
    return {**kept, "WORKSAMPLE_AUTHOR": "tester", "COLUMNS": "160", **more}


def cli(*words: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    return subprocess.run(
        argv_of(*words),
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=clean_environment(**(env or {})),
        stdin=subprocess.DEVNULL,
        timeout=300,
    )


def cli_json(*words: object, code: int = 0, cwd: Path | None = None) -> Any:
    """Run it with `--json` and read the document; fails with what was said where the exit code is another."""
    done = cli(*words, "--json", cwd=cwd)
    assert done.returncode == code, f"{done.returncode}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout)
