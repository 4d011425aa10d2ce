"""Store calls never run on an event loop, which a remote store would block."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY
from forking.child import Child
from worksample.records import Trial, digest_bytes
from worksample.store import Store
from worksample.store.event_loop_warning import StoreCallOnLoop


def watched(*words: object) -> tuple[int, str]:
    """Its exit code, and what it said of itself."""
    running = Child("experiments.store_call_watch", words)
    _, said = running.communicate()
    return running.wait(), said


CALLS: dict[str, Callable[[Store], object]] = {
    "find": lambda store: store.find(Trial),
    "put": lambda store: store.blobs.put(b"x"),
    "put a file": lambda store: store.blobs.put_path(Path(__file__)),
    "path": lambda store: store.blobs.path(digest_bytes(b"there")),
}


@pytest.mark.parametrize("name", CALLS)
def test_store_call_on_a_loop_is_detected(tmp_path: Path, name: str) -> None:
    async def careless(store: Store) -> None:
        CALLS[name](store)

    with Store.open(tmp_path / "s", create=True) as store:
        store.blobs.put(b"there")
        with pytest.warns(StoreCallOnLoop, match="to_thread"):
            asyncio.run(careless(store))
        with warnings.catch_warnings():
            warnings.simplefilter("error", StoreCallOnLoop)
            asyncio.run(asyncio.to_thread(CALLS[name], store))


@pytest.mark.box
@pytest.mark.long
def test_run_and_regrade_make_no_store_call_on_a_loop(tmp_path: Path) -> None:
    store = tmp_path / "store"
    agent = ["--agent", "scripted", "--script", SCRIPTS / "good"]
    code, said = watched("run", "--suite", TINY, *agent, "--store", store, "--name", "one", "--json")
    assert (code, said.partition("ON LOOP")[1:]) == (0, ("", "")), said
    _, said = watched("grade", "one", "--store", store, "--json")
    assert "ON LOOP" not in said, said
