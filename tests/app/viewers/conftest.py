"""All formats in one store, made once per test run; one server and one browser for all modules of each process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from app.round.driving import chromium, serving
from app.viewers.showing import AUTOPLAY, Panes, gathered, panes
from app.viewers.stock import Stock
from running.sharing import common
from worksample.app.server.http_server import BoundSocket


@pytest.fixture(scope="package")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stock]:
    """The store of the whole run, whichever process came first."""
    with Stock.opened(common(tmp_path_factory) / "viewers") as found:
        yield found


# Of the package: while Playwright runs nothing else that has a loop can, and tests elsewhere do.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium(AUTOPLAY) as found:
        yield found


@pytest.fixture(scope="package")
def served(stock: Stock) -> Iterator[BoundSocket]:
    with serving(stock.store) as found:
        yield found


@pytest.fixture(scope="package")
def viewer(stock: Stock, browser: Browser, served: BoundSocket) -> Iterator[Panes]:
    """The files of every module `samples_*` beside this one."""
    with panes(browser, served.config, stock.folder("files", gathered)) as found:
        yield found


@pytest.fixture
def seen(viewer: Panes) -> Iterator[Panes]:
    """The one viewer, watched: nothing may go wrong in it while a test looks."""
    yield from viewer.watched()
