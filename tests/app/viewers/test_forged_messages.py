"""Messages from windows other than the pane's app or viewer are ignored, in the built app and viewer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from app.round.desks import Desks, desks
from app.round.driving import FLAGS
from app.web.bench import front, shows, start, until
from app.web.studio import Studio
from running import needs
from worksample.people import RoundKind

pytestmark = [pytest.mark.browser, pytest.mark.long]
SITE = b"<!doctype html><title>Shop</title><h1>Pears</h1>"
KEY = {"type": "key", "code": "", "ctrl": False, "shift": False, "alt": False, "meta": False}
SHOWN = {"type": "shown", "kind": "pdf", "badge": "b", "problem": "forged", "inspectable": False, "ms": 1, "report": {}}
HUGE = "x" * 100_000
STRANGER = "<!doctype html><title>Elsewhere</title><h1>Elsewhere</h1>"
POST = """([targets, messages]) => {
  const bare = JSON.parse('{"ws": 1, "type": "open", "__proto__": {"path": ["report.txt"], "polluted": 1}}');
  for (const target of targets.map(way => way.reduce((at, step) => at[step], window)))
    for (const message of [...messages, bare, new Date(), new Map([["ws", 1]]), null, 1, "ws"])
      target.postMessage(message, "*");
  return targets.length * messages.length;
}"""


class Shop(Studio):
    files = {"index.html": SITE, "report.txt": b"pears\n", "other.txt": b"figs\n"}


def forged(content: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Every type of message that the two halves of a pane know: sound ones, malformed ones."""
    place = {"kind": "text", "scroll": 1}
    sound: list[dict[str, Any]] = [
        {"type": "show", "content": content, "path": ["other.txt"], "theme": "dark", "pane": "Alternative"},
        {"type": "show", "content": "http://evil.example", "path": ["other.txt"], "theme": "dark", "pane": "x"},
        *({"type": "theme", "theme": "dark"}, {"type": "sync", "state": place}, {"type": "find"}),
        *({"type": "ready"}, {"type": "active"}, {"type": "state", "state": place}),
        *({"type": "open", "path": ["other.txt"]}, SHOWN | {"path": ["index.html"]}),
        *(KEY | {"key": key} for key in ("n", "2", "?", "Escape", "/")),
        KEY | {"key": "Enter", "code": "Enter", "ctrl": True},
    ]
    wrong: list[dict[str, Any]] = []
    for message in sound:
        for name in set(message) - {"type"}:
            wrong += [message | {name: value} for value in (None, [[]])]
        if len(message) > 1:
            wrong.append({"type": message["type"]})
    wrong += [{"type": name} for name in ("__proto__", "constructor", "toString", HUGE, 5, None)]
    wrong += [{"type": "open", "path": [HUGE]}, SHOWN | {"path": ["index.html"], "badge": HUGE}, {"ws": 2, **KEY}]
    return [{"ws": 1, **message} for message in sound], [{"ws": 1, **message} for message in wrong]


@dataclass
class Scene:
    """The work screen with a delivered site in a pane: app, that pane's viewer, the site within it."""

    place: Desks
    page: Page
    content: str

    @property
    def viewers(self) -> list[Frame]:
        return [f for f in self.page.frames if f.parent_frame == self.page.main_frame]

    @property
    def site(self) -> Frame:
        return next(f for f in self.page.frames if f.url.startswith(self.content) and "index.html" in f.url)

    @property
    def viewer(self) -> Frame:
        found = self.site.parent_frame
        assert found is not None
        return found

    def state(self) -> dict[str, Any]:
        """All that a message could change."""
        looks = "() => [document.documentElement.dataset.theme, document.querySelector('main')?.dataset.kind, "
        looks += "document.querySelector('h1')?.textContent, document.activeElement?.tagName, ({}).polluted]"
        return {
            "url": self.page.url,
            "frames": sorted(f.url for f in self.page.frames),
            "pages": len(self.page.context.pages),
            "titles": self.page.locator("iframe").evaluate_all("all => all.map(f => f.title)"),
            "dialogs": self.page.locator("dialog[open], .toasts > *").count(),
            "chosen": self.page.locator("[aria-checked=true], :checked, [aria-pressed=true]").count(),
            "looks": [f.evaluate(looks) for f in (self.page.main_frame, *self.viewers)],
        }


@pytest.fixture
def own(browser: Browser) -> Iterator[Browser]:
    """Desks close all windows of their browser when they end: other tests keep theirs in another one."""
    with browser.browser_type.launch(executable_path=needs.browser(), args=list(FLAGS)) as found:
        yield found


@pytest.fixture
def scene(own: Browser, tmp_path: Path) -> Iterator[Scene]:
    # Of one item, so that none is got ready behind it while a test looks.
    with desks(own, tmp_path, Shop, agents=1, projects=1) as place:
        place.office.open(RoundKind.HOLISTIC)
        page, asked = place.sit("ann"), list[str]()
        page.on("request", lambda request: asked.append(request.url))
        start(page)
        bench = front(page)
        bench.locator("[data-tree=Alternative]").get_by_text("index.html").click()
        shows(page, "Alternative", "index.html")
        bench.frame_locator("iframe[data-pane=Alternative]").frame_locator("iframe").get_by_text("Pears").wait_for()
        until(lambda: sum(a.endswith("/claims") for a in asked) == 2, page=page)
        frame = next(f for f in page.frames if f.url.endswith("/index.html") and ".c." in f.url)
        yield Scene(place, page, frame.url.removesuffix("/index.html"))


def stays(scene: Scene, asked: list[str], posting: Callable[[], Any]) -> None:
    """Nothing is another than before, nothing was asked for, nothing was thrown."""
    before = scene.state()
    asked.clear()
    assert posting() > 20
    scene.page.wait_for_timeout(700)
    assert scene.state() == before
    unasked(asked)
    scene.place.watch.check()


def unasked(asked: list[str]) -> None:
    # The viewer's own look at what was blocked comes on its own, as does the beat of the item.
    assert [a for a in asked if not a.partition("?")[0].endswith(("/.worksample/blocked", "/heartbeat"))] == []


def opened_by_a_stranger(scene: Scene, asked: list[str], messages: list[dict[str, Any]]) -> None:
    """A page elsewhere opens the app and the viewer, and speaks to them."""
    config, context = scene.place.served.config, scene.page.context
    elsewhere = config.app_origin.replace("://", "://stranger.") + "/"
    context.route(elsewhere, lambda route: route.fulfill(body=STRANGER, content_type="text/html"))
    page = context.new_page()
    page.goto(elsewhere)
    for address in (f"{config.app_origin}/queues", f"{config.viewer_origin}/"):
        with page.expect_popup() as opening:
            page.evaluate("to => { window.opened = open(to) }", address)
        opened = opening.value
        opened.wait_for_load_state("networkidle")
        before = opened.content()
        asked.clear()
        assert page.evaluate(POST, [[["opened"]], messages]) > 20
        page.wait_for_timeout(500)
        assert (opened.url, opened.content()) == (address, before)
        unasked(asked)
        opened.close()
    page.close()


def test_messages_from_other_windows_are_ignored(scene: Scene) -> None:
    page, asked = scene.page, list[str]()
    page.context.on("request", lambda request: asked.append(request.url))
    sound, wrong = forged(scene.content)
    which = "own => [...Array(frames.length).keys()].find(i => frames[i] === own.contentWindow)"
    mine = page.evaluate(which, scene.viewer.frame_element())
    others = [["top", i] for i in range(len(scene.viewers)) if i != mine]
    assert others, "there is but one pane"
    page.wait_for_timeout(500)
    # The delivered site, as deep as it sits.
    everyone = [["top"], ["parent"], *others]
    stays(scene, asked, lambda: scene.site.evaluate(POST, [everyone, sound + wrong]))
    # A viewer speaks to the viewers of other panes; the app's own window plays a viewer.
    stays(scene, asked, lambda: scene.viewer.evaluate(POST, [others, sound + wrong]))
    stays(scene, asked, lambda: page.evaluate(POST, [[["window"]], sound + wrong]))
    opened_by_a_stranger(scene, asked, sound + wrong)
    # A viewer that a hostile file has taken over is the right source of wrong messages.
    stays(scene, asked, lambda: scene.viewer.evaluate(POST, [[["parent"]], wrong]))
    stays(scene, asked, lambda: page.evaluate(POST, [[[mine]], wrong]))
    heard(scene, mine)


def heard(scene: Scene, mine: int) -> None:
    """The control: what the halves of a pane say to each other has its effect."""
    root = front(scene.page).frame_locator("iframe[data-pane=Alternative]").locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    scene.page.evaluate("i => frames[i].postMessage({ws: 1, type: 'theme', theme: 'dark'}, '*')", mine)
    expect(root).to_have_attribute("data-theme", "dark")
    titles = scene.state()["titles"]
    scene.viewer.evaluate("() => parent.postMessage({ws: 1, type: 'open', path: ['other.txt']}, '*')")
    shows(scene.page, "Alternative", "other.txt")
    # In its own pane alone.
    assert sum(a != b for a, b in zip(titles, scene.state()["titles"], strict=True)) == 1
    expect(root.get_by_text("figs")).to_be_visible()
