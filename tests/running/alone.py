"""Tests marked `alone` have the machine to themselves, among the processes of one run: the others wait at a lock."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def locked(place: Path, alone: bool) -> Iterator[None]:
    """Side by side with others that are not alone. Who is alone waits at the gate, so that nobody new comes in."""
    with place.with_suffix(".gate").open("a") as gate, place.with_suffix(".room").open("a") as room:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            # By name, not by closing the file: a process that a test forked and left behind has it open, too.
            fcntl.flock(room, fcntl.LOCK_UN)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    # Not of the environment, which a run that a test starts inherits: it would wait for the one around it, for ever.
    run = getattr(item.config, "workerinput", {}).get("testrunuid")
    if run is None:
        return (yield)
    place = Path(tempfile.gettempdir()) / f"worksample-tests-{run}"
    with locked(place, item.get_closest_marker("alone") is not None):
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """In the process that starts the others: what they call the run."""
    node.config.stash[RUN] = node.workerinput["testrunuid"]


RUN = pytest.StashKey[str]()


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last to leave is the process that started the others."""
    run = config.stash.get(RUN, None)
    if run:
        for path in Path(tempfile.gettempdir()).glob(f"worksample-tests-{run}.*"):
            path.unlink(missing_ok=True)
