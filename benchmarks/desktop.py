"""What a desktop for agents costs: start, click to frame, an action with its picture, and several desktops with memory.

    python benchmarks/desktop.py [--rounds 20] [--desktops 10]

The peer is the way of Inspect's tool `computer`: an X server in the agent's own box, and for each action a process
that clicks (xdotool) and one that takes the picture (xwd), without its pause of two seconds. Both are measured in one
run, with the same window that changes its colour at every click. Needs xdotool and x11-apps.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from contextlib import AsyncExitStack
from dataclasses import replace

import psutil

from sandboxes.desktop.stage import LIBRARY, LIMITS, PAINTER, Lines, Stage, staged
from worksample.box import Box, BoxConfig, BoxLimits, Mount
from worksample.sandboxes import open_box
from worksample.sandboxes.desktop import DisplayConfig
from worksample.sandboxes.python_toolbox import library_folder

SCREEN = DisplayConfig(1280, 720)
PEER = "xdotool mousemove 200 200 click 1; xwd -root -silent > /tmp/shot.xwd"
SERVER = ["Xvnc", ":7", "-geometry", "1280x720", "-SecurityTypes", "None", "-rfbport", "-1", "-ac"]


async def click_to_frame(stage: Stage, rounds: int) -> list[float]:
    """Return the milliseconds from a click to the next changed picture."""
    client, out = stage.desktop.display.live_client, []
    for _ in range(rounds):
        await client.settle(0.1, 2)
        serial, began = client.serial, time.perf_counter()
        async with client.watch(), asyncio.timeout(10):
            await stage.desktop.hands.click((200, 200))
            await client.next_change(serial)
        out.append(1000 * (time.perf_counter() - began))
    return out


async def whole_action(stage: Stage, rounds: int) -> list[float]:
    """Return the milliseconds of a click with the wait for a quiet screen, the record and the picture."""
    out = []
    for _ in range(rounds):
        began = time.perf_counter()
        await stage.do("computer", action="left_click", coordinate=[200, 200])
        out.append(1000 * (time.perf_counter() - began))
    return out


async def peer_action(box: Box, rounds: int) -> list[float]:
    """Return the milliseconds of a click and a picture by a process each."""
    out = []
    for _ in range(rounds):
        began = time.perf_counter()
        done = await box.run(["sh", "-c", PEER], env={"DISPLAY": ":7"}, timeout=60)
        assert done.returncode == 0, done.stderr
        out.append(1000 * (time.perf_counter() - began))
    return out


async def measure_peer(rounds: int) -> list[float]:
    """Measure the peer in a box of its own."""
    library = await asyncio.to_thread(library_folder, ("python-xlib",), LIBRARY)
    config = BoxConfig(limits=LIMITS, mounts=(Mount(str(library), LIBRARY),))
    async with open_box(replace(config, limits=BoxLimits(memory=1 << 30, processes=128))) as box:
        await box.start(SERVER)
        await asyncio.sleep(2)
        env = {"DISPLAY": ":7", "PYTHONPATH": LIBRARY}
        lines = Lines(await box.start(["python3", "-c", PAINTER.read_text(encoding="utf-8")], env=env))
        assert await lines.next() == "ready"
        return await peer_action(box, rounds)


def private_memory() -> int:
    """Return the bytes of memory that the processes below this one have for themselves."""
    total = 0
    for one in psutil.Process().children(recursive=True):
        try:
            total += one.memory_full_info().uss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return total


async def several(count: int) -> tuple[float, int, list[float]]:
    """Start desktops at once. Return the seconds, the memory of each in bytes, and the milliseconds from click to frame
    when all are clicked at once.
    """
    async with AsyncExitStack() as stack:
        began = time.perf_counter()
        stages = await asyncio.gather(*(stack.enter_async_context(staged(SCREEN)) for _ in range(count)))
        seconds = time.perf_counter() - began
        for stage in stages:
            await stage.painter()
        memory = private_memory() // count
        found = await asyncio.gather(*(click_to_frame(stage, 3) for stage in stages))
        return seconds, memory, [one for times in found for one in times]


async def main(rounds: int, desktops: int) -> None:
    """Print the figures."""
    starts = []
    for _ in range(5):
        began = time.perf_counter()
        async with staged(SCREEN):
            starts.append(time.perf_counter() - began)
    async with open_box(BoxConfig()):
        pass
    began = time.perf_counter()
    async with open_box(BoxConfig()):
        alone = time.perf_counter() - began
    middle = statistics.median(starts)
    print(f"start: {min(starts):.2f} to {max(starts):.2f} s, median {middle:.2f}; a box alone {alone:.2f} s")
    async with staged(SCREEN) as stage:
        await stage.painter()
        frames, actions = await click_to_frame(stage, rounds), await whole_action(stage, rounds)
    peer = await measure_peer(rounds)
    frames.sort()
    print(
        f"click to frame: {frames[0]:.1f} / {statistics.median(frames):.1f} / {frames[-1]:.1f} ms (least, median, most)"
    )
    ours, theirs = statistics.median(actions), statistics.median(peer)
    print(
        f"an action with its picture: {ours:.0f} ms, of which 120 are the quiet screen; a process each: {theirs:.0f} ms"
    )
    print(f"ratio without the quiet screen: {(ours - 120) / theirs:.2f}")
    seconds, memory, many = await several(desktops)
    frame = statistics.median(many)
    print(f"{desktops} desktops at once: {seconds:.1f} s, {memory / 1e6:.0f} MB each, click to frame {frame:.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--desktops", type=int, default=10)
    given = parser.parse_args()
    asyncio.run(main(given.rounds, given.desktops))
