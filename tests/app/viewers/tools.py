"""What tests of pictures do besides asking for a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType

from playwright.sync_api import Frame

from app.viewers.showing import Panes

_BEATS = """() => {
  let last = performance.now();
  window.longest = 0;
  window.beating = setInterval(() => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last - 20);
    last = now;
  }, 20);
}"""


def press(panes: Panes, on: str, *keys: str, rest: float = 0.4) -> None:
    """Keys for an element of the viewer."""
    # As the app does where a pane is shown: a page whose frame was never in focus gives it no keys.
    panes.page.locator("iframe").first.focus()
    for key in keys:
        panes.frame.locator(on).first.press(key)
    panes.page.wait_for_timeout(rest * 1000)


def wait(frame: Frame, condition: str, seconds: float = 60) -> None:
    """Until a script's value in a frame is true; the policy bars Playwright's own waiting."""
    for _ in range(int(seconds * 4)):
        if frame.evaluate(condition):
            return
        frame.page.wait_for_timeout(250)
    raise AssertionError(f"not within {seconds} seconds: {condition}")


@contextmanager
def second(panes: Panes) -> Iterator[Panes]:
    """Another pane beside the first, watched like it."""
    other = panes.another()
    try:
        yield other
    finally:
        other.page.close()


@dataclass
class Beats:
    """The longest time, in seconds, for which the viewer's window did not get its turn."""

    panes: Panes
    longest: float = field(default=0, init=False)

    def __enter__(self) -> Beats:
        self.panes.frame.evaluate(_BEATS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.longest = self.panes.frame.evaluate("() => (clearInterval(window.beating), window.longest)") / 1000
