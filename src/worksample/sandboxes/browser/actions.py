"""The table of browser actions that agents can take. The agents' tools, the MCP server and the docs are built from this
table.
"""

from __future__ import annotations

from worksample.sandboxes.tool_actions import Parameter, ToolAction

_BID = Parameter("string", "Id of the element, as shown in [ ].")
_X, _Y = Parameter("number", "Pixels from the left."), Parameter("number", "Pixels from the top.")
_KEY = Parameter("string", "Such as Enter, Control+a, ArrowDown.")
_PATH = Parameter("string", "Absolute path of the file.", False)
_PATHS = Parameter("strings", "Absolute paths of several files, instead of `path`.", False)
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
            {"bid": _BID, "keys": _KEY},
        ),
        ToolAction("check", "Tick a check box, or choose a radio button.", {"bid": _BID}),
        ToolAction("uncheck", "Untick a check box.", {"bid": _BID}),
        ToolAction("clear", "Empty a field.", {"bid": _BID}),
        ToolAction("keyboard_press", "Press a key, or a key combination, wherever the focus is.", {"key": _KEY}),
        ToolAction("keyboard_down", "Hold a key down until keyboard_up.", {"key": _KEY}),
        ToolAction("keyboard_up", "Release a key.", {"key": _KEY}),
        ToolAction(
            "keyboard_insert_text",
            "Put text into the focused element at once, as pasting does.",
            {"text": Parameter("string", "The text.")},
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
            {"x": _X, "y": _Y, "button": _BUTTON},
        ),
        ToolAction("mouse_move", "Move the mouse to a position of the screenshot.", {"x": _X, "y": _Y}),
        ToolAction("mouse_down", "Hold a mouse button down at a position.", {"x": _X, "y": _Y, "button": _BUTTON}),
        ToolAction("mouse_up", "Release a mouse button at a position.", {"x": _X, "y": _Y, "button": _BUTTON}),
        ToolAction("mouse_dblclick", "Double-click at a position.", {"x": _X, "y": _Y, "button": _BUTTON}),
        ToolAction(
            "mouse_drag_and_drop",
            "Drag from one position to another.",
            {"from_x": _X, "from_y": _Y, "to_x": _X, "to_y": _Y},
        ),
        ToolAction(
            "upload_file",
            "Upload one file or several with a field or button that asks for files.",
            {"bid": _BID, "path": _PATH, "paths": _PATHS},
        ),
        ToolAction(
            "mouse_upload_file",
            "Upload files by a click at a position at which the page asks for files.",
            {"x": _X, "y": _Y, "path": _PATH, "paths": _PATHS},
        ),
        ToolAction(
            "answer_dialog",
            "Say how the next dialog of a page (alert, confirm, prompt, leaving a page) is answered. Otherwise it is"
            " accepted.",
            {
                "accept": Parameter("boolean", "Whether it is accepted; false cancels it."),
                "text": Parameter("string", "What is written into a prompt; default: what it holds.", False),
            },
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
        ToolAction(
            "report_infeasible",
            "Leave the reason why the task cannot be done, for the people who review the work. The work goes on.",
            {"reason": Parameter("string", "The reason.")},
        ),
    )
}
