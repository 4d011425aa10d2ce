"""The functions that carry out browser actions with Playwright. An element is named by its `bid`, as in BrowserGym."""

from __future__ import annotations

import asyncio
import base64
import re
from typing import Any
from urllib.parse import urlsplit

from .tabs import Tabs

SCHEMES = ("http", "https", "file", "about", "data")
LONGEST_WAIT = 10_000
_BID = re.compile(r"((?:[a-z][A-Z]*)*)([0-9]*)")


class ActionRefused(Exception):
    """Error: an action cannot be carried out. The message tells the agent the reason."""


async def act(tabs: Tabs, action: str, given: dict[str, Any]) -> None:
    """Carry out an action. Raises ActionRefused if the action cannot be carried out; Playwright's errors pass
    through.
    """
    if tabs.is_gone:
        await tabs.focus_any()
    await ACTIONS[action](tabs, **given)


def locate(tabs: Tabs, bid: str) -> Any:
    """Return Playwright's locator of the element `bid`. Raises ActionRefused if `bid` is malformed."""
    match = _BID.fullmatch(bid)
    if not match or not bid:
        raise ActionRefused(f"{bid[:60]!r} is not the id of an element; ids are shown in [ ]")
    place = tabs.page
    prefix, path = "", re.findall(r"[a-z][A-Z]*", match[1])
    if not match[2]:
        path = path[:-1]  # the element of a frame itself
    for part in path:
        prefix += part
        place = place.frame_locator(f'[bid="{prefix}"]')
    return place.locator(f'[bid="{bid}"]').first


async def find_element(tabs: Tabs, bid: str) -> Any:
    """Return Playwright's locator of the element `bid` of the page. Raises ActionRefused if the page has no such
    element.
    """
    found = locate(tabs, bid)
    if not await found.count():
        raise ActionRefused(f"the page has no element {bid!r} any more")
    return found


async def _noop(tabs: Tabs, wait_ms: float = 1000) -> None:
    await asyncio.sleep(min(max(wait_ms, 0), LONGEST_WAIT) / 1000)


async def _goto(tabs: Tabs, url: str) -> None:
    if urlsplit(url).scheme not in SCHEMES:
        raise ActionRefused(f"only addresses that begin with {', '.join(SCHEMES)} can be opened")
    await tabs.page.goto(url, wait_until="domcontentloaded")


async def _back(tabs: Tabs) -> None:
    if await tabs.page.go_back(wait_until="domcontentloaded") is None and tabs.page.url == "about:blank":
        raise ActionRefused("this tab has no earlier page to go back to")


async def _forward(tabs: Tabs) -> None:
    await tabs.page.go_forward(wait_until="domcontentloaded")


async def _reload(tabs: Tabs) -> None:
    await tabs.page.reload(wait_until="domcontentloaded")


async def _click(tabs: Tabs, bid: str, button: str = "left", modifiers: list[str] | None = None) -> None:
    await (await find_element(tabs, bid)).click(button=button, modifiers=modifiers or [])


async def _dblclick(tabs: Tabs, bid: str) -> None:
    await (await find_element(tabs, bid)).dblclick()


async def _hover(tabs: Tabs, bid: str) -> None:
    await (await find_element(tabs, bid)).hover()


async def _fill(tabs: Tabs, bid: str, value: str) -> None:
    await (await find_element(tabs, bid)).fill(value)


async def _select(tabs: Tabs, bid: str, options: list[str]) -> None:
    await (await find_element(tabs, bid)).select_option(options)


async def _focus(tabs: Tabs, bid: str) -> None:
    await (await find_element(tabs, bid)).focus()


async def _press(tabs: Tabs, bid: str, keys: str) -> None:
    await (await find_element(tabs, bid)).press(keys)


async def _type(tabs: Tabs, text: str) -> None:
    await tabs.page.keyboard.type(text)


async def _drag(tabs: Tabs, bid: str, to: str) -> None:
    await (await find_element(tabs, bid)).drag_to(await find_element(tabs, to))


async def _scroll(tabs: Tabs, x: float = 0, y: float = 0) -> None:
    await tabs.page.mouse.wheel(x, y)
    await asyncio.sleep(0.1)


async def _mouse(tabs: Tabs, x: float, y: float, button: str = "left") -> None:
    await tabs.page.mouse.click(x, y, button=button)


async def _upload(tabs: Tabs, bid: str, files: list[dict[str, str]]) -> None:
    found = await find_element(tabs, bid)
    if await found.evaluate("e => e.tagName === 'INPUT' && e.type === 'file'"):
        await found.set_input_files(_payloads(files))
        return
    async with tabs.page.expect_file_chooser() as waiting:
        await found.click()
    await (await waiting.value).set_files(_payloads(files))


async def _mouse_upload(tabs: Tabs, x: float, y: float, files: list[dict[str, str]]) -> None:
    async with tabs.page.expect_file_chooser() as waiting:
        await tabs.page.mouse.click(x, y)
    await (await waiting.value).set_files(_payloads(files))


def _payloads(files: list[dict[str, str]]) -> list[dict[str, Any]]:
    kind = "application/octet-stream"
    return [{"name": one["name"], "mimeType": kind, "buffer": base64.b64decode(one["data"])} for one in files]


async def _check(tabs: Tabs, bid: str) -> None:
    await (await find_element(tabs, bid)).check()


async def _uncheck(tabs: Tabs, bid: str) -> None:
    await (await find_element(tabs, bid)).uncheck()


async def _clear(tabs: Tabs, bid: str) -> None:
    await (await find_element(tabs, bid)).clear()


async def _key_press(tabs: Tabs, key: str) -> None:
    await tabs.page.keyboard.press(key)


async def _key_down(tabs: Tabs, key: str) -> None:
    await tabs.page.keyboard.down(key)


async def _key_up(tabs: Tabs, key: str) -> None:
    await tabs.page.keyboard.up(key)


async def _insert(tabs: Tabs, text: str) -> None:
    await tabs.page.keyboard.insert_text(text)


async def _mouse_move(tabs: Tabs, x: float, y: float) -> None:
    await tabs.page.mouse.move(x, y)


async def _mouse_down(tabs: Tabs, x: float, y: float, button: str = "left") -> None:
    await tabs.page.mouse.move(x, y)
    await tabs.page.mouse.down(button=button)


async def _mouse_up(tabs: Tabs, x: float, y: float, button: str = "left") -> None:
    await tabs.page.mouse.move(x, y)
    await tabs.page.mouse.up(button=button)


async def _mouse_dblclick(tabs: Tabs, x: float, y: float, button: str = "left") -> None:
    await tabs.page.mouse.dblclick(x, y, button=button)


async def _mouse_drag(tabs: Tabs, from_x: float, from_y: float, to_x: float, to_y: float) -> None:
    await tabs.page.mouse.move(from_x, from_y)
    await tabs.page.mouse.down()
    await tabs.page.mouse.move(to_x, to_y, steps=5)
    await tabs.page.mouse.up()


async def _answer_dialog(tabs: Tabs, accept: bool, text: str | None = None) -> None:
    tabs.answer_next_dialog(accept, text)


async def _tab_new(tabs: Tabs) -> None:
    if len(tabs.pages) >= 20:
        raise ActionRefused("20 tabs are open; close one first")
    await tabs.new_page()


async def _tab_close(tabs: Tabs) -> None:
    await tabs.page.close()
    await tabs.focus_any()


async def _tab_focus(tabs: Tabs, tab: int) -> None:
    if not 0 <= tab < len(tabs.pages):
        raise ActionRefused(f"there is no tab {tab}; {len(tabs.pages)} tabs are open, numbered from 0")
    tabs.page = tabs.pages[tab]
    await tabs.page.bring_to_front()


ACTIONS: dict[str, Any] = {
    "noop": _noop,
    "goto": _goto,
    "go_back": _back,
    "go_forward": _forward,
    "reload": _reload,
    "click": _click,
    "dblclick": _dblclick,
    "hover": _hover,
    "fill": _fill,
    "select_option": _select,
    "focus": _focus,
    "press": _press,
    "keyboard_type": _type,
    "drag_and_drop": _drag,
    "scroll": _scroll,
    "mouse_click": _mouse,
    "upload_file": _upload,
    "mouse_upload_file": _mouse_upload,
    "check": _check,
    "uncheck": _uncheck,
    "clear": _clear,
    "keyboard_press": _key_press,
    "keyboard_down": _key_down,
    "keyboard_up": _key_up,
    "keyboard_insert_text": _insert,
    "mouse_move": _mouse_move,
    "mouse_down": _mouse_down,
    "mouse_up": _mouse_up,
    "mouse_dblclick": _mouse_dblclick,
    "mouse_drag_and_drop": _mouse_drag,
    "answer_dialog": _answer_dialog,
    "tab_new": _tab_new,
    "tab_close": _tab_close,
    "tab_focus": _tab_focus,
}
"""Name of each browser action -> function that carries out the action. `send_msg` and `report_infeasible` are missing,
because the platform handles them without the page.
"""
