"""The poller of the exec server: waits for events of descriptors and calls the function that handles them."""

from __future__ import annotations

import select

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from collections.abc import Callable


IN, OUT, GONE = select.EPOLLIN, select.EPOLLOUT, select.EPOLLERR | select.EPOLLHUP


class Poller:
    """A level-triggered poller. A descriptor that is not watched causes no events, even if its other end is closed."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._watched: dict[int, tuple[int, Callable[[int], object]]] = {}

    def watch(self, descriptor: int, events: int, call: Callable[[int], object]) -> None:
        """Call the function `call` with the events of a descriptor. With 0 as `events`, the function is only called
        when the other end is lost.
        """
        before = self._watched.get(descriptor)
        self._watched[descriptor] = (events, call)
        if before is None:
            self._epoll.register(descriptor, events)
        elif before[0] != events:
            self._epoll.modify(descriptor, events)

    def unwatch(self, descriptor: int) -> None:
        """Stop watching a descriptor. Call this before the descriptor is closed. Do nothing if the descriptor is not
        watched.
        """
        if self._watched.pop(descriptor, None):
            self._epoll.unregister(descriptor)

    def turn(self, patience: float | None) -> None:
        """Wait at most `patience` seconds and handle every ready descriptor once, so that a busy descriptor cannot
        block the others.
        """
        for descriptor, events in self._epoll.poll(patience):
            found = self._watched.get(descriptor)
            if found:
                found[1](events)
