"""What the exec server waits for: descriptors, each with the function that is called when it has something."""

from __future__ import annotations

import select

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from collections.abc import Callable


IN, OUT, GONE = select.EPOLLIN, select.EPOLLOUT, select.EPOLLERR | select.EPOLLHUP


class Poller:
    """Level-triggered. An unwatched descriptor costs nothing, also when its other end is gone."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._watched: dict[int, tuple[int, Callable[[int], object]]] = {}

    def watch(self, descriptor: int, events: int, call: Callable[[int], object]) -> None:
        """Call with the events that came; with 0 events only the loss of the other end comes."""
        before = self._watched.get(descriptor)
        self._watched[descriptor] = (events, call)
        if before is None:
            self._epoll.register(descriptor, events)
        elif before[0] != events:
            self._epoll.modify(descriptor, events)

    def unwatch(self, descriptor: int) -> None:
        """Harmless for what is not watched; must come before the descriptor is closed."""
        if self._watched.pop(descriptor, None):
            self._epoll.unregister(descriptor)

    def turn(self, patience: float | None) -> None:
        """Wait once, and serve everything that is ready once: nobody who floods holds up the others."""
        for descriptor, events in self._epoll.poll(patience):
            found = self._watched.get(descriptor)
            if found:
                found[1](events)
