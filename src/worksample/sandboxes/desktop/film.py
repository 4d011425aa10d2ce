"""A film of a screen, encoded by ffmpeg while the trial runs. A screen that does not change costs nothing."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from .display import Display

FRAMES = 5
"""Maximum number of pictures per second."""
MOST_BYTES = 512 << 20
"""Maximum size of a film. A longer film ends there."""
END_WAIT = 60.0


@dataclass
class ScreenFilm:
    """A film that is being recorded into a file."""

    display: Display
    path: Path
    _process: asyncio.subprocess.Process | None = None
    _task: asyncio.Task[str] | None = None
    _ending: asyncio.Event = field(default_factory=asyncio.Event)
    _why: str = ""

    async def open(self) -> None:
        """Start recording. A machine without ffmpeg records no film, and `close` says so."""
        ffmpeg = shutil.which("ffmpeg")
        if ffmpeg is None:
            self._why = "this machine lacks ffmpeg"
            return
        width, height = self.display.live_client.size
        source = ["-f", "rawvideo", "-pix_fmt", "bgr0", "-s", f"{width}x{height}", "-use_wallclock_as_timestamps", "1"]
        target = [
            "-fps_mode",
            "vfr",
            "-c:v",
            "libx264",
            "-preset",
            "veryfast",
            "-crf",
            "30",
            "-g",
            "50",
            "-threads",
            "1",
        ]
        form = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-fs", str(MOST_BYTES)]
        whole = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"]  # readable even if the recording is cut
        words = [ffmpeg, "-v", "error", "-nostdin", *source, "-i", "-", *target, *form, *whole, "-y", str(self.path)]
        self._process = await asyncio.create_subprocess_exec(
            "nice", "-n", "10", *words, stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self._task = asyncio.create_task(self._record(self._process, (width, height)))

    async def close(self) -> str:
        """End the film. Return "" if it is complete, otherwise why not."""
        if self._task is None or self._process is None:
            return self._why
        self._ending.set()
        task, process = self._task, self._process
        self._task = self._process = None
        try:
            async with asyncio.timeout(END_WAIT):
                why = await task
                said = await process.stderr.read(2000) if process.stderr is not None else b""
                code = await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            return "the film's encoder did not end"
        if code:
            return why or f"the film's encoder failed: {said.decode(errors='replace').strip()[-300:]}"
        return why

    async def _record(self, process: asyncio.subprocess.Process, size: tuple[int, int]) -> str:
        assert process.stdin is not None
        serial, why = -1, ""
        try:
            while not self._ending.is_set():
                client = self.display.client
                if client is None or self.display.lost.is_set():
                    why = "the screen was lost"
                    break
                if client.serial != serial and client.size == size:
                    serial = client.serial
                    process.stdin.write(client.snapshot().tobytes())
                    await process.stdin.drain()
                await self._pause(client.serial == serial)
            if self.display.client is not None and self.display.client.size == size:
                process.stdin.write(self.display.client.snapshot().tobytes())  # how long the last picture was shown
                await process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            why = "the film's encoder ended: the disk may be full"
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.close()
            await process.stdin.wait_closed()
        return why

    async def _pause(self, same: bool) -> None:
        """Wait for the time of a picture and, if the screen is unchanged, for its next change."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1 / FRAMES):
                await self._ending.wait()
        client = self.display.client
        if same and client is not None and not self._ending.is_set():
            changing = asyncio.ensure_future(client.next_change(client.serial))
            ending = asyncio.ensure_future(self._ending.wait())
            await asyncio.wait((changing, ending), timeout=60, return_when=asyncio.FIRST_COMPLETED)
            for one in (changing, ending):
                one.cancel()
