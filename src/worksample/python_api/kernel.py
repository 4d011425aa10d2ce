"""Work beside a notebook's kernel, which the engine need not know of.

Inspect, told that it is in a notebook, wants ipywidgets and patches the loops of the whole process so that one may run
inside another. The engine has a thread and a loop of its own, so it needs neither.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PACKAGE = "IPython"
_LOCK = threading.Lock()
_WORKING: list[Any] = []
"""One entry per body of work that goes on: what answered before the first of them."""


@contextmanager
def unseen() -> Iterator[None]:
    """Meanwhile `IPython.get_ipython()` says None to every thread but the main one, which is the notebook's own."""
    package: Any = sys.modules.get(PACKAGE)
    if package is None:
        yield
        return
    with _LOCK:
        asked = _WORKING[0] if _WORKING else package.get_ipython
        _WORKING.append(asked)
        package.get_ipython = lambda: asked() if threading.current_thread() is threading.main_thread() else None
    try:
        yield
    finally:
        with _LOCK:
            _WORKING.pop()
            if not _WORKING:
                package.get_ipython = asked
