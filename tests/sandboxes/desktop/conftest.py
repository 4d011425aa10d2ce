"""Fixtures of the tests of desktops."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from sandboxes.desktop.stage import Stage, staged


@pytest_asyncio.fixture
async def shared() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage
