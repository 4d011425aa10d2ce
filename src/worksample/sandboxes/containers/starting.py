"""Boxes by a Docker daemon of this machine."""

from __future__ import annotations

import asyncio
import functools
import threading

from worksample.box import Box, BoxConfig
from worksample.sandboxes import layout, served_box
from worksample.sandboxes.sweeper import sweep_first

from .base_image import base_image
from .daemon import Daemon, daemon, sweep, url
from .holder import ContainerHolder

_LOCK = threading.Lock()


def _prepare(config: BoxConfig) -> tuple[Daemon, str]:
    found = daemon(url())
    sweep_first()
    layout.prepare(config)
    with _LOCK:
        return found, _ready(found)


@functools.cache
def _ready(found: Daemon) -> str:
    """Once for a process: what killed ones left is removed, and the image is there."""
    sweep(found.url)
    return base_image(found)


async def start(config: BoxConfig) -> Box:
    """A running box; raises SandboxError, SandboxUnavailable, MissingExtra."""
    found, image = await asyncio.to_thread(_prepare, config)
    return await served_box.start(config, lambda config: ContainerHolder(config, found, image))
