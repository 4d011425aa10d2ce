"""The desktop of a running trial: actions by mouse and keyboard, the pictures that answer them, and their record."""

from __future__ import annotations

import asyncio
import contextlib
import io
import math
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worksample.background_services import FailureSignal
from worksample.box import Box, Process
from worksample.errors import SandboxError
from worksample.sandboxes.tool_actions import ToolAction

from . import bridge_actions
from .bridge_actions import BRIDGE, SPAN
from .computer_actions import CARRIED, COMPUTER, ActionError, ScreenScale, region_of, steps_of
from .desktop_ledger import FILM, DesktopLedger
from .display import Display, ScreenEnded
from .display_session import SessionConfig, start_session
from .element_actions import ELEMENTS, carry_out_on_elements
from .film import ScreenFilm
from .hands import Hands
from .process_watch import ProcessWatch
from .screen_reader import ScreenReader

LONGEST_SIDE, MOST_PIXELS = 1568, 1_150_000
"""Maximum side and number of pixels of a picture for a model. Providers scale larger ones down themselves, and the
model's coordinates would then fit no longer.
"""
QUALITY = 90
CURRENT: ContextVar[Desktop | None] = ContextVar("worksample_desktop", default=None)
"""The desktop of the current trial."""
AGENT_TOOLS: dict[str, ToolAction] = {COMPUTER.name: COMPUTER, **ELEMENTS}
"""The tools of agents that the platform runs itself."""
MCP_TOOLS: dict[str, ToolAction] = {**BRIDGE, **ELEMENTS}
"""The tools of agents that are programs in the box."""
TEXTS = ("desktop_tree", "desktop_windows")
"""Actions that are answered without a picture."""
QUIET, MOST_QUIET = 0.12, 2.0
"""A screen counts as settled if it has not changed for QUIET seconds, or MOST_QUIET seconds after an action."""
SAME = 5
"""Number of equal actions without any change of the screen after which the agent is told so."""
BROWSERS = ("chromium", "firefox-esr", "firefox", "google-chrome")


@dataclass(frozen=True, slots=True)
class DesktopObservation:
    """The result of an action on the desktop. `error` says why the action was not carried out."""

    text: str
    picture: bytes = b""
    error: str = ""


@dataclass
class Desktop:
    """A trial's desktop. Actions run one after another."""

    box: Box
    """The agent's box, whose programs draw on the screen."""
    display: Display
    session: SessionConfig = field(default_factory=SessionConfig)
    ledger: DesktopLedger = field(default_factory=DesktopLedger)
    failure: FailureSignal = field(default_factory=lambda: FailureSignal(overrules=True))
    """Signal with the SandboxError that ends the trial if the screen is lost."""
    reader: ScreenReader | None = None
    _film: ScreenFilm | None = None
    _watch: ProcessWatch | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _processes: list[Process] = field(default_factory=list)
    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """The nodes of the accessibility tree that was shown last, by number."""
    _keyframe: tuple[int, str] = (-1, "")
    """Number of the change of the screen that was stored last, and the name of its picture."""
    _last: tuple[str, int] = ("", 0)
    """The last action that changed nothing on the screen, and how often it was repeated."""

    @property
    def hands(self) -> Hands:
        """The pointer and the keyboard. Raises SandboxError if the screen is lost."""
        return Hands(self.display.live_client)

    @property
    def scale(self) -> ScreenScale:
        """Scale between the screen and the picture that a model sees."""
        size = self.display.live_client.size
        return ScreenScale(size, picture_size(size))

    async def open(self) -> None:
        """Start the session in the agent's box: its message bus, and the programs that begin with the desktop."""
        self.ledger.about = {"width": self.display.config.width, "height": self.display.config.height}
        if self.session.clipboard:
            await self.display.live_client.copy(self.session.clipboard)
        self.reader = ScreenReader(self.display.manager, self.box, self.ledger.add_windows)
        self._watch = ProcessWatch(self.box, self.ledger.add_processes)
        self._film = ScreenFilm(self.display, self.ledger.folder / FILM)
        session, *_ = await asyncio.gather(start_session(self.box, self.session), self.reader.open(), self._film.open())
        self._processes += session
        self._watch.open()

    async def close(self) -> None:
        """Stop recording. The record remains available. Idempotent."""
        reader, film, watch = self.reader, self._film, self._watch
        self.reader = self._film = self._watch = None
        if watch is not None:
            await watch.close()
        if reader is not None:
            await reader.close()
        if film is not None:
            self.ledger.film = await film.close()
            self.ledger.end()

    async def act(self, name: str, given: Mapping[str, Any], by: str = "agent") -> DesktopObservation:
        """Carry out an action and return the screen after it. `by` names who acts. Raises SandboxError if the screen or
        the agent's box is lost.
        """
        async with self._turn:
            began = time.monotonic()
            given = {key: value for key, value in given.items() if value is not None}
            try:
                return await self._act(name, given, by, began)
            except ScreenEnded as error:
                self.ledger.add_action(name, given, began, {"by": by, "error": str(error)})
                return DesktopObservation("", b"", str(error))
            except SandboxError as error:
                self.failure.fail(error)
                raise

    async def _act(self, name: str, given: Mapping[str, Any], by: str, began: float) -> DesktopObservation:
        client = self.display.live_client
        before, serial, error = await self.keep_picture(), client.serial, ""
        try:
            picture, text = await self._carry_out(name, given)
        except ActionError as failure:
            picture, text, error = b"", "", str(failure)
        quiet = error != "" or await client.settle(QUIET, MOST_QUIET)
        row: dict[str, Any] = {"by": by, "before": before, "after": await self.keep_picture(), "error": error}
        row |= {"changed": client.serial != serial, "settled": quiet, "pointer": list(client.pointer_at)}
        self.ledger.add_action(name, given, began, row)
        if error:
            return DesktopObservation("", b"", error)
        text = "\n".join(one for one in (text, self._remark(name, given, client.serial == serial, quiet)) if one)
        if "cursor_position" in (name, given.get("action")) or name in TEXTS:
            return DesktopObservation(text)
        return DesktopObservation(text, picture or await self._screenshot())

    async def _carry_out(self, name: str, given: Mapping[str, Any]) -> tuple[bytes, str]:
        """Carry out an action. Return the picture that it asked for, if it is not the whole screen, and a text."""
        if name == COMPUTER.name:
            picture, text = b"", ""
            for one in steps_of(given):
                view = self.scale
                await CARRIED[one["action"]](self, one, view)
                picture = await self._crop(region_of(one, view)) if one["action"] == "zoom" else b""
                if one["action"] == "cursor_position":
                    text = "X={},Y={}".format(*view.to_picture(self.hands.position))
            return picture, text
        if name in ELEMENTS:
            return b"", await carry_out_on_elements(self, name, given)
        if name not in BRIDGE:
            raise ActionError(f"there is no action {name[:60]!r}")
        if error := BRIDGE[name].wrong(given):
            raise ActionError(error)
        size = self.scale.screen
        await bridge_actions.carry_out(self.hands, size, name, given)
        if name == "cursor_position":
            x, y = self.hands.position
            return b"", f"X={x * SPAN // size[0]},Y={y * SPAN // size[1]}"
        if name == "screenshot" and given.get("save_path"):
            return b"", await self._save(str(given["save_path"]))
        return b"", ""

    def _remark(self, name: str, given: Mapping[str, Any], same: bool, quiet: bool) -> str:
        """Return what the agent should know beside the picture."""
        if name in TEXTS:
            return ""
        key = f"{name} {sorted(given.items(), key=str)}"
        count = self._last[1] + 1 if same and self._last[0] == key else 1
        self._last = (key, count if same else 0)
        if (
            same
            and count >= SAME
            and given.get("action") not in ("screenshot", "wait", "zoom")
            and name != "screenshot"
        ):
            return f"[The same action, {count} times: the screen has not changed. Try something else.]"
        return "" if quiet else "[The screen is still changing.]"

    # pictures

    async def keep_picture(self) -> str:
        """Store the current screen in the record, unless it is stored already, and return the picture's name."""
        client = self.display.live_client
        if self._keyframe[0] != client.serial:
            serial, frame = client.serial, client.snapshot()
            name = await asyncio.to_thread(lambda: self.ledger.add_picture(encode(frame)))
            self._keyframe = (serial, name)
        return self._keyframe[1]

    async def _screenshot(self) -> bytes:
        frame, size = self.display.live_client.snapshot(), self.scale.picture
        return await asyncio.to_thread(encode, frame, size)

    async def _crop(self, region: tuple[int, int, int, int]) -> bytes:
        left, top, right, bottom = region
        part = self.display.live_client.snapshot()[top:bottom, left:right]
        grow = min(
            4.0, *(most / side for most, side in zip(self.scale.picture, (right - left, bottom - top), strict=True))
        )
        size = picture_size((round((right - left) * max(1.0, grow)), round((bottom - top) * max(1.0, grow))))
        return await asyncio.to_thread(encode, part, size)

    async def _save(self, path: str) -> str:
        try:
            await self.box.write(path, await self._screenshot())
        except OSError as error:
            raise ActionError(f"{path[:300]} cannot be written: {error.strerror or error}") from None
        return f"stored as {path[:300]}"

    # programs

    async def open_browser(self, address: str) -> None:
        """Open an address in a browser of the agent's box. Raises ActionError if the box has no browser."""
        for program in BROWSERS:
            if (await self.box.run(["sh", "-c", 'command -v "$1"', "sh", program], timeout=60)).returncode == 0:
                switches = [
                    "--no-sandbox",
                    "--no-first-run",
                    "--password-store=basic",
                    "--force-renderer-accessibility",
                ]
                words = [program, *(switches if "chrom" in program else []), *([address] if address else [])]
                self._processes.append(await self.box.start(words))
                return
        raise ActionError("this box has no web browser (chromium or firefox)")

    async def await_window(self, seconds: float) -> None:
        """Wait until something is drawn on the screen, for at most `seconds`."""
        client = self.display.live_client
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await client.next_change(client.serial)


def picture_size(screen: tuple[int, int]) -> tuple[int, int]:
    """Return the size of the picture that a model sees of a screen."""
    width, height = screen
    scale = min(1.0, LONGEST_SIDE / max(screen), math.sqrt(MOST_PIXELS / (width * height)))
    return max(1, round(width * scale)), max(1, round(height * scale))


def encode(frame: NDArray[np.uint8], size: tuple[int, int] | None = None) -> bytes:
    """Return a frame (blue, green, red, unused) as JPEG, scaled to `size`."""
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(frame[:, :, 2::-1]))
    if size is not None and size != picture.size:
        picture = picture.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=QUALITY, subsampling=0)
    return out.getvalue()
