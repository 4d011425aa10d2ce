"""An outside case: in a Latin-1 locale the import ended in a traceback, or wrote Latin-1."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TABLE = Path(__file__).with_name("jobs.csv")


def check(room: Path, request: Any) -> None:
    if shutil.which("localedef") is None:
        pytest.skip("no localedef")
    place = room / "de_DE.ISO-8859-1"
    subprocess.run(["localedef", "-i", "de_DE", "-f", "ISO-8859-1", place], check=False, capture_output=True)
    if not place.exists():
        pytest.skip("localedef has no sources")
    cleared = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-m", "worksample", "import", "jobs", TABLE, room / "out"], check=False, capture_output=True,
        env=cleared | {"LOCPATH": str(room), "LC_ALL": "de_DE.ISO-8859-1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [brief] = (room / "out").glob("*/brief.md")
    assert "Draw a logo — “Łódź”" in brief.read_text(encoding="utf-8")
