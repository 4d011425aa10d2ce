"""How a run that goes on in another thread is asked to end."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Stop:
    """Handed to a run in its options; `ask` may be called from any thread, before the run begins, too, and any number
    of times: the run ends once, cleanly."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tell: Callable[[], object] | None = None
        self._asked = False

    def ask(self) -> None:
        """Close the trials in work as cancelled, and return."""
        with self._lock:
            tell, self._asked = None if self._asked else self._tell, True
        if tell is not None:
            tell()

    def listen(self, tell: Callable[[], object]) -> None:
        """The run is there: `tell` is called once, at once where it was asked before."""
        with self._lock:
            self._tell, asked = tell, self._asked
        if asked:
            tell()
