"""The browser's tabs: the active one, popups, dialogs, downloads and navigations."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

from playwright.async_api import Error

MOST_TABS = 20
MOST_DIALOGS = 30
"""Maximum dialogs that a page may open during one action. A page that opens more dialogs is closed."""
MOST_TOLD = 100
"""Maximum navigations, and maximum remarks, that are reported for one action."""


class Tabs:
    """The tabs of one browser, with the events that happened since the last call of `take_events`."""

    def __init__(self, downloads: str) -> None:
        self._downloads = downloads
        self._context: Any = None
        self.page: Any = None
        self._sessions: dict[Any, Any] = {}
        self._numbers: dict[Any, int] = {}
        self._count = 0
        self._dialogs = 0
        self._answer: tuple[bool, str | None] | None = None
        self._own = False
        self._status: dict[Any, tuple[str, int]] = {}
        self._remarks: list[str] = []
        self._visits: list[dict[str, Any]] = []
        self._asked: set[Any] = set()
        self._files: dict[str, str] = {}
        self._going: set[asyncio.Task[None]] = set()
        self._broken: set[Any] = set()

    async def begin(self, browser: Any, context: Any) -> None:
        """Watch a newly started browser and open an empty tab in it."""
        self._context, self._sessions, self._numbers, self.page = context, {}, {}, None
        whole = await browser.new_browser_cdp_session()
        context.on("page", self._on_page)
        await self.new_page()
        targets = (await whole.send("Target.getTargets"))["targetInfos"]
        own = [one["browserContextId"] for one in targets if one["type"] == "page" and "browserContextId" in one]
        whole.on("Browser.downloadWillBegin", self._on_download)
        whole.on("Browser.downloadProgress", self._on_download_progress)
        for context_id in dict.fromkeys(own):
            given = {"behavior": "allow", "downloadPath": self._downloads, "eventsEnabled": True}
            with contextlib.suppress(Error):
                await whole.send("Browser.setDownloadBehavior", {**given, "browserContextId": context_id})

    @property
    def pages(self) -> list[Any]:
        """The open pages, in the order of their tab numbers."""
        return [] if self._context is None else list(self._context.pages)

    @property
    def is_gone(self) -> bool:
        """Return whether the active page has crashed or closed."""
        return self.page is None or self.page.is_closed() or self.page in self._broken

    def add_remark(self, text: str) -> None:
        """Add a remark for the agent."""
        if len(self._remarks) < MOST_TOLD:
            self._remarks.append(text[:500])

    def take_events(self) -> dict[str, Any]:
        """Return and clear the remarks and navigations since the last call."""
        out = {"remarks": self._remarks, "navigations": self._visits}
        self._remarks, self._visits, self._dialogs = [], [], 0
        self._asked.clear()
        return out

    async def session(self) -> Any:
        """Return the DevTools session of the active page."""
        if self.is_gone:
            await self.focus_any()
        if self.page not in self._sessions:
            session = await self._context.new_cdp_session(self.page)
            for domain in ("Page", "DOM", "Accessibility"):
                await session.send(f"{domain}.enable")
            self._sessions[self.page] = session
        return self._sessions[self.page]

    async def focus_any(self) -> None:
        """Activate the last usable tab. If no usable tab is left, open a new tab."""
        if left := [one for one in self.pages if one not in self._broken]:
            self.page = left[-1]
        else:
            await self.new_page()

    async def new_page(self) -> None:
        """Open an empty tab and activate it."""
        self._own = True
        try:
            self.page = await self._context.new_page()
        finally:
            self._own = False

    async def replace(self, why: str) -> None:
        """Replace the active tab by an empty tab, and add a remark that tells the agent why."""
        old = self.page
        self.add_remark(why)
        await self.new_page()
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(5):
                await old.close(run_before_unload=False)

    async def list_tabs(self) -> list[dict[str, Any]]:
        """Return the number, address and state of each tab."""
        return [{"tab": at, "url": page.url[:1000], "active": page is self.page} for at, page in enumerate(self.pages)]

    async def settle(self, seconds: float) -> None:
        """Wait at most `seconds` for the effects of an action, such as a popup or a page that loads."""
        with contextlib.suppress(Error, TimeoutError, asyncio.TimeoutError):
            await asyncio.sleep(0.05)
            page = self.page  # None if it has just crashed or closed; another tab is shown then
            if page is None:
                return
            async with asyncio.timeout(seconds):
                await page.wait_for_load_state("domcontentloaded")
            async with asyncio.timeout(min(seconds, 1.5)):
                await self._wait_for_requests()

    async def _wait_for_requests(self) -> None:
        """Wait until the HTTP requests that the action caused have ended."""
        while self._asked:
            await asyncio.sleep(0.03)

    def _on_page(self, page: Any) -> None:
        self._numbers[page] = self._count
        self._count += 1
        page.on("framenavigated", lambda frame: self._on_navigation(page, frame))
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_request_end)
        page.on("requestfailed", self._on_request_end)
        page.on("response", lambda answer: self._on_response(page, answer))
        page.on("dialog", lambda dialog: self._start_task(self._on_dialog(page, dialog)))
        page.on("crash", lambda *_: self._start_task(self._on_crash(page)))
        page.on("close", lambda *_: self._on_close(page))
        page.on("filechooser", lambda *_: self.add_remark("a page asks for a file: use upload_file"))
        if len(self.pages) > MOST_TABS:
            self.add_remark(f"a page opened more than {MOST_TABS} tabs; further ones are closed")
            self._start_task(page.close())
            return
        if self._own:
            return
        if self.page is not None:
            self.add_remark("a new tab was opened and is active now")
        self.page = page

    def _on_request(self, request: Any) -> None:
        self._asked.add(request)

    def _on_request_end(self, request: Any) -> None:
        self._asked.discard(request)

    def _start_task(self, work: Any) -> None:
        async def run() -> None:
            with contextlib.suppress(Error, TimeoutError):
                await work

        task = asyncio.get_running_loop().create_task(run())
        self._going.add(task)
        task.add_done_callback(self._going.discard)

    def _on_navigation(self, page: Any, frame: Any) -> None:
        if frame.parent_frame is not None or frame.url == "about:blank":
            return
        url, status = self._status.pop(page, ("", 0))
        self._add_visit(page, frame.url, status if url == frame.url.partition("#")[0] else 0)

    def _on_response(self, page: Any, answer: Any) -> None:
        request = answer.request
        if not request.is_navigation_request() or request.frame.parent_frame is not None:
            return
        if 300 <= answer.status < 400:
            self._add_visit(page, answer.url, answer.status)
        else:
            self._status[page] = (answer.url, answer.status)

    def _add_visit(self, page: Any, url: str, status: int) -> None:
        if len(self._visits) >= MOST_TOLD:
            return
        said: dict[str, Any] = {"at": round(time.time(), 3), "tab": self._numbers.get(page, 0), "url": url[:4000]}
        self._visits.append({**said, "status": status} if status else said)

    async def _on_dialog(self, page: Any, dialog: Any) -> None:
        self._dialogs += 1
        if self._dialogs > MOST_DIALOGS:
            self.add_remark(f"a page opened more than {MOST_DIALOGS} dialogs and was closed")
            await page.close(run_before_unload=False)
            return
        accept, text = self._answer if self._answer is not None else (True, None)
        self._answer = None
        asked = f"{dialog.type} {dialog.message[:300]!r}"
        if not accept:
            self.add_remark(f"{asked} was cancelled")
            await dialog.dismiss()
        elif dialog.type == "prompt":
            said = dialog.default_value if text is None else text
            self.add_remark(f"{asked} was answered with {said[:100]!r}")
            await dialog.accept(said)
        else:
            self.add_remark(f"{asked} was accepted")
            await dialog.accept()

    def answer_next_dialog(self, accept: bool, text: str | None) -> None:
        """Keep how the next dialog is answered."""
        self._answer = (accept, text)

    async def _on_crash(self, page: Any) -> None:
        self.add_remark("the page crashed and was closed")
        self._broken.add(page)
        await page.close(run_before_unload=False)

    def _on_close(self, page: Any) -> None:
        self._sessions.pop(page, None)
        self._broken.discard(page)
        self._status.pop(page, None)
        if page is self.page:
            left = [one for one in self.pages if one is not page]
            self.page = left[-1] if left else None

    def _on_download(self, event: dict[str, Any]) -> None:
        self._files[event["guid"]] = str(event.get("suggestedFilename", ""))[:200]

    def _on_download_progress(self, event: dict[str, Any]) -> None:
        name = self._files.get(event["guid"])
        if name is None or event.get("state") == "inProgress":
            return
        del self._files[event["guid"]]
        done = event.get("state") == "completed"
        path = event.get("filePath") or f"{self._downloads}/{name}"
        self.add_remark(f"downloaded to {path}" if done else f"the download of {name} failed")
