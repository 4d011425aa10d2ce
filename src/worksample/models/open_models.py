"""Models of judges are closed in the event loop that asked them: their connections belong to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from inspect_ai.model import Model

_ASKED: WeakKeyDictionary[asyncio.AbstractEventLoop, set[Model]] = WeakKeyDictionary()


def asked(model: Model) -> None:
    """Note that the running loop has connections of this model."""
    _ASKED.setdefault(asyncio.get_running_loop(), set()).add(model)


async def close_models() -> None:
    """Close what `ask` opened in the running loop, at the end of it. Whoever asks the same model later opens it anew.

    A loop that is closed over open connections leaves sockets behind, and the next loop would be given them.
    """
    for model in _ASKED.pop(asyncio.get_running_loop(), set()):
        # As its context manager it is also forgotten by Inspect, which would hand out the closed one again.
        async with model:
            pass
