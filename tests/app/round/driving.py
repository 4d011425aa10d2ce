"""The real server in a thread and Chromium in front of it, watched: for tests that use the app as people do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Frame, Page, Request, expect, sync_playwright

from running.needs import browser
from worksample.app import AppConfig, create_app
from worksample.app.server.http_server import BoundSocket, listen
from worksample.app.server.http_server import serve_in_thread as serve_beside
from worksample.people.clock import now_in_microseconds

if TYPE_CHECKING:
    from worksample.people.clock import Clock
    from worksample.store import Store

ROOT = Path(__file__).resolve().parents[3]
AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 240_000
"""Milliseconds that anything may take: other tests share the machine."""
expect.set_options(timeout=PATIENCE)


def static() -> Path:
    """The built pages: the package's own, or those in `$WORKSAMPLE_STATIC`."""
    return Path(os.environ.get("WORKSAMPLE_STATIC") or AppConfig().static)


@contextmanager
def serving(
    store: Store, clock: Clock = now_in_microseconds, pages: Path | None = None, judges: Path | None = None
) -> Iterator[BoundSocket]:
    """The whole app over a store, on a free port, until the block ends. `pages`: others than `static`; `judges`: a file
    of models.
    """
    listening = listen(AppConfig(port=0, static=pages or static(), judges=judges))
    with serve_beside(create_app(store, listening.config, clock=clock), listening):
        yield listening


@dataclass
class Watch:
    """What pages did that they must not do: requests to elsewhere, errors, and what a policy blocked."""

    host: str
    faults: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Texts of console errors that a test provokes, such as the answer to a wrong password."""
    usual: tuple[str, ...] = ("Unrecognized Content-Security-Policy directive 'webrtc'",)
    """What Chromium says of every site that was delivered."""

    def on(self, context: BrowserContext) -> None:
        context.on("request", self._asked)
        context.on("console", self._said)
        context.on("weberror", lambda e: self.faults.append(f"thrown: {e.error}"))

    def _asked(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss"):
            name = address.hostname or ""
            if name != self.host and not name.endswith(f".{self.host}"):
                self.faults.append(f"a request to {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(text in message.text for text in (*self.expected, *self.usual)):
            self.faults.append(f"console: {message.text} ({message.location.get('url', '')})")

    def check(self) -> None:
        assert not self.faults, "\n".join(self.faults)


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """One at a time: Playwright's loop takes the thread."""
    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=browser(), args=[*FLAGS, *flags])
        try:
            yield found
        finally:
            found.close()


def desk_of(browser: Browser, served: BoundSocket, watch: Watch, *, dark: bool = False, width: int = 1280) -> Page:
    """A person's own browser, with nobody signed in yet."""
    context = browser.new_context(
        base_url=served.config.app_origin,
        viewport={"width": width, "height": 800},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    context.set_default_timeout(PATIENCE)
    watch.on(context)
    return context.new_page()


def enter(page: Page, token: str) -> Page:
    """Sign in by a one-time link."""
    page.goto(f"/link#{token}")
    page.get_by_role("banner").get_by_role("button", name="Sign out").wait_for()
    return page


COLOURS = ("color-contrast", "link-in-text-block")
"""What axe finds depends on the theme in these rules alone."""


def axe(page: Page | Frame, *rules: str) -> list[str]:
    """What axe finds serious or critical on this page, with where. `rules`: these alone."""
    # Evaluated and not added as a script: the page's own policy lets nothing else in.
    if page.evaluate("!window.axe"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    found: dict[str, Any] = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{v['id']} ({v['impact']}): {node['target']} {node.get('failureSummary', '')}"
        for v in found["violations"]
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"]
    ]
