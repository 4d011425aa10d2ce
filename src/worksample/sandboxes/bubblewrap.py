"""Boxes by bubblewrap: one holder process per box, as root or as an ordinary user, without a daemon."""

from __future__ import annotations

import asyncio

from worksample.box import Box, BoxConfig
from worksample.sandboxes import layout, served_box
from worksample.sandboxes.holder import BubblewrapHolder
from worksample.sandboxes.sweeper import sweep_first


def _prepare(config: BoxConfig) -> None:
    sweep_first()
    layout.prepare(config)


async def start(config: BoxConfig) -> Box:
    """A running box; raises SandboxError, SandboxUnavailable."""
    await asyncio.to_thread(_prepare, config)
    return await served_box.start(config, BubblewrapHolder)
