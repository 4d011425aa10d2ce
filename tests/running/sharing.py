"""What is made once for all processes of a run, by the first that needs it."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def common(factory: pytest.TempPathFactory) -> Path:
    """The folder of this run: xdist gives each of its processes one below it."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """One process at a time, until the block ends."""
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], T]) -> T:
    """What `make` gives, which can be pickled; `make` has a folder for itself."""
    place = common(factory) / name
    place.mkdir(exist_ok=True)
    kept = place / "kept.pickle"
    with alone(place / "lock"):
        if not kept.exists():
            kept.write_bytes(pickle.dumps(make(place)))
    found: T = pickle.loads(kept.read_bytes())
    return found
