"""The desktop's tools for command-line agents, over MCP: the 14 tools of Agents' Last Exam's desktop bridge.

Coordinates run from 0 to 1000 across and down the screen, whatever its size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from worksample.sandboxes.tool_actions import Parameter, ToolAction

from .computer_actions import LONGEST_WAIT, MOST_SCROLL, ActionError, between, keysyms
from .hands import BUTTONS, WHEEL, Hands

SPAN = 1000
_KEYS = Parameter("strings", "Names of keys as xdotool has them, pressed together, such as ctrl and s.")
_AT = Parameter("numbers", "x and y, each from 0 to 1000. Without it, the pointer stays.", False)
_BUTTON = Parameter("string", "Mouse button; default: left.", False, tuple(BUTTONS))
_SECONDS = Parameter("number", "Seconds, at most 60.")

BRIDGE: dict[str, ToolAction] = {
    one.name: one
    for one in (
        ToolAction("key", "Press keys together, and release them.", {"keys": _KEYS}),
        ToolAction("key_down", "Press keys and keep them pressed.", {"keys": _KEYS}),
        ToolAction("key_up", "Release keys.", {"keys": _KEYS}),
        ToolAction("type", "Type a text.", {"text": Parameter("string", "The text.")}),
        ToolAction("hold_key", "Hold keys for some seconds.", {"keys": _KEYS, "duration": _SECONDS}),
        ToolAction("mouse_move", "Move the pointer.", {"coordinate": Parameter("numbers", "x and y, 0 to 1000.")}),
        ToolAction(
            "click",
            "Click.",
            {"coordinate": _AT, "button": _BUTTON, "clicks": Parameter("integer", "1 to 3; default: 1.", False)},
        ),
        ToolAction(
            "drag",
            "Drag with a button held.",
            {
                "coordinate": Parameter("numbers", "x and y of the end, 0 to 1000."),
                "start_coordinate": _AT,
                "button": _BUTTON,
            },
        ),
        ToolAction("mouse_down", "Press a mouse button and keep it pressed.", {"button": _BUTTON}),
        ToolAction("mouse_up", "Release a mouse button.", {"button": _BUTTON}),
        ToolAction(
            "scroll",
            "Turn the mouse wheel.",
            {
                "direction": Parameter("string", "Direction.", True, tuple(WHEEL)),
                "amount": Parameter("integer", "Clicks of the wheel, at most 100."),
                "coordinate": _AT,
            },
        ),
        ToolAction("wait", "Wait.", {"duration": _SECONDS}),
        ToolAction(
            "screenshot",
            "Show the screen.",
            {"save_path": Parameter("string", "File in the box in which the picture is stored, too.", False)},
        ),
        ToolAction("cursor_position", "Tell where the pointer is, from 0 to 1000."),
    )
}


def pixels(point: Any, size: tuple[int, int], name: str = "coordinate") -> tuple[int, int]:
    """Return the pixel of the screen for a coordinate from 0 to 1000. Raises ActionError if it is outside."""
    if not isinstance(point, list) or len(point) != 2:
        raise ActionError(f"{name} is a list of two numbers, x and y")
    if not all(0 <= one <= SPAN for one in point):
        raise ActionError(f"{name} is from 0 to {SPAN}, not ({point[0]:g}, {point[1]:g})")
    return min(size[0] - 1, round(point[0] * size[0] / SPAN)), min(size[1] - 1, round(point[1] * size[1] / SPAN))


async def carry_out(hands: Hands, size: tuple[int, int], name: str, given: Mapping[str, Any]) -> None:
    """Carry out an action of the bridge, apart from the picture that answers it. Raises ActionError."""

    def at(key: str = "coordinate") -> tuple[int, int] | None:
        return None if given.get(key) is None else pixels(given[key], size, key)

    keys = [keysym for one in given.get("keys", ()) for keysym in keysyms(one)]
    button = BUTTONS[given.get("button") or "left"]
    match name:
        case "key":
            await hands.chord(keys)
        case "key_down" | "key_up":
            await hands.key_events(keys, name == "key_down")
        case "hold_key":
            await hands.chord(keys, seconds=between(given["duration"], 0, LONGEST_WAIT, "duration"))
        case "type":
            await hands.type(given["text"])
        case "mouse_move":
            await hands.move(pixels(given["coordinate"], size))
        case "click":
            await hands.click(at(), button, int(between(given.get("clicks") or 1, 1, 3, "clicks")))
        case "drag":
            start = at("start_coordinate") or hands.position
            await hands.drag(start, pixels(given["coordinate"], size), button)
        case "mouse_down":
            await hands.press(button)
        case "mouse_up":
            await hands.release(button)
        case "scroll":
            await hands.scroll(given["direction"], int(between(given["amount"], 0, MOST_SCROLL, "amount")), at())
        case "wait":
            await asyncio.sleep(between(given["duration"], 0, LONGEST_WAIT, "duration"))
