"""A reset restores the initial state after work in every service."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from workplace.test_workplace_services import ME, opened, seed
from worksample.box import Box
from worksample.tasks.workplace_settings import PORTS, WORKPLACE
from worksample.workplace.workplace import reset_services, services_box

pytestmark = [pytest.mark.box, pytest.mark.workplace, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
WORK = (Path(__file__).parent / "office_work.py").read_text()
UNEQUAL = frozenset({"log", "log/access.jsonl", "calendar/.Radicale.lock"})
"""What a workplace that stands has, and its seed has not: a folder and two files, both empty after a reset
(docs/reference/workplace.md).
"""

SALTS = ("fk-salt.txt", "ah-salt.txt", "dk-salt.txt", "wopi-salt.txt", "iphash", "sessions.db")
ANEW = frozenset(
    [
        *(f"/tmp/{one}" for one in ("prosody.pid", "workplace/nginx.pid", "workplace/clock")),
        *(f"/tmp/workplace/config/copyparty/{one}" for one in SALTS),
    ]
)
"""Beside the state, written by each start: a process number, the clock, random salts, and the sessions."""

BESIDE = """
import hashlib, json, os
found = {}
for top in ("/tmp", "/var/tmp", "/var/lib/redmine", "/home/agent", "/dev/shm", "/task/scratch", "/opt"):
    for folder, below, files in os.walk(top):
        for name in files:
            if "faketime_" in name:
                continue  # shared memory of one process each, named by its number
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                found[path] = hashlib.sha256(open(path, "rb").read()).hexdigest()
            else:
                found[path] = "no file"
        for name in below:
            found[os.path.join(folder, name)] = "folder"
print(json.dumps(found))
"""


def content(state: Path) -> dict[str, object]:
    """All that a state holds: folders, files by their bytes and whether they can be run, databases by their rows."""
    found: dict[str, object] = {}
    for path in sorted(state.rglob("*")):
        name = path.relative_to(state).as_posix()
        if path.is_dir():
            found[name] = "folder"
        elif path.suffix == ".sqlite":
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
                found[name] = list(database.iterdump())
        else:
            found[name] = (path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found


async def beside(box: Box) -> dict[str, str]:
    """What lies in the services' box outside their state."""
    found: dict[str, str] = json.loads((await box.run(["python3", "-c", BESIDE])).stdout)
    return found


async def put_back(count: int, taken: Path) -> None:
    """Work, look, reset, look; so many times."""
    before = content((await asyncio.to_thread(seed)).state)
    async with opened() as (services, workplace, box):
        own = services_box(services)
        state, around = own.output_path / WORKPLACE, await beside(own)

        def now() -> dict[str, object]:
            shutil.rmtree(taken, ignore_errors=True)
            shutil.copytree(state, taken)
            return content(taken)

        for number in range(1, count + 1):
            done = await box.run(["python3", "-c", WORK, str(number), ME, workplace.operator], timeout=600)
            assert done.returncode == 0, f"{number}: {(done.stdout + done.stderr).decode()[-3000:]}"
            worked = await asyncio.to_thread(now)
            changed = {name for name in worked.keys() | before.keys() if worked.get(name) != before.get(name)}
            assert {name.split("/")[0] for name in changed - UNEQUAL} == set(PORTS), number
            await reset_services(own)
            after = await asyncio.to_thread(now)
            unequal = {name for name in after.keys() | before.keys() if after.get(name) != before.get(name)}
            assert unequal <= UNEQUAL, (number, unequal)
            assert all(after[name] == (b"", False) for name in unequal - {"log"}), number
            left = await beside(own)
            assert left.keys() == around.keys(), (number, left.keys() ^ around.keys())
            assert {name for name in left if left[name] != around[name]} <= ANEW, number


@pytest.mark.long(seconds=20)
async def test_reset_restores_the_initial_state(tmp_path: Path) -> None:
    await put_back(2, tmp_path / "taken")


@pytest.mark.thorough(quick="workplace/test_resets.py::test_reset_restores_the_initial_state")
@pytest.mark.long(seconds=240)
async def test_hundred_resets_restore_the_initial_state(tmp_path: Path) -> None:
    await put_back(100, tmp_path / "taken")
