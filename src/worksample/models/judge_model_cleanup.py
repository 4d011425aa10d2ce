"""Close judges' models in the event loop that used them, because their connections belong to that loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from inspect_ai.model import Model

_ASKED: WeakKeyDictionary[asyncio.AbstractEventLoop, set[Model]] = WeakKeyDictionary()


def note_model(model: Model) -> None:
    """Note that the running event loop has connections of this model."""
    _ASKED.setdefault(asyncio.get_running_loop(), set()).add(model)


async def close_models() -> None:
    """Close the models that `ask` opened in the running event loop. A later `ask` opens them again.

    A loop that closes with open connections leaves sockets behind, which the next loop could inherit.
    """
    for model in _ASKED.pop(asyncio.get_running_loop(), set()):
        # Close it as a context manager, so that Inspect also drops it from its cache of models.
        async with model:
            pass
