"""A client of the RFB protocol (RFC 6143): pictures of a screen, and the keyboard and pointer for it.

The server is Xvnc in a box of its own, whose picture is drawn by hostile programs. So every size that the server names
has a limit, and anything unexpected ends the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import time
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worksample.box import ByteWriter, Reader

MOST_SIDE = 8192
"""Maximum width and height of a screen in pixels."""
MOST_PIXELS = 3840 * 2160
"""Maximum number of pixels of a screen. A larger picture would take more than 33 MB of this process."""
MOST_CUT = 1 << 20
"""Maximum bytes of a clipboard's text."""
RAW, DESKTOP_SIZE, LAST_RECT, EXTENDED_SIZE, EXTENDED_CLIPBOARD = 0, -223, -224, -308, -0x3F5E1A32
_PIXELS = struct.pack(">BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
"""Four bytes for each pixel: blue, green, red, unused."""
_TEXT, _CAPS, _REQUEST, _PEEK, _NOTIFY, _PROVIDE = 1, 1 << 24, 1 << 25, 1 << 26, 1 << 27, 1 << 28


class RfbError(Exception):
    """Error of the connection to a screen: it was cut, or the server sent something that the protocol forbids."""


class Connected(Protocol):
    """A connection to a Unix socket of a box (`worksample.box.Connection`)."""

    @property
    def reader(self) -> Reader: ...
    @property
    def writer(self) -> ByteWriter: ...
    async def close(self) -> None: ...


class _Bytes:
    """Exact reads from a stream of pieces."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self._held = reader, bytearray()

    async def take(self, count: int) -> bytes:
        while len(self._held) < count:
            piece = await self._reader.read(1 << 18)
            if not piece:
                raise RfbError("the connection to the screen was cut")
            self._held += piece
        out = bytes(self._held[:count])
        del self._held[:count]
        return out

    async def unpack(self, form: str) -> tuple[int, ...]:
        return struct.unpack(form, await self.take(struct.calcsize(form)))


@dataclass
class RfbClient:
    """A connection to a screen. `run` reads until the connection ends; the other methods may be called meanwhile."""

    connection: Connected
    pace: float = 0.2
    """Seconds between two pictures if nobody waits for one."""
    frame: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((1, 1, 4), np.uint8))
    """The screen: rows, columns, and blue, green, red and an unused byte."""
    serial: int = 0
    """Number of changes of the picture so far."""
    changed: float = 0.0
    """Time of the last change, on the monotonic clock."""
    clipboard: str = ""
    """The text that a program on the screen copied last."""
    pointer_at: tuple[int, int] = (0, 0)
    on_change: list[Callable[[], None]] = field(default_factory=list)
    """Functions that are called after each change of the picture. They must not block."""
    wanted_size: tuple[int, int] | None = None
    """Size to which the screen is set back if a program changes it; None to accept every size."""
    held_keys: set[int] = field(default_factory=set)
    """Keysyms of the keys that are held."""
    _mask: int = 0
    _outstanding: bool = False
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)
    _answered: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: int = 0
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _offered: str = ""
    _given: _Bytes = field(init=False)

    def __post_init__(self) -> None:
        self._given = _Bytes(self.connection.reader)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen."""
        return self.frame.shape[1], self.frame.shape[0]

    # the connection

    async def open(self) -> None:
        """Greet the server and learn the size of the screen. Raises RfbError."""
        given = self._given
        if not (await given.take(12)).startswith(b"RFB 003.008"):
            raise RfbError("the server does not speak RFB 3.8")
        await self._send(b"RFB 003.008\n")
        (kinds,) = await given.unpack(">B")
        if not kinds or 1 not in await given.take(kinds):
            raise RfbError("the server demands a password")
        await self._send(b"\x01")
        if (await given.unpack(">I"))[0]:
            raise RfbError("the server refused the connection")
        await self._send(b"\x01")  # shared: other viewers stay
        width, height = await given.unpack(">HH")
        await given.take(16)
        (length,) = await given.unpack(">I")
        if length > 4096:
            raise RfbError("the screen's name is too long")
        await given.take(length)
        self._resize(width, height)
        codes = (RAW, DESKTOP_SIZE, LAST_RECT, EXTENDED_SIZE, EXTENDED_CLIPBOARD)
        await self._send(b"\x00\0\0\0" + _PIXELS + struct.pack(f">BxH{len(codes)}i", 2, len(codes), *codes))

    async def run(self) -> None:
        """Keep the picture current until the connection ends. Raises RfbError when it does."""
        asking = asyncio.create_task(self._ask())
        try:
            while True:
                (kind,) = await self._given.unpack(">B")
                if kind == 0:
                    await self._read_update()
                elif kind == 3:
                    await self._read_clipboard()
                elif kind == 1:
                    _, _, colours = await self._given.unpack(">xHH")
                    await self._given.take(6 * colours)
                elif kind != 2:  # 2 is the bell
                    raise RfbError(f"the server sent a message of the unknown kind {kind}")
        except BrokenPipeError as error:
            raise RfbError("the connection to the screen was cut") from error
        finally:
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError, BrokenPipeError):
                await asking
            self._news.set()

    async def close(self) -> None:
        """Close the connection."""
        await self.connection.close()

    async def _ask(self) -> None:
        """Ask for the next picture: at once if somebody waits for one, otherwise after a pause."""
        whole = True
        while True:
            self._answered.clear()
            width, height = self.size
            await self._send(struct.pack(">BBHHHH", 3, 0 if whole else 1, 0, 0, width, height))
            await self._answered.wait()
            whole = False
            if not self._waiting:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self.pace):
                        await self._wanted.wait()
            self._wanted.clear()

    async def _send(self, data: bytes) -> None:
        async with self._writing:
            await self.connection.writer.write(data)

    # pictures

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Get every picture as soon as it exists, for the duration of the `async with`."""
        self._waiting += 1
        self._wanted.set()
        try:
            yield
        finally:
            self._waiting -= 1

    async def next_change(self, serial: int) -> None:
        """Wait until the picture has changed since change number `serial`, or the connection has ended."""
        while self.serial == serial:
            news = self._news
            await news.wait()
            if news is self._news:
                return  # set for good: the connection has ended

    async def settle(self, quiet: float, most: float) -> bool:
        """Wait until the picture has not changed for `quiet` seconds, for at most `most` seconds. Return whether it has
        become quiet.
        """
        end = time.monotonic() + most
        async with self.watch():
            while (left := end - time.monotonic()) > 0:
                serial = self.serial
                try:
                    async with asyncio.timeout(min(quiet, left)):
                        await self.next_change(serial)
                except TimeoutError:
                    if left > quiet:
                        return True
        return False

    def snapshot(self) -> NDArray[np.uint8]:
        """Return a copy of the current picture."""
        return self.frame.copy()

    async def _read_update(self) -> None:
        (count,) = await self._given.unpack(">xH")
        drawn = False
        for _ in range(count):
            x, y, width, height, code = await self._given.unpack(">HHHHi")
            if code == RAW:
                await self._draw(x, y, width, height)
                drawn = drawn or bool(width and height)
            elif code == LAST_RECT:
                break
            elif code == DESKTOP_SIZE:
                self._resize(width, height)
            elif code == EXTENDED_SIZE:
                (screens,) = await self._given.unpack(">Bxxx")
                await self._given.take(16 * screens)
                if y == 0:  # y: why a change that was asked for was refused
                    self._resize(width, height)
                    await self._set_back()
            else:
                raise RfbError(f"the server sent a picture in the unknown encoding {code}")
        if drawn:
            self.serial += 1
            self.changed = time.monotonic()
            news, self._news = self._news, asyncio.Event()
            news.set()
            for call in self.on_change:
                call()
        self._answered.set()

    async def _draw(self, x: int, y: int, width: int, height: int) -> None:
        across, down = self.size
        if x + width > across or y + height > down:
            raise RfbError("the server sent a picture beyond the edge of the screen")
        rows = max(1, (1 << 22) // max(1, 4 * width))
        for top in range(0, height, rows):
            part = min(rows, height - top)
            data = await self._given.take(4 * width * part)
            pixels = np.frombuffer(data, np.uint8).reshape(part, width, 4)
            self.frame[y + top : y + top + part, x : x + width] = pixels

    def _resize(self, width: int, height: int) -> None:
        if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE):
            raise RfbError(f"the screen is {width}x{height}; at most {MOST_SIDE} pixels on each side are supported")
        if width * height > MOST_PIXELS:
            raise RfbError(f"the screen is {width}x{height}; at most {MOST_PIXELS} pixels are supported")
        if (width, height) != self.size:
            self.frame = np.zeros((height, width, 4), np.uint8)
            self.pointer_at = (min(self.pointer_at[0], width - 1), min(self.pointer_at[1], height - 1))

    async def _set_back(self) -> None:
        """Ask the server for the screen's own size if a program on the screen has changed it."""
        if self.wanted_size is not None and self.size != self.wanted_size:
            width, height = self.wanted_size
            await self._send(
                struct.pack(">BxHHBx", 251, width, height, 1) + struct.pack(">IHHHHI", 0, 0, 0, width, height, 0)
            )

    # input

    async def point(self, x: int, y: int, mask: int | None = None) -> None:
        """Move the pointer. `mask` has a bit for each button that is held: 1 left, 2 middle, 4 right, then the wheel.
        None leaves the buttons as they are.
        """
        self._mask = self._mask if mask is None else mask
        self.pointer_at = (x, y)
        await self._send(struct.pack(">BBHH", 5, self._mask, x, y))

    @property
    def held_buttons(self) -> int:
        """The buttons that are held, as bits."""
        return self._mask

    async def key(self, keysym: int, down: bool) -> None:
        """Press or release a key by its X keysym."""
        await self._send(struct.pack(">BBxxI", 4, down, keysym))

    async def keys(self, events: list[tuple[int, bool]]) -> None:
        """Press and release several keys with one write."""
        await self._send(b"".join(struct.pack(">BBxxI", 4, down, keysym) for keysym, down in events))

    async def copy(self, text: str) -> None:
        """Put a text on the clipboard of the screen."""
        self._offered = text[:MOST_CUT]
        await self._send_clipboard(struct.pack(">I", _NOTIFY | _TEXT))

    # the clipboard, with the extension for texts beyond Latin-1

    async def _send_clipboard(self, body: bytes) -> None:
        await self._send(struct.pack(">Bxxxi", 6, -len(body)) + body)

    async def _read_clipboard(self) -> None:
        (length,) = await self._given.unpack(">xxxi")
        if abs(length) > MOST_CUT + 64:
            raise RfbError("the server sent more than a megabyte for the clipboard")
        data = await self._given.take(abs(length))
        if length >= 0:
            self.clipboard = data.decode("latin-1")
            return
        if len(data) < 4:
            raise RfbError("the server sent a malformed clipboard")
        (flags,) = struct.unpack_from(">I", data)
        if flags & _CAPS:
            kinds = _CAPS | _REQUEST | _NOTIFY | _PROVIDE | _TEXT
            await self._send_clipboard(struct.pack(">II", kinds, MOST_CUT))
        elif flags & _NOTIFY and flags & _TEXT:
            await self._send_clipboard(struct.pack(">I", _REQUEST | _TEXT))
        elif flags & _REQUEST and flags & _TEXT:
            text = self._offered.replace("\n", "\r\n").encode() + b"\0"
            packed = zlib.compress(struct.pack(">I", len(text)) + text)
            await self._send_clipboard(struct.pack(">I", _PROVIDE | _TEXT) + packed)
        elif flags & _PROVIDE and flags & _TEXT:
            self.clipboard = _unpacked_text(data[4:])


def _unpacked_text(data: bytes) -> str:
    """Return the text in a compressed clipboard. At most MOST_CUT bytes are unpacked."""
    try:
        plain = zlib.decompressobj().decompress(data, MOST_CUT + 4)
    except zlib.error as error:
        raise RfbError("the server sent a malformed clipboard") from error
    if len(plain) < 4:
        return ""
    length = min(struct.unpack_from(">I", plain)[0], MOST_CUT)
    return plain[4 : 4 + length].rstrip(b"\0").decode("utf-8", "replace").replace("\r\n", "\n")
