"""No store call on an event loop: where objects lie far away, all trials would wait with it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY
from worksample.records import Trial
from worksample.store import Store
from worksample.store.loops import OnLoop

WATCHED = """
import warnings
from worksample.store.loops import OnLoop
def show(message, category, filename, lineno, file=None, line=None):
    import sys, traceback
    if issubclass(category, OnLoop):
        print("ON LOOP", *traceback.format_stack(limit=7), file=sys.stderr)
warnings.showwarning = show
warnings.simplefilter("always", OnLoop)
from worksample.cli import main
main()
"""


def watched(*words: object) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", WATCHED, *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)


def test_a_call_on_a_loop_is_seen(tmp_path: Path) -> None:
    async def careless(store: Store) -> None:
        store.find(Trial)

    with Store.open(tmp_path / "s", create=True) as store:
        with pytest.warns(OnLoop, match="to_thread"):
            asyncio.run(careless(store))
        asyncio.run(asyncio.to_thread(store.find, Trial))


@pytest.mark.box
@pytest.mark.long(seconds=40)
def test_a_run_and_a_regrade_make_none(tmp_path: Path) -> None:
    store = tmp_path / "store"
    agent = ["--agent", "scripted", "--script", SCRIPTS / "good"]
    done = watched("run", "--suite", TINY, *agent, "--store", store, "--name", "one", "--json")
    assert (done.returncode, done.stderr.partition("ON LOOP")[1:]) == (0, ("", "")), done.stderr
    again = watched("grade", "one", "--store", store, "--json")
    assert "ON LOOP" not in again.stderr, again.stderr
