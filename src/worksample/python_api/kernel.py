"""Work beside a notebook's kernel, which the engine need not know of.

Inspect, told that it is in a notebook, wants ipywidgets and patches the loops of the whole process so that one may run
inside another. The engine has a thread and a loop of its own, so it needs neither. rich shows in a notebook's cell
whatever is printed, also what Inspect formats for its log only: the traceback of an agent's function that raised.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LOCK = threading.Lock()
_WORKING: list[list[tuple[Any, str, Any]]] = []
"""One entry per body of work that goes on: what stood in the place of our answers before the first of them."""


@contextmanager
def unseen() -> Iterator[None]:
    """Meanwhile no thread but the main one, which is the notebook's own, is told by IPython and rich that it is in a
    notebook."""
    package: Any = sys.modules.get("IPython")
    if package is None:
        yield
        return
    with _LOCK:
        _WORKING.append(_WORKING[0] if _WORKING else _hide(package))
    try:
        yield
    finally:
        with _LOCK:
            replaced = _WORKING.pop()
            if not _WORKING:
                for place, name, before in replaced:
                    setattr(place, name, before)


def _hide(package: Any) -> list[tuple[Any, str, Any]]:
    import rich.console

    replaced = []
    for place, name, answer in ((package, "get_ipython", None), (rich.console, "_is_jupyter", False)):
        before = getattr(place, name)
        setattr(place, name, _elsewhere(before, answer))
        replaced.append((place, name, before))
    return replaced


def _elsewhere(asked: Callable[[], Any], answer: Any) -> Callable[[], Any]:
    """`asked` for the main thread, and `answer` for all others."""
    return lambda: asked() if threading.current_thread() is threading.main_thread() else answer
