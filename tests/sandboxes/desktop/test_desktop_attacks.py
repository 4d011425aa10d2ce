"""Hostile programs on a desktop: nothing comes out of the box, and the platform still sees and controls the screen."""

from __future__ import annotations

import asyncio
import io
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from PIL import Image

from sandboxes.desktop.stage import Lines, Stage, staged
from worksample.sandboxes.desktop import RfbClient, RfbError

pytestmark = [pytest.mark.box, pytest.mark.desktop]


async def outcome(stage: Stage, code: str) -> str:
    """Run a program with Xlib in the agent's box, and return what it prints."""
    done = await stage.box.run(["python3", "-c", code], env={"PYTHONPATH": "/opt/xlib"}, timeout=120)
    return (done.stdout + done.stderr[-1500:]).decode().strip()


async def still_works(stage: Stage) -> None:
    lines = await stage.painter("honest")
    await stage.do("computer", action="left_click", coordinate=[200, 200])
    assert "press 1 200 200 0" in [await lines.next() for _ in range(2)]
    await lines.process.kill()


async def test_programs_cannot_make_events_of_a_person(shared: Stage) -> None:
    said = await outcome(
        shared, "from Xlib import display; d = display.Display(); print([d.query_extension(n) is not None and"
        " d.query_extension(n).present for n in ('XTEST', 'RECORD')])",
    )  # fmt: skip
    assert not any(word in said for word in ("True", "1")), said
    lines = await shared.painter()
    code = """
from Xlib import X, display
from Xlib.protocol import event
d = display.Display()
def find(w):
    if w.get_wm_name() == 'painter': return w
    for c in w.query_tree().children:
        if (r := find(c)) is not None: return r
w = find(d.screen().root)
w.send_event(event.ButtonPress(time=0, root=d.screen().root, window=w, same_screen=1, child=0, root_x=5, root_y=5,
    event_x=5, event_y=5, state=0, detail=1), event_mask=X.ButtonPressMask)
d.sync()
"""
    assert await outcome(shared, code) == ""
    assert await lines.next() == "press 1 5 5 1"  # the last number: the event is marked as sent by a program
    assert [row for row in shared.desktop.ledger.actions if row.get("pointer") == [5, 5]] == []


async def test_server_is_out_of_reach_of_programs(shared: Stage) -> None:
    said = await shared.box.run(
        ["sh", "-c", "ls -A /tmp/.X11-unix; rm -f /tmp/.X11-unix/X0; touch /tmp/.X11-unix/y; mv /tmp/.X11-unix /tmp/x;"
         " cat /proc/[0-9]*/comm | sort -u | tr '\\n' ' '; ls /tmp/.X11-unix"], timeout=60,
    )  # fmt: skip
    text = said.stdout.decode()
    assert text.startswith("X0\n") and text.endswith("X0\n") and "Xvnc" not in text and "openbox" not in text
    code = """
from Xlib import X, Xatom, display
d = display.Display()
r = d.screen().root
for pid in range(1, 400):
    w = r.create_window(0, 0, 10, 10, 0, X.CopyFromParent)
    w.change_property(d.intern_atom('_NET_WM_PID'), Xatom.CARDINAL, 32, [pid])
    w.change_property(Xatom.WM_CLIENT_MACHINE, Xatom.STRING, 8, b'worksample')
    w.set_wm_name('x' * 5000)
    w.kill_client() if pid == 399 else w.map()
d.sync()
"""
    await outcome(shared, code)
    await still_works(shared)


async def test_programs_cannot_change_the_servers_settings(shared: Stage) -> None:
    if (await shared.box.run(["sh", "-c", "command -v vncconfig"])).returncode:
        pytest.fail("tigervnc-standalone-server brings vncconfig")
    for setting in ("AcceptPointerEvents=0", "SendCutText=0", "BlacklistThreshold=1", "FrameRate=1"):
        await shared.box.run(["timeout", "20", "vncconfig", "-set", setting], timeout=60)
    await shared.box.run(["timeout", "20", "vncconfig", "-connect", "127.0.0.1:5500"], timeout=60)
    await still_works(shared)


async def test_grabbed_keyboard_and_pointer_do_not_lock_the_platform_out(shared: Stage) -> None:
    code = """
from Xlib import X, display
d = display.Display()
r = d.screen().root
print(r.grab_keyboard(1, X.GrabModeAsync, X.GrabModeAsync, X.CurrentTime),
      r.grab_pointer(1, X.ButtonPressMask, X.GrabModeAsync, X.GrabModeAsync, 0, 0, X.CurrentTime), flush=True)
d.grab_server(); d.sync(); print('held', flush=True)
while True: d.next_event()
"""
    grabbing = await shared.python(code)
    assert [await Lines(grabbing).next()] == ["0 0"]
    async with asyncio.timeout(60):
        seen = await shared.do("computer", action="key", text="a")
        assert seen.picture
        await shared.do("computer", action="left_click", coordinate=[10, 10])
    await grabbing.kill()
    await still_works(shared)


async def test_screen_keeps_its_size_when_a_program_resizes_it(shared: Stage) -> None:
    said = await outcome(shared, """
from Xlib import display
from Xlib.ext import randr
d = display.Display(); r = d.screen().root
try:
    i = randr.get_screen_info(r); print(len(i.sizes))
    for n in range(len(i.sizes)): randr.set_screen_config(r, n, 1, i.config_timestamp)
    r.xrandr_set_screen_size(7680, 4320, 2000, 1100); d.sync()
except Exception as e: print(type(e).__name__, e)
""")  # fmt: skip
    async with asyncio.timeout(60):
        while shared.desktop.display.live_client.size != (640, 480):
            await asyncio.sleep(0.1)
    assert Image.open(io.BytesIO((await shared.do("computer", action="screenshot")).picture)).size == (640, 480), said
    await still_works(shared)


async def test_many_windows_and_a_full_clipboard_leave_the_desktop_usable(shared: Stage) -> None:
    code = """
from Xlib import X, display
d = display.Display(); r = d.screen().root
for n in range(10_000):
    made = r.create_window(n % 600, n % 400, 20, 20, 0, X.CopyFromParent)
    if n < 300: made.map()
w = r.create_window(0, 0, 5, 5, 0, X.CopyFromParent)
w.set_selection_owner(d.intern_atom('CLIPBOARD'), X.CurrentTime)
d.sync(); print('made')
"""
    assert "made" in await outcome(shared, code)
    assert (await shared.desktop.act("desktop_windows", {})).text
    await still_works(shared)


async def test_flood_of_pictures_neither_ends_the_server_nor_the_trial(shared: Stage) -> None:
    code = """
from Xlib import X, display, error
d = display.Display(); r = d.screen().root
refused = error.CatchError(error.BadAlloc)
kept = []
for n in range(400):
    p = r.create_pixmap(4000, 1000, 24)
    g = p.create_gc(foreground=n)
    p.fill_rectangle(g, 0, 0, 4000, 1000, onerror=refused)
    kept.append(p)
d.sync(); print('flooded')
"""
    await outcome(shared, code)
    await still_works(shared)


async def test_server_that_programs_ended_is_no_fault_of_the_platform(shared: Stage) -> None:
    display = shared.desktop.display
    assert display._server is not None
    await display._server.run(["sh", "-c", "kill -9 $(cat /proc/[0-9]*/stat | grep '(Xvnc)' | cut -d' ' -f1)"])
    async with asyncio.timeout(60):
        await display.lost.wait()
    seen = await shared.desktop.act("computer", {"action": "screenshot"})
    assert "no screen any more" in seen.error and shared.desktop.failure.error is None


class Wire:
    """A stream of bytes in place of a server's connection."""

    def __init__(self, data: bytes) -> None:
        self._data, self.sent = data, b""

    @property
    def reader(self) -> Wire:
        return self

    @property
    def writer(self) -> Wire:
        return self

    async def read(self, limit: int = 1 << 16) -> bytes:
        piece, self._data = self._data[:limit], self._data[limit:]
        return piece

    async def write(self, data: bytes) -> None:
        self.sent += data

    async def close(self) -> None:
        return None


GREETING = b"RFB 003.008\n\x01\x01" + struct.pack(">I", 0) + struct.pack(">HH16xI", 100, 50, 4) + b"test"


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"\x00\x00\x00\x01" + struct.pack(">HHHHi", 0, 0, 100, 50, 0) + b"x" * 300, "was cut"),
        (b"\x00\x00\x00\x01" + struct.pack(">HHHHi", 90, 0, 20, 50, 0), "beyond the edge"),
        (b"\x00\x00\x00\x01" + struct.pack(">HHHHi", 0, 0, 20, 50, 7), "unknown encoding"),
        (b"\x00\x00\x00\x01" + struct.pack(">HHHHi", 0, 0, 65535, 65535, -223), "at most 8192"),
        (b"\x00\x00\x00\x01" + struct.pack(">HHHHi", 0, 0, 8000, 8000, -223), "pixels are supported"),
        (b"\x03\x00\x00\x00" + struct.pack(">i", 1 << 30), "more than a megabyte"),
        (b"\x03\x00\x00\x00" + struct.pack(">i", -8) + struct.pack(">I", 1 << 28 | 1) + b"abcd", "malformed clipboard"),
        (b"\x07", "unknown kind 7"),
    ],
)
async def test_malformed_server_messages_end_the_connection(sent: bytes, why: str) -> None:
    client = RfbClient(Wire(GREETING + sent))
    await client.open()
    with pytest.raises(RfbError, match=why):
        await client.run()


async def test_packed_clipboard_is_unpacked_up_to_its_limit() -> None:
    import zlib

    bomb = zlib.compress(struct.pack(">I", 1 << 30) + b"a" * (64 << 20))
    body = struct.pack(">I", 1 << 28 | 1) + bomb
    client = RfbClient(Wire(GREETING + b"\x03\x00\x00\x00" + struct.pack(">i", -len(body)) + body))
    await client.open()
    with pytest.raises(RfbError, match="was cut"):
        await client.run()
    assert len(client.clipboard) <= 1 << 20


@asynccontextmanager
async def several(count: int) -> AsyncIterator[list[Stage]]:
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(staged()) for _ in range(count)]


async def test_cut_connection_is_opened_again(shared: Stage) -> None:
    before = shared.desktop.display.live_client
    await before.close()
    async with asyncio.timeout(60):
        while shared.desktop.display.client is before:
            await asyncio.sleep(0.05)
    await still_works(shared)


async def test_two_desktops_do_not_see_each_other() -> None:
    async with several(2) as (one, other):
        lines = await one.painter()
        await other.do("computer", action="left_click", coordinate=[200, 200])
        assert "painter" not in (await other.do("desktop_windows")).text
        assert "painter" in (await one.do("desktop_windows")).text
        await one.do("computer", action="left_click", coordinate=[201, 201])
        assert await lines.next() == "press 1 201 201 0"


async def test_film_and_windows_are_recorded() -> None:
    async with staged() as stage:
        await stage.painter("a window's title")
        await stage.do("computer", action="left_click", coordinate=[200, 200])
        await stage.desktop.close()
        ledger = stage.desktop.ledger
        assert any("a window's title" in str(row) for row in ledger.windows)
        assert any("python" in str(row) for row in ledger.processes)
        assert ledger.film in ("", "this machine lacks ffmpeg")
        assert ledger.film or (ledger.folder / "film.mp4").stat().st_size > 500
