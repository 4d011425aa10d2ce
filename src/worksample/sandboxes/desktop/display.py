"""The X server of a box's screen. The server and the window manager run in boxes of their own, beside the box whose
programs draw on the screen.

The programs share one folder with the server: that of its socket. They see no process of the server, so they can
neither stop it nor change a picture after it was drawn. The window manager has a box of its own, because it stops
processes whose numbers windows name.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.box import Box, BoxConfig, BoxLimits, Mount, Process
from worksample.errors import SandboxError, SandboxUnavailable
from worksample.files.scratch_folder import scratch_folder
from worksample.sandboxes import start_box
from worksample.sandboxes.cancellation_shield import to_the_end

from .display_config import DISPLAY, X_FOLDER, DisplayConfig, missing_desktop_command, with_display
from .rfb_client import RfbClient, RfbError
from .screen_reader import reader_mounts

RC_PATH = "/task/scratch/openbox.xml"
RC = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
  <placement><policy>Smart</policy><center>yes</center></placement>
  <theme><name>Clearlooks</name><titleLayout>LIMC</titleLayout><keepBorder>yes</keepBorder></theme>
  <desktops><number>1</number><popupTime>0</popupTime></desktops>
  <resize><drawContents>yes</drawContents></resize>
  <keyboard>
    <keybind key="A-F4"><action name="Close"/></keybind>
    <keybind key="A-Tab"><action name="NextWindow"><finalactions>
      <action name="Focus"/><action name="Raise"/><action name="Unshade"/></finalactions></action></keybind>
  </keyboard>
  <mouse>
    <dragThreshold>4</dragThreshold><doubleClickTime>400</doubleClickTime>
    <context name="Titlebar">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
      <mousebind button="Left" action="DoubleClick"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Client">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Middle" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
    <context name="Close"><mousebind button="Left" action="Click"><action name="Close"/></mousebind></context>
    <context name="Maximize"><mousebind button="Left" action="Click">
      <action name="ToggleMaximize"/></mousebind></context>
    <context name="Iconify"><mousebind button="Left" action="Click"><action name="Iconify"/></mousebind></context>
    <context name="Bottom"><mousebind button="Left" action="Drag">
      <action name="Resize"><edge>bottom</edge></action></mousebind></context>
    <context name="Left"><mousebind button="Left" action="Drag">
      <action name="Resize"><edge>left</edge></action></mousebind></context>
    <context name="Right"><mousebind button="Left" action="Drag">
      <action name="Resize"><edge>right</edge></action></mousebind></context>
    <context name="BRCorner"><mousebind button="Left" action="Drag"><action name="Resize"/></mousebind></context>
    <context name="BLCorner"><mousebind button="Left" action="Drag"><action name="Resize"/></mousebind></context>
  </mouse>
</openbox_config>
"""
"""Settings of the window manager: windows can be moved, resized and closed, and no menu starts a program."""
LIMITS = BoxLimits(memory=1 << 30, processes=32, disk=32 << 20)
"""Limits of the box of the X server. The pictures of all windows are in its memory."""
MANAGER_LIMITS = BoxLimits(memory=512 << 20, processes=32, disk=32 << 20)
RFB = "/task/scratch/rfb"
LARGEST_FILE = 4096
"""Maximum size of a file that the X server writes, in blocks of 512 bytes. The folder of its socket is on the host."""
MOST_MEMORY = 900 << 20
"""Maximum address space of the X server in bytes. A program that asks for more gets an error; it cannot have the server
killed by the limit of its box.
"""
START_WAIT = 60.0
RETRIES = 3
"""Number of times that a connection that was cut is opened again before the screen counts as lost."""
_ASIDE = 'exec 3<&- </dev/null; ulimit -f {blocks}; ulimit -v {memory}; exec "$@"'


class ScreenEnded(Exception):
    """Error of a screen whose server the programs on it have ended, for example by filling its memory. It is no fault
    of the platform, so the trial goes on without a screen.
    """


@dataclass
class Display:
    """A screen. `open` starts the X server and the window manager; `client` then shows and controls the screen."""

    config: DisplayConfig = field(default_factory=DisplayConfig)
    kind: str = "bubblewrap"
    """Kind of the boxes in which the server and the window manager run."""
    folder: str = ""
    """Folder on the host with the server's socket. It exists from `prepare` until `close`."""
    client: RfbClient | None = None
    _server: Box | None = None
    _manager: Box | None = None
    _processes: list[Process] = field(default_factory=list)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _reading: asyncio.Task[None] | None = None
    messages: str = ""
    """The last lines that the server printed, for error messages."""
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    """Set if the screen is lost while it was needed."""
    ended_by_programs: bool = False
    """True if the server has ended in a box that still runs: only the programs that it serves can cause that."""

    @property
    def manager(self) -> Box:
        """The box of the window manager, whose programs can draw on the screen, too."""
        if self._manager is None:
            raise SandboxError("the screen was closed", where="desktop", next="open a new one")
        return self._manager

    @property
    def live_client(self) -> RfbClient:
        """The connection to the screen. Raises ScreenEnded if programs have ended it; SandboxError if it is lost or was
        closed.
        """
        if self.ended_by_programs:
            raise ScreenEnded("the programs on the screen have ended its X server; there is no screen any more")
        if self.client is None or self.lost.is_set():
            raise SandboxError(
                f"the X server ended: {self.messages[-500:] or 'no message'}", where="desktop",
                next="run the trial again: worksample run resumes it",
            )  # fmt: skip
        return self.client

    def prepare(self) -> str:
        """Create the folder of the server's socket and return its path. Raises SandboxUnavailable with the command to
        type if this machine lacks a program.
        """
        if line := missing_desktop_command():
            raise SandboxUnavailable("this machine lacks programs for a desktop", where="desktop", next=line)
        parent = self._stack.enter_context(scratch_folder("display"))
        folder = parent / "x"
        folder.mkdir()
        folder.chmod(0o777)  # the parent keeps other users out
        self.folder = str(folder)
        return self.folder

    async def open(self) -> None:
        """Start the X server and the window manager. Raises SandboxError. Call `prepare` first."""
        try:
            more = await asyncio.to_thread(reader_mounts)
            server, manager = await asyncio.gather(
                self._start_server(), self._start_box(MANAGER_LIMITS, False, "wm", "toolbox", more)
            )
            self._manager = manager
            await manager.write(RC_PATH, RC.encode())
            command = ["openbox", "--config-file", RC_PATH, "--sm-disable"]
            self._processes.append(await manager.start(command, env={"DISPLAY": DISPLAY}))
            self.client = await self._connect(server)
            self._reading = asyncio.create_task(self._read(server))
        except (RfbError, OSError) as error:
            raise SandboxError(
                f"the screen could not be started: {error} {self.messages[-500:]}",
                where="desktop",
                next="worksample doctor",
            ) from error

    async def close(self) -> None:
        """End the server and the window manager, and remove their folder. Idempotent."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None
        for box in (self._manager, self._server):
            if box is not None:
                await box.close()
        self._manager = self._server = None
        await self._stack.aclose()

    async def _start_box(
        self, limits: BoxLimits, writable: bool, label: str, python: str = "none", more: tuple[Mount, ...] = ()
    ) -> Box:
        mount = Mount(self.folder, X_FOLDER, writable=writable, live=True)
        return await start_box(BoxConfig(mounts=(mount, *more), limits=limits, python=python, label=label), self.kind)

    async def _start_server(self) -> Box:
        config = self.config
        box = self._server = await self._start_box(LIMITS, True, "display")
        command = (
            f"Xvnc {DISPLAY} -geometry {config.width}x{config.height} -depth {config.depth} -rfbport -1"
            f" -rfbunixpath {RFB} -SecurityTypes None -AlwaysShared -ac -nolisten tcp -FrameRate {config.frame_rate}"
            f" -extension XTEST -extension RANDR -MaxCutText {1 << 20} -AllowOverride= -dpi 96"
        ).split()
        process = await box.start(
            ["sh", "-c", _ASIDE.format(blocks=LARGEST_FILE, memory=MOST_MEMORY >> 10), "sh", *command]
        )
        self._processes.append(process)
        await self._await_socket(process)
        return box

    async def _await_socket(self, process: Process) -> None:
        """Wait until the server listens. Raises SandboxError if it ends first."""
        ended = asyncio.create_task(self._keep_messages(process))
        self._stack.callback(ended.cancel)
        place = Path(self.folder) / "X0"
        async with asyncio.timeout(START_WAIT):
            while not _is_socket(place):
                if ended.done():
                    raise SandboxError(
                        f"the X server ended: {self.messages[-500:]}", where="desktop", next="worksample doctor"
                    )
                await asyncio.sleep(0.004)

    async def _keep_messages(self, process: Process) -> None:
        while piece := await process.stderr.read():
            self.messages = (self.messages + piece.decode(errors="replace"))[-4000:]

    async def _connect(self, server: Box) -> RfbClient:
        client = RfbClient(await server.connect(RFB), wanted_size=(self.config.width, self.config.height))
        async with asyncio.timeout(START_WAIT):
            await client.open()
        return client

    async def _read(self, server: Box) -> None:
        """Keep the picture current. A connection that was cut is opened again as long as the server lives."""
        failures = 0
        while self.client is not None:
            client, began = self.client, asyncio.get_running_loop().time()
            with contextlib.suppress(RfbError, SandboxError):
                await client.run()
            failures = failures + 1 if asyncio.get_running_loop().time() - began < 5 else 1
            await client.close()
            if failures > RETRIES:
                break
            try:
                again = await self._connect(server)
            except (RfbError, OSError, SandboxError, TimeoutError):
                break
            again.on_change, again.serial, again.clipboard = client.on_change, client.serial + 1, client.clipboard
            self.client = again
        with contextlib.suppress(SandboxError):
            self.ended_by_programs = (await server.run(["true"], timeout=60)).returncode == 0
        self.lost.set()


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


async def start_box_with_display(
    config: BoxConfig, screen: DisplayConfig, kind: str = "bubblewrap"
) -> tuple[Box, Display]:
    """Start a box and its screen at the same time. The caller must close both, the box first. Raises SandboxUnavailable
    with the command to type if this machine lacks a program; SandboxError for other failures.
    """
    if kind == "none":
        raise SandboxError("a desktop needs isolation", where="desktop", next="use --sandbox bubblewrap")
    display = Display(screen, kind)
    starting: list[asyncio.Future[Any]] = []
    try:
        folder = await asyncio.to_thread(display.prepare)
        box = asyncio.ensure_future(start_box(with_display(config, folder), kind))
        starting = [box, asyncio.ensure_future(display.open())]
        await asyncio.gather(*starting)
    except BaseException:
        await to_the_end(asyncio.ensure_future(_abandon(starting, display)))
        raise
    return box.result(), display


async def _abandon(starting: list[asyncio.Future[Any]], display: Display) -> None:
    """Close what has started of a box and its screen."""
    for result in await asyncio.gather(*starting, return_exceptions=True):
        if result is not None and not isinstance(result, BaseException):
            await result.close()
    await display.close()
