"""Tools for the elements of a desktop's programs: the accessibility tree, actions on its nodes, and windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from worksample.sandboxes.tool_actions import Parameter, ToolAction

from .computer_actions import ActionError
from .screen_reader import ReaderError, tree_text

if TYPE_CHECKING:
    from .desktop import Desktop

_NODE = Parameter("string", "Number of the node, as shown in [ ].")
NODE_ACTIONS = ("press", "focus", "click", "set_text")

ELEMENTS: dict[str, ToolAction] = {
    one.name: one
    for one in (
        ToolAction(
            "desktop_tree",
            "List the elements of the programs on the screen, as their accessibility tree has them: number, role, "
            "name, text, state and the middle of each. Some programs show none.",
            {"find": Parameter("string", "List only elements whose role, name or text contains this.", False)},
        ),
        ToolAction(
            "desktop_node",
            "Act on an element of the last desktop_tree: press it as its program offers, give it the focus, click its "
            "middle, or replace its text.",
            {
                "node": _NODE,
                "action": Parameter("string", "What to do; default: press.", False, NODE_ACTIONS),
                "text": Parameter("string", "The new text, for set_text.", False),
            },
        ),
        ToolAction("desktop_windows", "List the open windows with their titles, positions and sizes."),
    )
}


async def carry_out_on_elements(desktop: Desktop, name: str, given: Mapping[str, Any]) -> str:
    """Carry out one of ELEMENTS and return its text. Raises ActionError."""
    if error := ELEMENTS[name].wrong(given):
        raise ActionError(error)
    if desktop.reader is None:
        raise ActionError("the elements of this desktop cannot be read")
    try:
        if name == "desktop_windows":
            return _windows_text(desktop, await desktop.reader.windows())
        if name == "desktop_tree":
            nodes, cut = await desktop.reader.tree()
            desktop.nodes = {str(one.get("node")): one for one in nodes}
            wanted = str(given.get("find") or "").casefold()
            if wanted:
                nodes = [
                    one
                    for one in nodes
                    if wanted in f"{one.get('role')} {one.get('name')} {one.get('text')}".casefold()
                ]
            return tree_text(nodes, cut, desktop.scale.to_picture)
        return await _act_on_node(desktop, given)
    except ReaderError as failure:
        raise ActionError(str(failure)) from None


async def _act_on_node(desktop: Desktop, given: Mapping[str, Any]) -> str:
    assert desktop.reader is not None
    node = desktop.nodes.get(str(given["node"]).strip("[]"))
    if node is None:
        raise ActionError(f"there is no node {given['node'][:40]!r} in the last desktop_tree")
    action = given.get("action") or "press"
    if action == "set_text" and given.get("text") is None:
        raise ActionError("set_text needs 'text'")
    if action == "click":
        await desktop.hands.click(_middle(desktop, node))
        return ""
    done = await desktop.reader.act(int(node["node"]), action, str(given.get("text") or ""))
    return "" if done else f"[the program did not {action} the element; click it instead]"


def _middle(desktop: Desktop, node: Mapping[str, Any]) -> tuple[int, int]:
    box, (width, height) = node.get("box") or [], desktop.scale.screen
    if len(box) != 4 or not all(isinstance(one, int) for one in box):
        raise ActionError("the program does not say where this element is")
    x, y = box[0] + box[2] // 2, box[1] + box[3] // 2
    if not (0 <= x < width and 0 <= y < height):
        raise ActionError(f"the element is outside the screen, at ({x}, {y})")
    return x, y


def _windows_text(desktop: Desktop, windows: list[dict[str, Any]]) -> str:
    lines = []
    for one in reversed(windows):
        x, y = desktop.scale.to_picture((one.get("x", 0), one.get("y", 0)))
        size = f"{one.get('width')}x{one.get('height')}"
        focused = ", focused" if one.get("focused") else ""
        lines.append(f"{one.get('title', '')!r} ({one.get('class', '')}), {size} at ({x}, {y}){focused}")
    return "\n".join(lines) or "no window is open"
