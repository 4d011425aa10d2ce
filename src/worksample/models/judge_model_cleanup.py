"""Closing of judge models. It is done in the event loop that used the models, because their connections belong to that
loop.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from inspect_ai.model import Model

_ASKED: WeakKeyDictionary[asyncio.AbstractEventLoop, set[Model]] = WeakKeyDictionary()


def note_model(model: Model) -> None:
    """Record that this model has connections in the running event loop."""
    _ASKED.setdefault(asyncio.get_running_loop(), set()).add(model)


async def close_models() -> None:
    """Close the models that have connections in the running event loop. A later question opens them again.

    An event loop that is closed with open connections leaves sockets behind, and the next event loop could receive
    their data.
    """
    for model in _ASKED.pop(asyncio.get_running_loop(), set()):
        # Close it as a context manager, so that Inspect also drops it from its cache of models.
        async with model:
            pass
