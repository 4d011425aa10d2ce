"""`kill -9` at any moment leaves nothing behind once the next platform process has started."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.killed.rounds import KINDS, rounds
from sandboxes import daemon

ROUNDS = 64
SEED = 20

pytestmark = pytest.mark.box


@pytest.fixture
def ground() -> Iterator[Path]:
    """Where builds and the users of boxes can reach it."""
    with tempfile.TemporaryDirectory(prefix="ws-killed-", dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.mark.buildah
@pytest.mark.docker
@pytest.mark.long(seconds=400)
@pytest.mark.thorough(quick="experiments/test_kills_leave_nothing.py::test_one_kill_leaves_nothing")
def test_random_kills_leave_nothing(ground: Path) -> None:
    with daemon.running() as url:
        hits = rounds(ground, ROUNDS, SEED, url)
    assert sum(hits.values()) == ROUNDS
    assert all(hits[kind] for kind in KINDS), hits


@pytest.mark.long(seconds=30)
def test_one_kill_leaves_nothing(ground: Path) -> None:
    assert sum(rounds(ground, 1, SEED, "", ("plain",)).values()) == 1
