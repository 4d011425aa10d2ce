"""Signing in to web services before the agent's first action, as an employee's browser already is."""

from __future__ import annotations

import contextlib
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from playwright.async_api import Error

from .tabs import Tabs

WAIT = 8_000
"""Milliseconds to wait for a form, and for its disappearance."""
TRIES = 5
"""Maximum attempts to open a page."""
_NAME_FIELDS = "input[type=text], input[type=email], input:not([type])"
_PASSWORD_FIELDS = "input[type=password]"


async def sign_in(tabs: Tabs, accounts: list[list[str]], program: str) -> None:
    """Sign in with each account, given as [address, name, password]. Stay on the last page. A failure is told to the
    agent as a remark.

    The pages that this function opens are not visits of the agent: the log of requests has them under the user agent
    `program`.
    """
    session = await tabs.session()
    await session.send("Network.enable")
    usual = await tabs.page.evaluate("navigator.userAgent")
    await session.send("Network.setUserAgentOverride", {"userAgent": program})
    failed = []
    for address, name, password in accounts:
        try:
            signed = await _sign_in_at(tabs.page, address, name, password)
        except Error:
            signed = False
        if not signed:
            failed.append(address)
    await session.send("Network.setUserAgentOverride", {"userAgent": usual})
    await tabs.settle(3.0)
    tabs.take_events()
    for address in failed:
        tabs.add_remark(f"the browser could not sign in at {address}")


async def _sign_in_at(page: Any, address: str, name: str, password: str) -> bool:
    """Return whether the account is signed in: the form with the password is gone, or HTTP's own sign-in succeeded."""
    if await _wants_http_sign_in(page, address):
        # Chromium keeps a name and a password of an address for its origin.
        answer = await _go(page, _with_credentials(address, name, password))
        return answer is not None and answer.status < 400
    secret = page.locator(_PASSWORD_FIELDS).locator("visible=true").first
    with contextlib.suppress(Error):
        await secret.wait_for(timeout=WAIT)
    if not await secret.count():
        return False
    form = page.locator("form", has=page.locator(_PASSWORD_FIELDS)).first
    within = form if await form.count() else page
    names = within.locator(_NAME_FIELDS).locator("visible=true")
    if await names.count():
        await names.first.fill(name)
    await secret.fill(password)
    await secret.press("Enter")
    with contextlib.suppress(Error):
        await secret.wait_for(state="hidden", timeout=WAIT)
    return not await secret.count()


async def _go(page: Any, address: str) -> Any:
    """Open a page and return its answer. Chromium's own page about an error may still be on its way, and interrupts."""
    for _ in range(TRIES - 1):
        try:
            return await page.goto(address, wait_until="load")
        except Error as failed:
            if "interrupted by another navigation" not in str(failed):
                raise
            await page.wait_for_load_state("load")
    return await page.goto(address, wait_until="load")


async def _wants_http_sign_in(page: Any, address: str) -> bool:
    """Open a page, and return whether it asks for HTTP's own sign-in."""
    try:
        answer = await _go(page, address)
    except Error as failed:
        if "ERR_INVALID_AUTH_CREDENTIALS" not in str(failed):
            raise
        return True
    return answer is not None and answer.status == 401


def _with_credentials(address: str, name: str, password: str) -> str:
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=f"{quote(name, safe='')}:{quote(password, safe='')}@{parts.netloc}"))
