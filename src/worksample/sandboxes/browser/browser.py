"""The browser of a running trial.

Chromium runs in the agent's box and is controlled over its standard input and output, so Chromium listens at no port
and no page can find a port. Playwright runs in a second box without network and without the platform's code. That box
contains the damage if a malicious browser attacks Playwright. This process relays bytes between the two boxes and reads
lines of JSON from Playwright's driver.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import json
import posixpath
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any

from worksample.background_services import FailureSignal
from worksample.box import Box, BoxConfig, BoxLimits, Connection, Mount, Process
from worksample.errors import ForeignInputError, SandboxError
from worksample.files.untrusted import parse_json
from worksample.sandboxes import start_box

from .actions import ACTIONS
from .browser_config import BrowserConfig
from .browser_ledger import LARGEST_SCREEN, BrowserLedger
from .chromium import BINARY, LIBRARY, OWN, PROGRAMS, playwright_folder

LIMITS = BoxLimits(memory=1 << 30, processes=96, disk=64 << 20)
"""Limits of the box in which Playwright's driver runs."""
SOCKET = "/task/scratch/browser"
LONGEST_LINE = 32 << 20
"""Maximum bytes of an answer line of Playwright's driver."""
LARGEST_UPLOAD = 32 << 20
PROFILE = "/tmp/worksample-browser"
_SWITCHES = """--headless=new --no-sandbox --remote-debugging-pipe --no-first-run --no-default-browser-check
--disable-background-networking --disable-component-update --disable-default-apps --disable-sync --disable-breakpad
--disable-client-side-phishing-detection --disable-extensions --disable-gpu --disable-dev-shm-usage --mute-audio
--metrics-recording-only --no-service-autorun --password-store=basic --use-mock-keychain --force-color-profile=srgb
--disable-popup-blocking --disable-hang-monitor --disable-renderer-backgrounding --disable-ipc-flooding-protection
--disable-backgrounding-occluded-windows --disable-background-timer-throttling --hide-scrollbars
--disable-site-isolation-trials --no-zygote --lang=en-US"""
_FEATURES = """IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,
PaintHolding,HttpsUpgrades,GlobalMediaControls,DestroyProfileOnBrowserClose,AutofillServerCommunication"""
_BEGIN = 'exec 3<&0 4>&1 </dev/null >/dev/null; exec "$@"'

CURRENT: ContextVar[Browser | None] = ContextVar("worksample_browser", default=None)
"""The browser of the current trial."""


@dataclass(frozen=True, slots=True)
class BrowserObservation:
    """The result of a browser action. `error` says why the action was not carried out; `text` and `picture` show the
    page after the action.
    """

    text: str
    picture: bytes = b""
    error: str = ""


@dataclass
class Browser:
    """A trial's browser. The first action starts the browser, and actions run one after another."""

    box: Box
    """The agent's box."""
    config: BrowserConfig = field(default_factory=BrowserConfig)
    kind: str = "bubblewrap"
    """Kind of the box in which Playwright's driver runs."""
    ledger: BrowserLedger = field(default_factory=BrowserLedger)
    failure: FailureSignal = field(default_factory=lambda: FailureSignal(overrules=True))
    """Signal with the SandboxError that ends the trial if one of the browser's two boxes is lost or cannot be started.
    """
    _driver: Box | None = None
    _process: Process | None = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _count: int = 0
    _waiting: bytes = b""
    _complaint: str = ""
    """The last lines of the driver's standard error, for error messages."""
    _chromium: str = ""
    """The last lines of Chromium's standard error, for error messages."""
    _shown: str = ""
    """The page's text that was last shown to the agent."""

    async def act(self, action: str, given: Mapping[str, Any]) -> BrowserObservation:
        """Carry out a browser action and return its result. Raises SandboxError if the agent's box is lost or the
        driver's box cannot be started.
        """
        async with self._turn:
            began = time.monotonic()
            given = {key: value for key, value in given.items() if value is not None}
            wrong = ACTIONS[action].wrong(given) if action in ACTIONS else f"there is no action {action[:60]!r}"
            try:
                answer = {"error": wrong} if wrong else await self._perform(action, given)
            except SandboxError as error:
                self.failure.fail(error)
                raise
            screen = _picture(answer.get("screen"))
            meant = element_line(self._shown, given.get("bid"))
            self.ledger.add_action(action, given, answer, screen, time.monotonic() - began, element=meant)
            seen = _observation(answer, self.config, screen)
            self._shown = seen.text or self._shown
            return seen

    async def close(self) -> None:
        """End the driver and Chromium. The record of the browser's actions remains available."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        driver, self._driver, self._process = self._driver, None, None
        if driver is not None:
            await driver.close()

    async def _perform(self, action: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        if action in ("send_msg", "report_infeasible"):
            what = "message" if action == "send_msg" else "reason"
            return {"error": "", "remarks": [f"the {what} was recorded"]}
        words = dict(given)
        if action in ("upload_file", "mouse_upload_file"):
            error, words = await self._read_uploads(given)
            if error:
                return {"error": error}
        await self._ensure_started()
        try:
            async with asyncio.timeout(self.config.answer):
                return await self._ask_driver(action, words)
        except (TimeoutError, BrokenPipeError, ValueError) as error:
            await self.close()
            await self._check_agent_box()
            said = "the browser ended" if isinstance(error, BrokenPipeError) else str(error)
            if isinstance(error, TimeoutError):
                said = "the browser took too long"
            kept = {"driver": self._complaint[-1500:], "chromium": self._chromium[-1500:]}
            return {"error": f"{said}; the next action restarts it", **kept}

    async def _check_agent_box(self) -> None:
        """Raise SandboxError if the agent's box has ended."""
        await self.box.run(["true"], timeout=60)

    async def _read_uploads(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return why the files cannot be uploaded, or "" and the arguments with the files' contents."""
        paths = [*([given["path"]] if "path" in given else []), *given.get("paths", ())]
        if not paths:
            return "name a file with 'path', or several with 'paths'", {}
        files, left = [], LARGEST_UPLOAD
        for path in paths:
            if "\0" in path:
                return "the path contains a NUL character", {}
            try:
                data = await self.box.read(path, left)
            except OSError as error:
                return f"{path[:300]} cannot be read: {error.strerror or error}", {}
            left -= len(data)
            files.append({"name": posixpath.basename(path) or "file", "data": base64.b64encode(data).decode()})
        return "", {**{key: given[key] for key in given if key not in ("path", "paths")}, "files": files}

    async def _ensure_started(self) -> None:
        if self._process is not None:
            return
        self._chromium, self._complaint, self._waiting = "", "", b""
        config = BoxConfig(
            mounts=(
                Mount(str(await asyncio.to_thread(playwright_folder)), LIBRARY),
                Mount(str(PROGRAMS), f"{OWN}/in_box"),
            ),
            env=(("PYTHONPATH", f"{OWN}:{LIBRARY}"),),
            limits=LIMITS,
            label="browser",
        )
        driver = self._driver = await start_box(config, self.kind)
        listener = await driver.listen(SOCKET)
        given = {"socket": SOCKET, "scratch": config.scratch, **asdict(self.config)}
        self._process = await driver.start(["python3", "-m", "in_box.driver", json.dumps(given)])

        async def accept() -> None:
            with contextlib.suppress(SandboxError):
                while True:
                    await self._connect_chromium(await listener.accept())

        self._tasks = [asyncio.create_task(accept()), asyncio.create_task(self._keep_complaints(self._process))]

    async def _ask_driver(self, action: str, words: Mapping[str, Any]) -> Mapping[str, Any]:
        assert self._process is not None
        self._count += 1
        asked = {"id": self._count, "action": action, "with": dict(words), "observe": list(self.config.observe)}
        await self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        line, looked = bytearray(self._waiting), 0
        while (end := line.find(b"\n", looked)) < 0:
            looked = len(line)
            piece = await self._process.stdout.read()
            if not piece:
                raise BrokenPipeError
            line += piece
            if len(line) > LONGEST_LINE:
                raise ValueError("the browser sent an answer that is too large")
        self._waiting = bytes(line[end + 1 :])
        del line[end:]
        try:
            answer = await parse_json(line, what="its answer")
        except ForeignInputError as error:
            raise ValueError(f"the browser sent an invalid answer: {error.what}") from None
        if not isinstance(answer, dict) or answer.get("id") != self._count:
            raise ValueError("the browser sent an invalid answer")
        return answer

    async def _keep_complaints(self, driver: Process) -> None:
        """Store the last lines that the driver prints on standard error."""
        with contextlib.suppress(SandboxError):
            while data := await driver.stderr.read():
                self._complaint = (self._complaint + data.decode("utf-8", "replace"))[-2000:]

    async def _connect_chromium(self, line: Connection) -> None:
        """Start Chromium in the agent's box for one connection of the driver, and relay bytes between the driver and
        Chromium.
        """
        secure = ",".join(self.config.secure)
        size = ",".join(map(str, self.config.viewport))
        argv = [*_SWITCHES.split(), f"--disable-features={''.join(_FEATURES.split())}", f"--window-size={size}"]
        argv += [
            f"--user-data-dir={PROFILE}",
            *([f"--unsafely-treat-insecure-origin-as-secure={secure}"] if secure else []),
        ]
        begin = f"rm -rf {PROFILE}; mkdir -p {self.config.downloads}; {_BEGIN}"
        process = await self.box.start(["/bin/sh", "-c", begin, "sh", str(BINARY), *argv])

        async def into() -> None:
            with contextlib.suppress(BrokenPipeError):
                while data := await line.reader.read():
                    await process.stdin.write(data)

        async def out() -> None:
            with contextlib.suppress(BrokenPipeError):
                while data := await process.stdout.read():
                    await line.writer.write(data)

        async def keep_errors() -> None:
            while data := await process.stderr.read():
                self._chromium = (self._chromium + data.decode("utf-8", "replace"))[-2000:]

        tasks = [asyncio.create_task(each()) for each in (into, out, keep_errors)]
        try:
            await asyncio.wait(tasks[:2], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(SandboxError):
                await process.kill()
            with contextlib.suppress(SandboxError):
                await line.close()


def element_line(shown: str, bid: Any) -> str:
    """Return the line that describes the element `bid` in `shown`, the text that the agent saw, such as `button
    'Save'`. Return "" if `shown` has no line for the element.
    """
    begins = f"[{bid}] "
    lines = (line.strip() for line in shown.splitlines()) if isinstance(bid, str) else ()
    return next((line[len(begins) :] for line in lines if line.startswith(begins)), "")


def _picture(given: Any) -> bytes:
    """Return the screenshot that the driver sent as Base64, or b"" if the screenshot is too large or malformed."""
    if not isinstance(given, str) or len(given) > LARGEST_SCREEN * 4 // 3:
        return b""
    try:
        return base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _observation(answer: Mapping[str, Any], config: BrowserConfig, screen: bytes) -> BrowserObservation:
    picture = b""
    if "marks" in config.observe:
        picture = _picture(answer.get("marked"))
    elif "screenshot" in config.observe:
        picture = screen
    return BrowserObservation(observation_text(answer, config), picture, str(answer.get("error", ""))[:2000])


def observation_text(answer: Mapping[str, Any], config: BrowserConfig) -> str:
    """Return the text of an observation that the agent reads."""
    found = answer.get("observation")
    shown: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    remarks = answer.get("remarks")
    lines = [f"[{str(one)[:600]}]" for one in (remarks if isinstance(remarks, Sequence) else ())]
    lines += [f"[{answer['lost']}]"] if answer.get("lost") else []
    if shown.get("url"):
        lines.append(f"{shown.get('title') or 'untitled'} - {shown['url']}")
    if "tabs" in config.observe and isinstance(shown.get("tabs"), list) and len(shown["tabs"]) > 1:
        lines += [
            f"tab {one.get('tab')}{' (active)' if one.get('active') else ''}: {one.get('url')}"
            for one in shown["tabs"][:20]
            if isinstance(one, Mapping)
        ]
    if isinstance(view := shown.get("viewport"), Mapping):
        whole = view.get("whole")
        lines.append(
            f"viewport {view.get('width')}x{view.get('height')}, scrolled to {view.get('left')},{view.get('top')}"
            f" of {'x'.join(map(str, whole)) if isinstance(whole, list) else whole}"
        )
    if shown.get("large"):
        lines.append(f"[{shown['large']}]")
    for key in ("tree", "dom", "interactable"):
        if text := str(shown.get(key) or ""):
            rest = len(text) - config.text
            lines.append(
                text
                if rest <= 0
                else f"{text[: config.text]}\n[... {rest} more characters: scroll, or look at parts of the page]"
            )
    return "\n".join(lines)
