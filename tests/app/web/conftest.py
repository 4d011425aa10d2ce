"""One Chromium for all tests of the screens; each test has a store and a server of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from app.round.desks import Desks, desks
from app.round.driving import chromium
from app.web.studio import Studio


# Of the package: while Playwright runs nothing else that has a loop can, and tests elsewhere do.
@pytest.fixture(scope="package")
def chrome() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def place(chrome: Browser, tmp_path: Path) -> Iterator[Desks]:
    """A studio with two agents and two projects; no round is open."""
    with desks(chrome, tmp_path, Studio) as found:
        yield found


@pytest.fixture
def team(chrome: Browser, tmp_path: Path) -> Iterator[Desks]:
    """An office whose deliverables are one file each: for what has little to do with files."""
    with desks(chrome, tmp_path) as found:
        yield found
