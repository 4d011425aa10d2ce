"""A company's pages in the agent's browser, logged in with the agent's account."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sandboxes.browser.site import LIMITS, Stage
from worksample.box import BoxConfig, Endpoint
from worksample.sandboxes import open_box
from worksample.sandboxes.browser import Browser, BrowserConfig
from worksample.sandboxes.endpoints import serve_endpoints
from worksample.sandboxes.services import open_services
from worksample.tasks.workplace_settings import PORTS, WORKPLACE
from worksample.workplace.workplace import seed_of_folder, workplace_over_state

pytestmark = [
    pytest.mark.box,
    pytest.mark.browser,
    pytest.mark.workplace,
    pytest.mark.thorough(
        quick="sandboxes/browser/test_browser_actions.py::test_form_is_filled_in_and_actions_are_recorded"
    ),
    pytest.mark.long(seconds=60),
]
COMPANY = Path(__file__).parents[3] / "examples/invoice-1043/company"
NAMES = ("chat", "tracker", "files", "git", "calendar")
WORD = "paddle-and-float-26"


async def _until(stage: Stage, *wanted: str) -> str:
    """What is shown once all of it is there."""
    for _ in range(30):
        seen = await stage.do("noop", wait_ms=1000)
        if all(one in seen.text for one in wanted):
            return seen.text
    raise AssertionError(seen)


async def test_agent_logs_in_to_all_services_and_uses_their_pages() -> None:
    begun = await asyncio.to_thread(seed_of_folder, COMPANY, NAMES)
    workplace = workplace_over_state(NAMES, begun.state, "test", accounts=begun.accounts)
    places = {Endpoint(name, PORTS[name]): f"service:{WORKPLACE}:{PORTS[name]}" for name in NAMES}
    config = BrowserConfig(secure=("http://chat:3000",))
    async with (
        open_services((workplace.box,), "bubblewrap") as services,
        open_box(BoxConfig(network="endpoints", endpoints=tuple(places), limits=LIMITS)) as box,
        serve_endpoints(box, {place: services.target(to) for place, to in places.items()}),
    ):
        browser = Browser(box, config)
        try:
            await _log_in(Stage(box, browser))
        finally:
            await browser.close()


async def _log_in(stage: Stage) -> None:
    await stage.do("goto", url="http://chat:3000/")
    await _until(stage, "textbox 'Password")
    await stage.on("textbox 'XMPP Address", "fill", value="assistant")
    await stage.on("textbox 'Password", "fill", value=WORD)
    await stage.on("button 'Log in'", "click")
    await _until(stage, "Rosa Lindqvist", "The bursar of Lakeside School rang")
    await stage.do("goto", url="http://tracker:8091/login")
    await stage.on("textbox 'Login'", "fill", value="assistant")
    await stage.on("textbox 'Password'", "fill", value=WORD)
    await stage.on("button 'Login'", "click")
    await _until(stage, "link 'Sign out'")
    await stage.do("goto", url="http://files:8092/?h")
    await stage.on("textbox ' username'", "fill", value="assistant")
    await stage.on("textbox ' password'", "fill", value=WORD)
    await stage.on("button 'login'", "click")
    await stage.do("goto", url="http://files:8092/finance/")
    await _until(stage, "invoices-2026.csv")
    await _merge(stage)
    await _appoint(stage)


async def _merge(stage: Stage) -> None:
    """Open a merge request, approve and merge it."""
    await stage.do("goto", url="http://git:8929/root/billing/-/edit/main/README.md")
    await stage.on("textbox 'Username or primary email'", "fill", value="assistant")
    await stage.on("textbox 'Password'", "fill", value=WORD)
    await stage.on("button 'Sign in'", "click")
    await stage.on("textbox 'Content'", "fill", value="# Billing by hand")
    await stage.on("textbox 'Branch'", "fill", value="by-hand")
    await stage.on("button 'Commit changes'", "click")
    await stage.do("goto", url="http://git:8929/root/billing/-/merge_requests/new?source=by-hand")
    await stage.on("button 'Create merge request'", "click")
    await stage.on("button 'Approve'", "click")
    assert "9 Mar 2026" in (await stage.on("button 'Merge'", "click")).text
    await _until(stage, "Merged by Alex Assistant")


async def _appoint(stage: Stage) -> None:
    """Make an event in the week of the company's day."""
    await stage.do("goto", url="http://calendar:5232/")
    await stage.on("textbox 'Account'", "fill", value="assistant")
    await stage.on("textbox 'Password'", "fill", value=WORD)
    await stage.on("button 'Sign in'", "click")
    await _until(stage, "Mar 9 ")
    await stage.on("button 'New event'", "click")
    await stage.on("textbox 'Title'", "fill", value="Call the school")
    await stage.on("button 'Save'", "click")
    await _until(stage, "Call the school")
