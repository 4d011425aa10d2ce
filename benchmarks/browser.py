"""What a browser for agents costs beside plain Playwright: memory, start, each action, each kind of observation.

    python benchmarks/browser.py [--rounds 20]

The same Chromium loads the same page (600 elements) and is asked for the same things in turn: by Playwright alone on
the host, and as an agent's browser, in a box, with the driver in another and a screen kept of every action. Seconds are
of the processor, of all processes below this one, so that what else runs on the machine changes little.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
from playwright.async_api import Page, async_playwright

from worksample.agents.scripted_agent import find_element
from worksample.box import BoxConfig, BoxLimits
from worksample.sandboxes import open_box
from worksample.sandboxes.browser import OBSERVATIONS, Browser, BrowserConfig
from worksample.sandboxes.browser.chromium import BINARY

LIMITS = BoxLimits(memory=4 << 30, processes=512)
PAGE = (
    "<title>Page</title><h1>Page</h1><button onclick=\"document.title='n'+(window.n=(window.n||0)+1)\">Count</button>"
    "<input aria-label=Name>"
    + "".join(f"<p>Line {n} <a href='#{n}'>Link {n}</a></p>" for n in range(200))
    + "".join(f"<button>Button {n}</button>" for n in range(100))
)
Timed = dict[str, tuple[float, float]]
"""What -> (processor's ms, ms), the median of the rounds."""


def used() -> float:
    """Seconds of the processor that this process and all below it have taken."""
    total = 0.0
    for one in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def memory() -> float:
    """MiB of all processes below this one, shared pages divided."""
    total = 0
    for one in psutil.Process().children(recursive=True):
        try:
            total += one.memory_full_info().pss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return total / (1 << 20)


async def timed(work: Callable[[], Awaitable[object]], rounds: int) -> tuple[float, float]:
    """Of one call: the processor's ms over all rounds, and the median of the clock's."""
    cpu, walls = used(), []
    for _ in range(rounds):
        began = time.perf_counter()
        await work()
        walls.append(1000 * (time.perf_counter() - began))
    return 1000 * (used() - cpu) / rounds, statistics.median(walls)


async def plain(page_file: Path, rounds: int) -> tuple[Timed, float]:
    """Playwright alone."""
    out: Timed = {}
    cpu, began = used(), time.perf_counter()
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=str(BINARY), headless=False, args=["--headless=new", "--no-sandbox", "--disable-gpu"]
        )
        page = await browser.new_page(viewport={"width": 1280, "height": 720})
        await page.goto(page_file.as_uri())
        await page.screenshot(type="jpeg")
        out["start, to the first page"] = (1000 * (used() - cpu), 1000 * (time.perf_counter() - began))
        await _asked(page, out, rounds)
        taken = memory()
        await browser.close()
    return out, taken


async def _asked(page: Page, out: Timed, rounds: int) -> None:
    async def shot() -> None:
        await page.screenshot(type="jpeg")

    async def click() -> None:
        await page.get_by_role("button", name="Count").click()

    async def fill() -> None:
        await page.get_by_label("Name").fill("Ada")

    async def tree() -> None:
        await page.locator("body").aria_snapshot()

    floor = {"click": [click, shot], "fill": [fill, shot], "tree": [tree, shot], "dom": [page.content, shot]}
    floor |= {kind: [shot] for kind in OBSERVATIONS if kind not in floor}
    for name, calls in floor.items():

        async def each(calls: list[Callable[[], Awaitable[object]]] = calls) -> None:  # type: ignore[assignment]
            for call in calls:
                await call()

        out[name] = await timed(each, rounds)


async def agents(rounds: int) -> tuple[Timed, float]:
    """As an agent has it."""
    out: Timed = {}
    async with open_box(BoxConfig(limits=LIMITS)) as box:
        await box.write("/task/scratch/page.html", PAGE.encode())
        cpu, began = used(), time.perf_counter()
        browser = Browser(box, BrowserConfig())
        try:
            seen = await browser.act("goto", {"url": "file:///task/scratch/page.html"})
            out["start, to the first page"] = (1000 * (used() - cpu), 1000 * (time.perf_counter() - began))
            count, name = find_element(seen.text, "button 'Count'"), find_element(seen.text, "textbox 'Name'")
            browser.config = BrowserConfig(observe=())
            out["click"] = await timed(lambda: browser.act("click", {"bid": count}), rounds)
            out["fill"] = await timed(lambda: browser.act("fill", {"bid": name, "value": "Ada"}), rounds)
            for kind in OBSERVATIONS:
                browser.config = BrowserConfig(observe=(kind,))
                out[kind] = await timed(lambda: browser.act("noop", {"wait_ms": 0}), rounds)
            taken = memory()
        finally:
            await browser.close()
    return out, taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(PAGE, encoding="utf-8")
        floor, floor_memory = asyncio.run(plain(page, rounds))
    ours, our_memory = asyncio.run(agents(rounds))
    print("| | processor, ms | Playwright alone | ratio | by the clock, ms | Playwright alone |")
    print("|---|---|---|---|---|---|")
    for name, (cpu, wall) in ours.items():
        less, plain_wall = floor[name]
        print(f"| {name} | {cpu:.0f} | {less:.0f} | {cpu / less:.1f} | {wall:.0f} | {plain_wall:.0f} |")
    print(f"\nmemory: {our_memory:.0f} MiB, {floor_memory:.0f} alone, {our_memory / floor_memory:.2f} x")


if __name__ == "__main__":
    main()
