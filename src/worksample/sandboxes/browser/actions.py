"""The table of browser actions that agents can take. The agents' tools, the MCP server and the docs are built from this
table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")
LONGEST = 100_000
"""Maximum characters of a text argument of a browser action."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a browser action. `kind` is a JSON type, or `strings` for a list of strings."""

    kind: str
    about: str
    needed: bool = True
    allowed: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Return the parameter as JSON Schema."""
        out: dict[str, Any] = {"description": self.about}
        out |= {"type": "array", "items": {"type": "string"}} if self.kind == "strings" else {"type": self.kind}
        return {**out, "enum": list(self.allowed)} if self.allowed else out


@dataclass(frozen=True, slots=True)
class BrowserAction:
    """A browser action that an agent can take with the tool `browser_NAME`."""

    name: str
    about: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    def wrong(self, given: Mapping[str, Any]) -> str:
        """Return why the arguments in `given` are invalid for this action, or "" if they are valid."""
        if unknown := sorted(set(given) - set(self.parameters)):
            return f"{self.name} takes no {unknown[0]!r}; it takes {', '.join(self.parameters) or 'nothing'}"
        for key, one in self.parameters.items():
            if given.get(key) is None:
                if one.needed:
                    return f"{self.name} needs {key!r}: {one.about}"
                continue
            if not _fits(given[key], one.kind):
                return f"{key!r} of {self.name} is a {one.kind.replace('strings', 'list of strings')}"
            if one.allowed and given[key] not in one.allowed:
                return f"{key!r} of {self.name} is one of {', '.join(one.allowed)}"
        return ""


def _fits(value: Any, kind: str) -> bool:
    if kind == "strings":
        return isinstance(value, list) and len(value) <= 100 and all(_fits(one, "string") for one in value)
    if kind == "string":
        return isinstance(value, str) and len(value) <= LONGEST and not _HALF.search(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) < 1e6 and (kind == "number" or isinstance(value, int))


_BID = Parameter("string", "Id of the element, as shown in [ ].")
_BUTTON = Parameter("string", "Mouse button; default: left.", False, ("left", "middle", "right"))

ACTIONS: dict[str, BrowserAction] = {
    one.name: one
    for one in (
        BrowserAction(
            "goto", "Go to an address.", {"url": Parameter("string", "The address, with http:// or https://.")}
        ),
        BrowserAction("go_back", "Go back to the previous page."),
        BrowserAction("go_forward", "Go forward to the next page."),
        BrowserAction("reload", "Reload the page."),
        BrowserAction(
            "click",
            "Click an element.",
            {
                "bid": _BID,
                "button": _BUTTON,
                "modifiers": Parameter("strings", "Keys held down: Alt, Control, Meta, Shift.", False),
            },
        ),
        BrowserAction("dblclick", "Double-click an element.", {"bid": _BID}),
        BrowserAction("hover", "Move the mouse over an element.", {"bid": _BID}),
        BrowserAction(
            "fill",
            "Replace the text of a field.",
            {"bid": _BID, "value": Parameter("string", "The new text; empty to clear the field.")},
        ),
        BrowserAction(
            "select_option",
            "Choose options in a list.",
            {"bid": _BID, "options": Parameter("strings", "Values or labels of the options to choose.")},
        ),
        BrowserAction("focus", "Give an element the focus.", {"bid": _BID}),
        BrowserAction(
            "press",
            "Press a key, or a key combination, in an element.",
            {"bid": _BID, "keys": Parameter("string", "Such as Enter, Control+a, ArrowDown.")},
        ),
        BrowserAction(
            "keyboard_type",
            "Type text into the focused element.",
            {"text": Parameter("string", "The text, typed key by key.")},
        ),
        BrowserAction(
            "scroll",
            "Scroll by a number of pixels.",
            {
                "x": Parameter("number", "To the right; negative to the left.", False),
                "y": Parameter("number", "Down; negative up.", False),
            },
        ),
        BrowserAction("drag_and_drop", "Drag an element onto another.", {"bid": _BID, "to": _BID}),
        BrowserAction(
            "mouse_click",
            "Click at a position of the screenshot.",
            {
                "x": Parameter("number", "Pixels from the left."),
                "y": Parameter("number", "Pixels from the top."),
                "button": _BUTTON,
            },
        ),
        BrowserAction(
            "upload_file",
            "Upload a file with a field or button that asks for one.",
            {"bid": _BID, "path": Parameter("string", "Absolute path of the file.")},
        ),
        BrowserAction("tab_new", "Open an empty tab and make it active."),
        BrowserAction("tab_close", "Close the active tab."),
        BrowserAction(
            "tab_focus", "Make another tab active.", {"tab": Parameter("integer", "Number of the tab, from 0.")}
        ),
        BrowserAction(
            "noop",
            "Do nothing, and observe the page again.",
            {"wait_ms": Parameter("number", "Milliseconds to wait; default: 1000, at most 10000.", False)},
        ),
        BrowserAction(
            "send_msg",
            "Leave a message for the people who review the work. Nobody answers it.",
            {"text": Parameter("string", "The message.")},
        ),
    )
}
