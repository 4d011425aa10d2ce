"""The real server, the world outside, and Chromium with somebody signed in and two hostile deliverables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Frame, Page

from app.content_origin.hostile import World, site, world
from app.round.driving import chromium, serving
from viewing import material
from worksample.app import AppConfig
from worksample.app.content_origin.capability_hosts import Capabilities
from worksample.app.server.http_server import BoundSocket
from worksample.people import People
from worksample.people.clock import now_in_microseconds
from worksample.store import Store, put_canonical

APP_PAGE = '<!doctype html><title>the app</title><body><p id="secret">vote: 3</p><script src="/assets/app.js"></script>'
APP_SCRIPT = """
localStorage.setItem('token', 'secret');
window.heard = [];
addEventListener('message', e => heard.push([e.origin, e.data]));
"""
VIEWER_PAGE = '<!doctype html><title>the viewer</title><body><script src="/assets/viewer.js"></script>'
VIEWER_SCRIPT = """
window.heard = [];
addEventListener('message', e => {
  heard.push([e.origin, e.data]);
  if (e.source !== parent || !e.data.open) return;
  const frame = document.createElement('iframe');
  if (e.data.sandbox) frame.sandbox = 'allow-scripts allow-same-origin allow-forms allow-pointer-lock';
  frame.src = e.data.open;
  document.body.append(frame);
});
"""


@dataclass
class Stage:
    """The server, the world, a browser in which somebody is signed in, two deliverables."""

    served: BoundSocket
    outside: World
    browser: Browser
    store: Store
    token: str
    labels: dict[str, str]
    folder: Path

    @property
    def config(self) -> AppConfig:
        return self.served.config

    def origin(self, pane: str) -> str:
        return self.config.content_origin(self.labels[pane])

    @contextmanager
    def page(self, *, sandbox: bool = True, panes: tuple[str, ...] = ("AD-1",)) -> Iterator[tuple[Page, list[Frame]]]:
        """The app's page with a viewer for each pane, and the frames in which the deliverables are."""
        context = self.browser.new_context()
        context.set_default_timeout(60_000)
        facts = {"name": self.config.cookie, "value": self.token, "url": self.config.app_origin}
        context.add_cookies([{**facts, "httpOnly": True, "sameSite": "Strict"}])  # type: ignore[list-item]
        page = context.new_page()
        page.goto(self.config.app_origin)
        frames = [self._pane(page, pane, sandbox) for pane in panes]
        try:
            yield page, frames
        finally:
            context.close()

    def _pane(self, page: Page, pane: str, sandbox: bool) -> Frame:
        before = set(page.frames)
        page.evaluate(
            """([viewer, open, sandbox]) => new Promise(done => {
              const frame = document.createElement('iframe');
              frame.src = viewer + '/';
              frame.onload = () => { frame.contentWindow.postMessage({open, sandbox}, viewer); done(); };
              document.body.append(frame);
            })""",
            [self.config.viewer_origin, self.origin(pane) + "/index.html", sandbox],
        )
        for _ in range(100):
            found = [f for f in page.frames if f not in before and f.url.startswith(self.origin(pane))]
            if found:
                found[0].wait_for_load_state()
                return found[0]
            page.wait_for_timeout(50)
        raise AssertionError([f.url for f in page.frames])

    def arm(self, frame: Frame) -> None:
        """Tell the hostile page where everything is."""
        config = self.config
        words = {"W": self.outside.url, "APP": config.app_origin, "VIEWER": config.viewer_origin}
        frame.evaluate("words => Object.assign(window, words)", {**words, "OTHER": self.origin("AD-2")})


def static(folder: Path) -> Path:
    """A front end as simple as can be: the headers are the server's own."""
    assets = folder / "static" / "assets"
    assets.mkdir(parents=True)
    (assets / "app.js").write_text(APP_SCRIPT)
    (assets / "viewer.js").write_text(VIEWER_SCRIPT)
    (folder / "static" / "index.html").write_text(APP_PAGE)
    (folder / "static" / "viewer.html").write_text(VIEWER_PAGE)
    return folder / "static"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("hostile")
    with world() as outside, Store.open(folder / "s", create=True) as store:
        files = site(outside.url)
        people = People(store)
        account = people.accounts.create("Ada", ["evaluator"])
        token = people.accounts.redeem(people.accounts.one_time_link("Ada"))
        panes = {}
        for pane, more in (("AD-1", {}), ("AD-2", {"secret.txt": "the other one's"})):
            taken = material.take(store, folder / pane, {**files, **more, f"{pane}.txt": pane})
            panes[pane] = put_canonical(store.blobs, taken.plain())
        labels = Capabilities(store, now_in_microseconds).mint_all(token, account.id, "item", panes)
        with serving(store, pages=static(folder)) as served, chromium() as browser:
            yield Stage(served, outside, browser, store, token, labels, folder)
