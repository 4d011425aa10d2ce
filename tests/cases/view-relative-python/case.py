"""An outside case: Python called by a path with `..` in it, by which no box can start it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = """
import asyncio
from pathlib import Path
from worksample.files import scan
from worksample.store import Store
from worksample.viewing import prepare

store = Store.open("store", create=True)
views = asyncio.run(prepare(store, scan(Path("in"), store.blobs).manifest))
print([(path, view.kind, view.problem) for path, view in views.items()])
"""


def check(room: Path, request: pytest.FixtureRequest) -> None:
    (room / "sub" / "in").mkdir(parents=True)
    shutil.copyfile(Path(__file__).parent / "msft.csv", room / "sub" / "in" / "msft.csv")
    (room / "environment").symlink_to(sys.prefix)
    python = f"../environment/bin/{Path(sys.executable).name}"
    done = subprocess.run([python, "-c", LOOK], cwd=room / "sub", capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[('msft.csv', 'table', '')]", done.stdout + done.stderr
