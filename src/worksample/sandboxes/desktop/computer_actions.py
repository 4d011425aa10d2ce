"""The tool `computer`: the vocabulary of Inspect's tool of this name (inspect_ai 0.3.285), carried out on a desktop.

Coordinates are pixels of the picture that the model sees. The picture may be smaller than the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worksample.sandboxes.tool_actions import Parameter, ToolAction

from .hands import LEFT, MIDDLE, RIGHT, WHEEL
from .keys import chord

if TYPE_CHECKING:
    from .desktop import Desktop

MOST_REPEATS, MOST_SCROLL, LONGEST_WAIT = 100, 100, 60.0
MOST_ACTIONS = 50
"""Maximum number of actions in one call."""
SILENT = ("cursor_position",)
"""Actions that are answered without a picture."""


class ActionError(Exception):
    """Error of an action that cannot be carried out. Its text is shown to the agent."""


@dataclass(frozen=True, slots=True)
class ScreenScale:
    """Scale between the screen and the picture that a model sees of it. Sizes in pixels."""

    screen: tuple[int, int]
    picture: tuple[int, int]

    def to_screen(self, point: Any, name: str = "coordinate") -> tuple[int, int]:
        """Return the position on the screen of a point of the picture. Raises ActionError if it is outside."""
        if not isinstance(point, list) or len(point) != 2:
            raise ActionError(f"{name} is a list of two numbers, x and y")
        (x, y), (width, height) = point, self.picture
        if not (0 <= x < width and 0 <= y < height):
            raise ActionError(f"{name} ({x:g}, {y:g}) is outside the screen, whose picture is {width}x{height} pixels")
        return (
            min(self.screen[0] - 1, round((x + 0.5) * self.screen[0] / width - 0.5)),
            min(self.screen[1] - 1, round((y + 0.5) * self.screen[1] / height - 0.5)),
        )

    def to_picture(self, point: tuple[int, int]) -> tuple[int, int]:
        """Return the point of the picture for a position on the screen."""
        return point[0] * self.picture[0] // self.screen[0], point[1] * self.picture[1] // self.screen[1]


def _point(given: Mapping[str, Any], view: ScreenScale, name: str = "coordinate") -> tuple[int, int] | None:
    return None if given.get(name) is None else view.to_screen(given[name], name)


def _require(given: Mapping[str, Any], name: str) -> Any:
    if given.get(name) is None:
        raise ActionError(f"{given['action']} needs {name!r}")
    return given[name]


def keysyms(text: str) -> list[int]:
    """Return the keysyms of a key or a combination. Raises ActionError if there is no such key."""
    try:
        return chord(text)
    except ValueError as error:
        raise ActionError(str(error)) from None


def between(value: Any, least: float, most: float, name: str) -> float:
    """Return a number if it lies between two others. Raises ActionError."""
    if not least <= value <= most:
        raise ActionError(f"{name} is between {least:g} and {most:g}")
    return float(value)


async def _key(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    repeat = between(given.get("repeat") or 1, 1, MOST_REPEATS, "repeat")
    await desktop.hands.chord(keysyms(_require(given, "text")), repeat=int(repeat))


async def _hold_key(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    seconds = between(_require(given, "duration"), 0, LONGEST_WAIT, "duration")
    await desktop.hands.chord(keysyms(_require(given, "text")), seconds=seconds)


async def _type(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    text = _require(given, "text")
    if (at := _point(given, view)) is not None:
        await desktop.hands.click(at)
    await desktop.hands.type(text + ("\n" if given.get("press_enter") else ""))


async def _move(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    await desktop.hands.move(view.to_screen(_require(given, "coordinate")))


def _click(button: int, count: int = 1) -> Carry:
    async def click(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
        held = keysyms(given["text"]) if given.get("text") else []
        await desktop.hands.click(_point(given, view), button, count, held)

    return click


def _turn_page(keys: str) -> Carry:
    async def turn(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
        if (at := _point(given, view)) is not None:
            await desktop.hands.move(at)
        await desktop.hands.chord(keysyms(keys))

    return turn


async def _press_left(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    await desktop.hands.press(LEFT, _point(given, view))


async def _release_left(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    await desktop.hands.release(LEFT, _point(given, view))


async def _drag(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    start = _point(given, view, "start_coordinate") or desktop.hands.position
    await desktop.hands.drag(start, view.to_screen(_require(given, "coordinate")))


async def _scroll(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    clicks = between(_require(given, "scroll_amount"), 0, MOST_SCROLL, "scroll_amount")
    await desktop.hands.scroll(_require(given, "scroll_direction"), int(clicks), _point(given, view))


async def _wait(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    await asyncio.sleep(between(_require(given, "duration"), 0, LONGEST_WAIT, "duration"))


async def _nothing(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    return None


async def _open_browser(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    await desktop.open_browser("")


async def _navigate(desktop: Desktop, given: Mapping[str, Any], view: ScreenScale) -> None:
    await desktop.open_browser(_require(given, "text"))


Carry = Callable[["Desktop", Mapping[str, Any], ScreenScale], Awaitable[None]]
CARRIED: dict[str, Carry] = {
    "key": _key,
    "hold_key": _hold_key,
    "type": _type,
    "cursor_position": _nothing,
    "mouse_move": _move,
    "left_mouse_down": _press_left,
    "left_mouse_up": _release_left,
    "left_click": _click(LEFT),
    "left_click_drag": _drag,
    "right_click": _click(RIGHT),
    "middle_click": _click(MIDDLE),
    "back_click": _turn_page("alt+Left"),
    "forward_click": _turn_page("alt+Right"),
    "double_click": _click(LEFT, 2),
    "triple_click": _click(LEFT, 3),
    "scroll": _scroll,
    "wait": _wait,
    "screenshot": _nothing,
    "zoom": _nothing,
    "open_web_browser": _open_browser,
    "navigate": _navigate,
}
"""What each action does, apart from the picture that answers it."""

COMPUTER = ToolAction(
    "computer",
    "Use the desktop by mouse and keyboard, and see its screen after the action. Icons may need a double click; "
    "buttons and menu items need one click. Coordinates are pixels of the picture that was shown.",
    {
        "action": Parameter(
            "string",
            "key: press a key or a combination (`text`, as xdotool names keys: Return, ctrl+s), `repeat` times. "
            "hold_key: hold it for `duration` seconds. type: type `text` (after a click at `coordinate`; then Return "
            "with `press_enter`). mouse_move, left_click, right_click, middle_click, double_click, triple_click: at "
            "`coordinate`, or at the pointer; with the keys `text` held. left_click_drag: from `start_coordinate` to "
            "`coordinate`. left_mouse_down, left_mouse_up. back_click, forward_click: the browser's page before or "
            "after. scroll: `scroll_amount` clicks in `scroll_direction`. wait: `duration` seconds. screenshot. zoom: "
            "show `region` in full detail. cursor_position. open_web_browser. navigate: open the address `text`.",
            False,
            tuple(CARRIED),
        ),
        "coordinate": Parameter("numbers", "x and y.", False),
        "duration": Parameter("number", "Seconds, at most 60.", False),
        "region": Parameter("numbers", "x0, y0, x1 and y1 of what zoom shows.", False),
        "scroll_amount": Parameter("integer", "Clicks of the wheel.", False),
        "scroll_direction": Parameter("string", "Direction of the wheel.", False, tuple(WHEEL)),
        "start_coordinate": Parameter("numbers", "x and y of the start of a drag.", False),
        "text": Parameter("string", "Text to type, key to press, or address.", False),
        "repeat": Parameter("integer", "How often a key is pressed: 1 to 100.", False),
        "press_enter": Parameter("boolean", "Press Return after the text.", False),
        "actions": Parameter("objects", "Several actions, carried out in order, instead of one.", False),
    },
)
"""The tool `computer`. Its parameters are those of Inspect's tool, so that models with computer use of their own see
their native tool.
"""


def steps_of(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the actions of a call of `computer`, each checked for its form. Raises ActionError."""
    if error := COMPUTER.wrong(given):
        raise ActionError(error)
    several = given.get("actions")
    if (several is None) == (given.get("action") is None):
        raise ActionError("computer needs either action or actions")
    if several is None:
        return [dict(given)]
    if not 0 < len(several) <= MOST_ACTIONS:
        raise ActionError(f"actions has 1 to {MOST_ACTIONS} actions")
    for one in several:
        if error := COMPUTER.wrong(one) or ("" if one.get("action") else "each of the actions needs 'action'"):
            raise ActionError(error)
    return [dict(one) for one in several]


def region_of(given: Mapping[str, Any], view: ScreenScale) -> tuple[int, int, int, int]:
    """Return the part of the screen that `zoom` shows: left, top, right and bottom. Raises ActionError."""
    corners = _require(given, "region")
    if len(corners) != 4:
        raise ActionError("region is a list of four numbers: x0, y0, x1, y1")
    left, top = view.to_screen(list(corners[:2]), "region")
    right, bottom = view.to_screen([corners[2] - 1, corners[3] - 1], "region")
    if right <= left or bottom <= top:
        raise ActionError("region must have x0 below x1 and y0 below y1")
    return left, top, right + 1, bottom + 1
