"""A process beside the tests' own: it has none of their threads, so that it can fork, and none of their memory, which
graders bound for their whole process.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import ParamSpec, TypeVar

P, T = ParamSpec("P"), TypeVar("T")
SECONDS = 600.0
"""After which an answer comes no more."""


@cache
def _beside() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def apart(call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What `call`, a function of a module, gives there."""
    return _beside().submit(call, *args, **named).result(timeout=SECONDS)
