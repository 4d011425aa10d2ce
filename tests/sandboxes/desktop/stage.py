"""A box with a desktop for tests, and programs that draw on it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from worksample.box import Box, BoxConfig, BoxLimits, Mount, Process
from worksample.sandboxes.desktop import (
    Desktop,
    DesktopLedger,
    DesktopObservation,
    DisplayConfig,
    SessionConfig,
    start_box_with_display,
)
from worksample.sandboxes.python_toolbox import library_folder

LIBRARY = "/opt/xlib"
PAINTER = Path(__file__).parent / "painter.py"
LIMITS = BoxLimits(memory=1 << 30, processes=128)
SMALL = DisplayConfig(640, 480)


@dataclass
class Stage:
    """An agent's box with its desktop."""

    box: Box
    desktop: Desktop

    async def do(self, name: str, **given: object) -> DesktopObservation:
        """Carry out an action; it must succeed."""
        seen = await self.desktop.act(name, given)
        assert not seen.error, seen.error
        return seen

    async def python(self, code: str, *arguments: str) -> Process:
        """Start a Python program that can use Xlib, in the box."""
        return await self.box.start(["python3", "-c", code, *arguments], env={"PYTHONPATH": LIBRARY})

    async def painter(self, title: str = "painter") -> Lines:
        """Start the painter, and wait until its window is on the screen."""
        client = self.desktop.display.live_client
        serial = client.serial
        lines = Lines(await self.python(PAINTER.read_text(), title))
        assert await lines.next() == "ready"
        async with asyncio.timeout(60):
            await client.next_change(serial)
        await client.settle(0.2, 5)
        return lines


class Lines:
    """The lines that a program prints."""

    def __init__(self, process: Process) -> None:
        self.process, self._rest = process, b""

    async def next(self) -> str:
        """Return the next line, within a minute."""
        async with asyncio.timeout(60):
            while b"\n" not in self._rest:
                piece = await self.process.stdout.read()
                assert piece, (await self.process.stderr.read()).decode()
                self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()


def pixel(picture: bytes, x: int, y: int) -> tuple[int, ...]:
    """Return the red, green and blue of a picture's pixel."""
    return tuple(np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))[y, x].tolist())


@asynccontextmanager
async def staged(
    screen: DisplayConfig = SMALL, session: SessionConfig | None = None, config: BoxConfig | None = None,
    kind: str = "bubblewrap",
) -> AsyncIterator[Stage]:  # fmt: skip
    config = config or BoxConfig(limits=LIMITS)
    library = await asyncio.to_thread(library_folder, ("python-xlib",), LIBRARY)
    config = replace(config, mounts=(*config.mounts, Mount(str(library), LIBRARY)))
    box, display = await start_box_with_display(config, screen, kind)
    desktop = Desktop(box, display, session or SessionConfig(), DesktopLedger())
    try:
        await desktop.open()
        yield Stage(box, desktop)
    finally:
        await desktop.close()
        desktop.ledger.close()
        await box.close()
        await display.close()
