"""Graders that are called in this process leave it as it was."""

from __future__ import annotations

import _sqlite3
import ctypes
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def unlimited_heap() -> Iterator[None]:
    """A grader of SQL bounds SQLite's memory for its process, which SQL itself can only lower: the stores of all tests
    that come later in this one would run out of it."""
    yield
    lift = ctypes.CDLL(_sqlite3.__file__).sqlite3_hard_heap_limit64
    lift.restype, lift.argtypes = ctypes.c_int64, [ctypes.c_int64]
    lift(0)
