"""The browser's driver: reads a line of JSON for each action and answers with a line of JSON.

    python3 -m in_box.driver '{"socket": ..., "viewport": [1280, 720], "downloads": ...}'

The driver runs with Playwright in a box separate from the agent's box. The browser runs in the agent's box and is
untrusted. If an action fails or takes too long, the driver answers with an error. If the driver does not answer, the
platform restarts the driver and the browser.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from playwright.async_api import Error, async_playwright

from . import page_observation
from .page_actions import ActionRefused, act
from .sign_in import sign_in
from .tabs import Tabs

LOOK = 25.0
"""Maximum seconds to observe a page."""
SETTLE = 3.0
"""Maximum seconds that the driver waits for a page to load after an action."""


class Driver:
    """Driver of a browser. The driver starts the browser before the first action and restarts a browser that has
    exited.
    """

    def __init__(self, playwright: Any, given: dict[str, Any]) -> None:
        self._playwright, self._given = playwright, given
        self._browser: Any = None
        self.tabs = Tabs(given["downloads"])

    async def perform(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Carry out the action in `asked` and return the observation of the page after the action."""
        began_new = await self._ensure_browser()
        if began_new:
            self.tabs.add_remark("the browser was started")
        error = ""
        try:
            await act(self.tabs, asked["action"], asked["with"])
        except ActionRefused as refused:
            error = str(refused)
        except (Error, TimeoutError) as failed:
            error = error_text(failed)
        if self._browser.is_connected() and not error:
            await self.tabs.settle(SETTLE)
        seen = await self._observe_or_recover(asked["observe"])
        return {"error": error, **seen, **self.tabs.take_events()}

    async def _ensure_browser(self) -> bool:
        if self._browser is not None and self._browser.is_connected():
            return False
        # The shim ignores these arguments: the platform starts the real browser with its own.
        self._browser = await self._playwright.chromium.launch(executable_path=self._shim(), timeout=30_000)
        width, height = self._given["viewport"]
        context = await self._browser.new_context(viewport={"width": width, "height": height}, accept_downloads=False)
        context.set_default_timeout(self._given["timeout"] * 1000)
        await self.tabs.begin(self._browser, context)
        if self._given.get("accounts"):
            await sign_in(self.tabs, self._given["accounts"], self._given["sign_in_program"])
        return True

    def _shim(self) -> str:
        path = Path(self._given["scratch"]) / "chromium"
        module = Path(__file__).parent / "shim.py"
        path.write_text(f"#!/bin/sh\nexec {sys.executable} -I {module} {self._given['socket']}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    async def _observe_or_recover(self, observe: list[str]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(LOOK):
                return await self._observe(set(observe))
        except (Error, TimeoutError, RuntimeError, OSError) as failed:
            if not self._browser.is_connected():
                return {"observation": {}, "lost": "the browser has ended; the next action restarts it"}
            if self.tabs.is_gone:
                await self.tabs.focus_any()
                return {"observation": {}, "lost": "the page is gone; another tab is active now"}
            said = error_text(failed)
            await self.tabs.replace(f"the tab did not respond ({said}) and was closed")
            return {"observation": {}, "lost": "the tab did not respond and was replaced by an empty one"}

    async def _observe(self, observe: set[str]) -> dict[str, Any]:
        session = await self.tabs.session()
        page = self.tabs.page
        visible, characters = "visible" in observe, page_observation.LONGEST if "dom" in observe else 0
        marked = await page_observation.mark_page(session, characters=characters, visible=visible)
        out: dict[str, Any] = {}
        large = marked.cut
        if "tree" in observe and not large:
            out["tree"] = await page_observation.accessibility_tree(session, marked, visible=visible)
        if "dom" in observe:
            out["dom"] = page_observation.document_text(marked)
        if "interactable" in observe or ("tree" in observe and large):
            out["interactable"] = page_observation.list_interactable(marked)
        if large:
            out["large"] = f"the page has more than {page_observation.MOST_ELEMENTS} elements; further ones have no id"
        if "viewport" in observe:
            out["viewport"] = marked.page
        image = await page_observation.take_screenshot(session)
        out |= {"url": page.url[:4000], "title": (await page.title())[:500], "tabs": await self.tabs.list_tabs()}
        pictures = {"screen": page_observation.jpeg_base64(image)}
        if "marks" in observe:
            pictures["marked"] = page_observation.jpeg_base64(page_observation.draw_marks(image, marked))
        return {"observation": out, **pictures}


def error_text(error: BaseException) -> str:
    """Return Playwright's error message without its call log."""
    text = str(error).split("\nCall log:")[0].split("=====")[0].strip() or type(error).__name__
    return text.replace("Error: ", "", 1)[:600]


async def main() -> None:
    """Read actions from standard input and answer each of them, until standard input ends."""
    given = json.loads(sys.argv[1])
    reader = asyncio.StreamReader(limit=64 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    async with async_playwright() as playwright:
        driver = Driver(playwright, given)
        while line := await reader.readline():
            asked = json.loads(line)
            try:
                answer = await driver.perform(asked)
            except (Error, TimeoutError, OSError) as failed:
                answer = {"error": error_text(failed), "observation": {}, **driver.tabs.take_events()}
            answers.write(json.dumps({"id": asked["id"], **answer}).encode() + b"\n")


if __name__ == "__main__":
    asyncio.run(main())
