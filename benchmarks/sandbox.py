"""What a box costs: start, one command, closing, beside the floor of any process and of bare bubblewrap, in one run.

    python benchmarks/sandbox.py [--rounds 30] [--commands 100] [--at-once 10] [--image base.tar]

Medians of wall time in milliseconds, and as multiples of a bare `bwrap` that runs `true` over the host's files: what
anything with namespaces must pay. With `--image` a box with that root is measured beside the ordinary one. All are
taken in turn within each round, so that a busy machine slows all alike. The last part opens many boxes at once, runs a
command in each and closes them: the time per box, end to end.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from worksample.box import BoxConfig, Mount
from worksample.sandboxes import available, open_box
from worksample.sandboxes.images import prepare_image

BARE = ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "--proc", "/proc", "--dev", "/dev", "true"]
Times = dict[str, list[float]]


@contextmanager
def timed(times: Times, name: str, count: int = 1) -> Iterator[None]:
    """Note the milliseconds of what happens inside, for each of `count` equal parts."""
    began = time.perf_counter()
    yield
    times.setdefault(name, []).append((time.perf_counter() - began) * 1000 / count)


def spawn(words: list[str]) -> None:
    """Run a program of the host to its end."""
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


async def one_round(times: Times, config: BoxConfig, commands: int) -> None:
    """Everything once."""
    with timed(times, "`true`, no sandbox"):
        spawn(["true"])
    with timed(times, "bare bwrap"):
        spawn(BARE)
    opened = open_box(config)
    with timed(times, "box: start"):
        box = await opened.__aenter__()
    with timed(times, "box: one command", commands):
        for _ in range(commands):
            await box.run(["true"])
    with timed(times, "box: write 10 kB", 20):
        for _ in range(20):
            await box.write("/task/output/f", b"x" * 10_000)
    with timed(times, "box: read 10 kB", 20):
        for _ in range(20):
            await box.read("/task/output/f", 10_000)
    with timed(times, "box: freeze and thaw"):
        await box.freeze()
        await box.thaw()
    with timed(times, "box: close"):
        await opened.__aexit__(None, None, None)


async def image_round(times: Times, config: BoxConfig, commands: int) -> None:
    """The same of a box with the root of an image, unpacked before."""
    opened = open_box(config)
    with timed(times, "image box: start"):
        box = await opened.__aenter__()
    with timed(times, "image box: one command", commands):
        for _ in range(commands):
            await box.run(["true"])
    with timed(times, "image box: close"):
        await opened.__aexit__(None, None, None)


async def together(config: BoxConfig, boxes: int) -> float:
    """Milliseconds per box when many are opened, used once and closed at the same time."""

    async def one() -> None:
        async with open_box(config) as box:
            await box.run(["true"])

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(boxes)))
    return (time.perf_counter() - began) * 1000 / boxes


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--commands", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=10)
    parser.add_argument("--image", type=Path)
    given = parser.parse_args()
    root = prepare_image(given.image).root if given.image else None
    times: Times = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "brief.md").write_text("brief", encoding="utf-8")
        config = BoxConfig(mounts=(Mount(folder, "/task/input"),))
        async with open_box(config):
            pass  # makes the shared folders, once per machine
        for _ in range(given.rounds):
            await one_round(times, config, given.commands)
            if root is not None:
                await image_round(times, replace(config, root=root, python="none"), given.commands)
        many = [await together(config, given.at_once) for _ in range(5)]
    found = available()
    print(f"bubblewrap {found.version}, {'root' if found.root else 'ordinary user'}, control groups v{found.cgroup}")
    floor = statistics.median(times["bare bwrap"])
    print(f"{'':24}{'median ms':>10}{'90 % ms':>10}{'x bare bwrap':>14}")
    for name, values in times.items():
        tenth = statistics.quantiles(values, n=10)[-1] if len(values) > 1 else values[0]
        median = statistics.median(values)
        print(f"{name:24}{median:10.2f}{tenth:10.2f}{median / floor:14.2f}")
    if root is not None:
        start = statistics.median(times["image box: start"]) / statistics.median(times["box: start"])
        print(f"an image box starts in {start:.2f} times an ordinary box's time")
    print(f"{f'{given.at_once} boxes at once, each':24}{statistics.median(many):10.2f}{max(many):10.2f}")


if __name__ == "__main__":
    asyncio.run(main())
