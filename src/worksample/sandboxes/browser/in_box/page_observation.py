"""Observations of a page for an agent: marked elements, accessibility tree, document text, screenshots."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MARK = (Path(__file__).parent / "mark.js").read_text(encoding="utf-8")
MOST_ELEMENTS = 20_000
"""Maximum elements of a document for which an accessibility tree is shown. For a larger document, the interactable
elements are listed instead.
"""
MOST_FRAMES = 50
MOST_LISTED = 500
MOST_NODES = 60_000
LONGEST = 200_000
"""Maximum characters of the text or tree of a document. The platform later shortens the text further."""
NAME = 300
DEEPEST = 150
"""Maximum depth of nested lines in the text of an accessibility tree."""
DEEPEST_NODE = 600
"""Maximum depth of nested nodes in an accessibility tree, including the nodes that are not shown."""
LARGEST_SIDE = 4096
SECONDS = 10.0
_SILENT = {"none", "generic", "InlineTextBox", "LineBreak", "LayoutTable", "LayoutTableRow", "LayoutTableCell"}
_PROPERTIES = ("focused", "checked", "expanded", "selected", "disabled", "required", "pressed", "invalid", "level")


@dataclass
class MarkedPage:
    """A page whose elements have been marked with bids, with its frames: each element's bid -> the report of `mark.js`
    about the element.
    """

    rows: dict[str, list[Any]] = field(default_factory=dict)
    frames: dict[str, str] = field(default_factory=dict)
    """Bid of a frame's element -> id of the frame. The bid "" stands for the main frame."""
    documents: dict[str, str] = field(default_factory=dict)
    page: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    cut: bool = False


async def mark_page(session: Any, *, characters: int, visible: bool) -> MarkedPage:
    """Mark the elements of a page with bids, frame by frame."""
    tree = await session.send("Page.getFrameTree")
    marked = MarkedPage(frames={"": tree["frameTree"]["frame"]["id"]})
    waiting: list[tuple[str, float, float]] = [("", 0.0, 0.0)]
    while waiting and len(marked.documents) < MOST_FRAMES:
        prefix, left, top = waiting.pop(0)
        given = {"frameId": marked.frames[prefix], "worldName": "worksample"}
        try:
            world = (await session.send("Page.createIsolatedWorld", given))["executionContextId"]
            words = json.dumps([prefix, left, top, MOST_ELEMENTS - marked.count, characters, visible])
            done = await evaluate(session, f"({MARK})(...{words})", world)
        except Exception:
            if not prefix:
                raise
            continue  # the frame is gone, or belongs to another process
        marked.documents[prefix] = done["dom"]
        marked.count += done["count"]
        marked.cut = marked.cut or done["cut"]
        marked.page = marked.page or done["page"]
        marked.rows |= {row[0]: row[1:] for row in done["rows"]}
        for bid, x, y in done["frames"]:
            if frame := await _frame_id(session, bid, world):
                marked.frames[bid] = frame
                waiting.append((bid, x, y))
    return marked


async def evaluate(session: Any, expression: str, world: int) -> Any:
    """Return the value of a JavaScript expression in the isolated world `world`. Raises RuntimeError if the expression
    throws.
    """
    given = {"expression": expression, "contextId": world, "returnByValue": True, "timeout": SECONDS * 1000}
    done = await session.send("Runtime.evaluate", given)
    if "exceptionDetails" in done:
        raise RuntimeError(str(done["exceptionDetails"].get("text"))[:300])
    return done["result"].get("value")


async def _frame_id(session: Any, bid: str, world: int) -> str:
    look = (
        "((b) => { const roots = [document]; while (roots.length) { const r = roots.shift();"
        " for (const e of r.querySelectorAll('*')) { if (e.getAttribute('bid') === b) return e;"
        f" if (e.shadowRoot) roots.push(e.shadowRoot); }} }} }})({json.dumps(bid)})"
    )
    done = await session.send("Runtime.evaluate", {"expression": look, "contextId": world})
    if "objectId" not in done["result"]:
        return ""
    node = await session.send("DOM.describeNode", {"objectId": done["result"]["objectId"]})
    return str(node["node"].get("frameId", ""))


def document_text(marked: MarkedPage, prefix: str = "") -> str:
    """Return the text of the document. The text of each frame stands at the position of the frame."""
    parts = marked.documents.get(prefix, "").split("\0")
    for at in range(1, len(parts), 2):
        bid = parts[at]
        parts[at] = document_text(marked, bid) if bid.startswith(prefix) and len(bid) > len(prefix) else ""
    return "".join(parts)[:LONGEST]


async def accessibility_tree(session: Any, marked: MarkedPage, *, visible: bool) -> str:
    """Return the accessibility tree, one line per node, with element ids."""
    bids = await _bids_by_node(session)
    roots: dict[str, dict[str, Any]] = {}
    for prefix, frame in marked.frames.items():
        try:
            nodes = (await session.send("Accessibility.getFullAXTree", {"frameId": frame}))["nodes"][:MOST_NODES]
        except Exception:
            if not prefix:
                raise
            continue
        roots[prefix] = (
            {"nodes": {node["nodeId"]: node for node in nodes}, "first": nodes[0]["nodeId"]} if nodes else {}
        )
    lines: list[str] = []
    if roots.get(""):
        _TreeWriter(roots, bids, marked, visible).write("", roots[""]["first"], 0, lines, "")
    return "\n".join(lines)[:LONGEST]


async def _bids_by_node(session: Any) -> dict[int, str]:
    """Map the browser's node numbers to bids. The flat form of the browser's snapshot is used, because JSON readers
    cannot parse the nested form for a page with thousands of nested elements.
    """
    taken = await session.send("DOMSnapshot.captureSnapshot", {"computedStyles": []})
    words, found = taken["strings"], {}
    for one in taken["documents"]:
        nodes = one["nodes"]
        for number, given in zip(nodes["backendNodeId"], nodes["attributes"], strict=True):
            for at in range(0, len(given), 2):
                if words[given[at]] == "bid":
                    found[number] = words[given[at + 1]]
    return found


@dataclass
class _TreeWriter:
    roots: Mapping[str, dict[str, Any]]
    bids: Mapping[int, str]
    marked: MarkedPage
    visible: bool

    def write(
        self, prefix: str, number: str, depth: int, lines: list[str], above: str, seen: bool = True, level: int = 0
    ) -> bool:
        """Append lines for a node and its descendants to `lines`. Return whether any line was appended. `seen`: whether
        the container of the node is visible.
        """
        node = self.roots[prefix]["nodes"].get(number)
        if node is None or depth > DEEPEST or level > DEEPEST_NODE or len(lines) > MOST_NODES:
            return False
        bid = self.bids.get(node.get("backendDOMNodeId", -1), "")
        seen = bid in self.marked.rows if bid else seen
        role, name = str(_value(node.get("role"))), str(_value(node.get("name")))[:NAME]
        line, at = self._line(node, bid, role, name, above), len(lines)
        if line:
            lines.append("\t" * depth + line)
        below = [(prefix, child) for child in node.get("childIds", ())]
        if bid and self.roots.get(bid):
            below.append((bid, self.roots[bid]["first"]))
        inner = [
            self.write(where, child, depth + bool(line), lines, name or above, seen, level + 1)
            for where, child in below
        ]
        kept = bool(line) and (not self.visible or seen or any(inner))
        if line and not kept:
            del lines[at]
        return kept or any(inner)

    def _line(self, node: Mapping[str, Any], bid: str, role: str, name: str, above: str) -> str:
        if node.get("ignored") or (role in _SILENT and not name) or role == "InlineTextBox":
            return ""
        if role == "StaticText":
            return f"StaticText {name!r}" if name.strip() and name != above else ""
        row = self.marked.rows.get(bid)
        if role in ("generic", "none") and not (row and row[0]):
            return ""
        parts = [f"[{bid}] {role} {name!r}" if bid else f"{role} {name!r}"]
        if (value := _value(node.get("value"))) not in ("", None):
            parts.append(f"value={str(value)[:NAME]!r}")
        for one in node.get("properties", ()):
            said = _value(one.get("value"))
            if one["name"] in _PROPERTIES and said not in (False, "false", "", None):
                parts.append(one["name"] if said is True or said == "true" else f"{one['name']}={said}")
        return ", ".join(parts)


def _value(given: Mapping[str, Any] | None) -> Any:
    return "" if given is None else given.get("value", "")


def list_interactable(marked: MarkedPage) -> str:
    """Return the interactable elements of the viewport, one line each."""
    usable = [(bid, row) for bid, row in marked.rows.items() if row[0]]
    lines = [f"[{bid}] {row[5]} {row[6]!r} at {row[1]},{row[2]} {row[3]}x{row[4]}" for bid, row in usable[:MOST_LISTED]]
    if len(usable) > MOST_LISTED:
        lines.append(f"[{len(usable) - MOST_LISTED} more]")
    return "\n".join(lines)


async def take_screenshot(session: Any) -> Any:
    """Return a screenshot of the viewport as a Pillow image. Because the browser is untrusted, its image data is
    decoded in this box and later encoded anew.
    """
    from PIL import Image

    given = {"format": "jpeg", "quality": 85, "optimizeForSpeed": True}
    async with asyncio.timeout(SECONDS):
        data = (await session.send("Page.captureScreenshot", given))["data"]
    Image.MAX_IMAGE_PIXELS = 40_000_000
    with Image.open(io.BytesIO(base64.b64decode(data)), formats=("JPEG",)) as found:
        image = found.convert("RGB")
    if max(image.size) > LARGEST_SIDE:
        image.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    return image


def jpeg_base64(image: Any) -> str:
    """Return an image as a JPEG in Base64."""
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return base64.b64encode(out.getvalue()).decode()


def draw_marks(image: Any, marked: MarkedPage) -> Any:
    """Draw frames and ids around the interactable elements of a screenshot. Return the changed screenshot."""
    from PIL import ImageDraw

    _draw_boxes(ImageDraw.Draw(image), marked.rows)
    return image


COLOURS = ("#c00000", "#0050c0", "#007a30", "#9a5b00", "#7a00a0", "#00707a")


def _draw_boxes(draw: Any, rows: Mapping[str, Sequence[Any]]) -> None:
    usable = [(bid, row) for bid, row in rows.items() if row[0]]
    for number, (bid, row) in enumerate(usable[:MOST_LISTED]):
        left, top, width, height = row[1:5]
        colour = COLOURS[number % len(COLOURS)]
        draw.rectangle((left, top, left + width, top + height), outline=colour, width=2)
        wide = draw.textlength(bid) + 4
        draw.rectangle((left, max(0, top - 12), left + wide, max(0, top - 12) + 12), fill=colour)
        draw.text((left + 2, max(0, top - 12)), bid, fill="white")
