"""No store call on an event loop: where objects lie far away, all trials would wait with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY
from forking.child import Child
from worksample.records import Trial
from worksample.store import Store
from worksample.store.loops import OnLoop


def watched(*words: object) -> tuple[int, str]:
    """Its exit code, and what it said of itself."""
    running = Child("experiments.watched", words)
    _, said = running.communicate()
    return running.wait(), said


def test_a_call_on_a_loop_is_seen(tmp_path: Path) -> None:
    async def careless(store: Store) -> None:
        store.find(Trial)

    with Store.open(tmp_path / "s", create=True) as store:
        with pytest.warns(OnLoop, match="to_thread"):
            asyncio.run(careless(store))
        asyncio.run(asyncio.to_thread(store.find, Trial))


@pytest.mark.box
@pytest.mark.long
def test_a_run_and_a_regrade_make_none(tmp_path: Path) -> None:
    store = tmp_path / "store"
    agent = ["--agent", "scripted", "--script", SCRIPTS / "good"]
    code, said = watched("run", "--suite", TINY, *agent, "--store", store, "--name", "one", "--json")
    assert (code, said.partition("ON LOOP")[1:]) == (0, ("", "")), said
    _, said = watched("grade", "one", "--store", store, "--json")
    assert "ON LOOP" not in said, said
