"""The table of browser actions that agents can take. The agents' tools, the MCP server and the docs are built from this
table.
"""

from __future__ import annotations

from worksample.sandboxes.tool_actions import Parameter, ToolAction

_BID = Parameter("string", "Id of the element, as shown in [ ].")
_BUTTON = Parameter("string", "Mouse button; default: left.", False, ("left", "middle", "right"))

ACTIONS: dict[str, ToolAction] = {
    one.name: one
    for one in (
        ToolAction("goto", "Go to an address.", {"url": Parameter("string", "The address, with http:// or https://.")}),
        ToolAction("go_back", "Go back to the previous page."),
        ToolAction("go_forward", "Go forward to the next page."),
        ToolAction("reload", "Reload the page."),
        ToolAction(
            "click",
            "Click an element.",
            {
                "bid": _BID,
                "button": _BUTTON,
                "modifiers": Parameter("strings", "Keys held down: Alt, Control, Meta, Shift.", False),
            },
        ),
        ToolAction("dblclick", "Double-click an element.", {"bid": _BID}),
        ToolAction("hover", "Move the mouse over an element.", {"bid": _BID}),
        ToolAction(
            "fill",
            "Replace the text of a field.",
            {"bid": _BID, "value": Parameter("string", "The new text; empty to clear the field.")},
        ),
        ToolAction(
            "select_option",
            "Choose options in a list.",
            {"bid": _BID, "options": Parameter("strings", "Values or labels of the options to choose.")},
        ),
        ToolAction("focus", "Give an element the focus.", {"bid": _BID}),
        ToolAction(
            "press",
            "Press a key, or a key combination, in an element.",
            {"bid": _BID, "keys": Parameter("string", "Such as Enter, Control+a, ArrowDown.")},
        ),
        ToolAction(
            "keyboard_type",
            "Type text into the focused element.",
            {"text": Parameter("string", "The text, typed key by key.")},
        ),
        ToolAction(
            "scroll",
            "Scroll by a number of pixels.",
            {
                "x": Parameter("number", "To the right; negative to the left.", False),
                "y": Parameter("number", "Down; negative up.", False),
            },
        ),
        ToolAction("drag_and_drop", "Drag an element onto another.", {"bid": _BID, "to": _BID}),
        ToolAction(
            "mouse_click",
            "Click at a position of the screenshot.",
            {
                "x": Parameter("number", "Pixels from the left."),
                "y": Parameter("number", "Pixels from the top."),
                "button": _BUTTON,
            },
        ),
        ToolAction(
            "upload_file",
            "Upload a file with a field or button that asks for one.",
            {"bid": _BID, "path": Parameter("string", "Absolute path of the file.")},
        ),
        ToolAction("tab_new", "Open an empty tab and make it active."),
        ToolAction("tab_close", "Close the active tab."),
        ToolAction(
            "tab_focus", "Make another tab active.", {"tab": Parameter("integer", "Number of the tab, from 0.")}
        ),
        ToolAction(
            "noop",
            "Do nothing, and observe the page again.",
            {"wait_ms": Parameter("number", "Milliseconds to wait; default: 1000, at most 10000.", False)},
        ),
        ToolAction(
            "send_msg",
            "Leave a message for the people who review the work. Nobody answers it.",
            {"text": Parameter("string", "The message.")},
        ),
    )
}
