"""Files in the real viewer: the server over a store, Chromium at the app, a frame as the work screen has it."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import Browser, Frame, Page

from app.round.driving import PATIENCE, Watch, static
from app.viewers.stock import Folder
from worksample.app import AppConfig

SIZE = (900, 640)
BARS = 66
"""Pixels at the top of a pane that are ours whatever is shown: file name, badge, tools."""
KEEP = "WORKSAMPLE_KEEP_PNG"
"""A folder for a picture of each pane."""
_HOST = """([viewer, width, height]) => {
  document.body.replaceChildren();
  window.told = [];
  addEventListener("message", e => { if (e.origin === viewer) told.push(e.data) });
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-same-origin allow-downloads allow-forms allow-pointer-lock";
  frame.allow = "fullscreen *; autoplay *; gamepad *";
  [frame.width, frame.height, frame.src] = [width, height, viewer + "/"];
  frame.frameBorder = "0";
  document.body.append(frame);
}"""
_SHOW = """([viewer, message]) => {
  window.told = [];
  document.querySelector("iframe").contentWindow.postMessage(message, viewer);
}"""
# Asked within the page: from without each look costs four processes their turn.
_UNTIL = """async ([arg, milliseconds]) => {
  const end = performance.now() + milliseconds;
  let found;
  while (!(found = (%s)(arg)) && performance.now() < end) await new Promise(done => setTimeout(done, 10));
  return found;
}"""
_SHOWN = "path => window.told.find(m => m.type === 'shown' && JSON.stringify(m.path) === JSON.stringify(path))"


@dataclass(frozen=True)
class Seen:
    """What the viewer said when it stood, and what it looked like then."""

    said: dict[str, Any]
    picture: Image.Image

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = self.said["report"]
        return found

    @property
    def pane(self) -> Image.Image:
        """Without the bars."""
        return self.picture.crop((0, BARS, *self.picture.size))

    @property
    def colours(self) -> int:
        return len(self.pane.getcolors(1 << 24) or ())

    def unlike(self, other: Seen) -> float:
        """Mean difference of the panes, 0 to 255."""
        return sum(ImageStat.Stat(ImageChops.difference(self.pane, other.pane)).mean)


@dataclass
class Panes:
    """One frame at the viewer's origin, used for all files as the work screen does."""

    page: Page
    viewer: str
    content: str
    folder: Folder
    watch: Watch
    last: dict[str, Any] = field(default_factory=dict)

    def watched(self) -> Iterator[Panes]:
        """For a fixture: whatever goes wrong while a test looks is a fault of that test."""
        self.watch.faults.clear()
        self.watch.expected = ()
        yield self
        self.watch.check()

    def another(self) -> Panes:
        """A second pane in the same browser context, watched like this one."""
        other = Panes(self.page.context.new_page(), self.viewer, self.content, self.folder, self.watch)
        other.page.goto(self.page.url)
        other.begin()
        return other

    def begin(self) -> None:
        self.page.evaluate(_HOST, [self.viewer, *SIZE])
        self.until("() => window.told.some(m => m.type === 'ready')")

    def until(self, script: str, arg: Any = None, seconds: float = 60) -> Any:
        """What a script in the app's page gives once that is anything; the policy bars Playwright's own waiting."""
        found = self.page.evaluate(_UNTIL % script, [arg, seconds * 1000])
        assert found, f"nothing within {seconds} seconds: {script}\n{self.page.evaluate('told')}"
        return found

    def tell(self, **message: Any) -> None:
        self.page.evaluate(_SHOW, [self.viewer, {"ws": 1, **message}])

    def said(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page.evaluate("k => window.told.filter(m => m.type === k)", kind)
        return found

    def show(self, *path: str, theme: str = "light", rest: float = 0.25, seconds: float = 60, name: str = "") -> Seen:
        """Ask for a file, wait until it stands, and look. `rest`: seconds for what is drawn after the first picture."""
        self.folder.ready(path[0])
        self.tell(type="show", content=self.content, path=list(path), theme=theme, pane="AD-1")
        said = self.until(_SHOWN, list(path), seconds)
        self.page.wait_for_timeout(rest * 1000)
        self.last = said
        return Seen(said, self.look(name or "-".join(path).replace("/", "-")))

    def look(self, name: str) -> Image.Image:
        data = self.page.locator("iframe").screenshot()
        folder = os.environ.get(KEEP)
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            (Path(folder) / f"{name}.png").write_bytes(data)
        return Image.open(io.BytesIO(data)).convert("RGB")

    @property
    def frame(self) -> Frame:
        """Where the viewer runs."""
        return next(f for f in self.page.frames if f.url.startswith(self.viewer))

    def inner(self) -> Frame:
        """The frame within: markup of the file's own."""
        return next(f for f in self.page.frames if ".c." in f.url)


@contextmanager
def panes(browser: Browser, config: AppConfig, folder: Folder) -> Iterator[Panes]:
    """One frame for all files of a folder, in a browser context of its own, so with nothing kept from others."""
    context = browser.new_context(viewport={"width": SIZE[0] + 20, "height": SIZE[1] + 20}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    watch = Watch(config.host)
    watch.on(context)
    page = context.new_page()
    # Any address of the app's origin has its policy; a style sheet is small and runs no script of its own.
    sheet = min((static() / "assets").glob("*.css"), key=lambda path: path.stat().st_size)
    page.goto(f"{config.app_origin}/assets/{sheet.name}")
    shown = Panes(page, config.viewer_origin, config.content_origin(folder.label), folder, watch)
    shown.begin()
    try:
        yield shown
    finally:
        context.close()


AUTOPLAY = "--autoplay-policy=no-user-gesture-required"


def gathered(scratch: Path) -> dict[str, bytes | str]:
    """The files of every module `samples_*` beside this one: quoted path -> content."""
    out: dict[str, bytes | str] = {}
    for module in sorted(Path(__file__).parent.glob("samples_*.py")):
        out |= import_module(f"app.viewers.{module.stem}").files(scratch)
    return out
