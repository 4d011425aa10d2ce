"""The accessibility tree (AT-SPI) of the programs on a screen, read over D-Bus."""

from __future__ import annotations

import re
import socket
import time
from typing import Any

from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection

ROOT = "/org/a11y/atspi/accessible/root"
ACCESSIBLE, COMPONENT, ACTION = "org.a11y.atspi.Accessible", "org.a11y.atspi.Component", "org.a11y.atspi.Action"
TEXT, EDITABLE, VALUE = "org.a11y.atspi.Text", "org.a11y.atspi.EditableText", "org.a11y.atspi.Value"
PROPERTIES = "org.freedesktop.DBus.Properties"
SHOWING, VISIBLE, MANAGES = 25, 30, 31
STATES = {1: "active", 4: "checked", 10: "expanded", 12: "focused", 16: "modal", 20: "pressed", 23: "selected"}
"""Numbers of the states that are told."""
PLAIN = {
    "panel", "filler", "unknown", "redundant object", "scroll pane", "viewport", "separator", "layered pane",
    "split pane", "",
}  # fmt: skip
"""Roles of nodes that are left out if they have no name; their children are told."""
AT_ONCE = 60
"""Number of nodes that are asked at once."""
CALL, LONGEST = 2.0, 200


class TreeError(Exception):
    """Error of the accessibility bus."""


def connect(path: Any) -> Any:
    """Return a connection to a bus. The bus takes the user from the socket, which the platform opened in the agent's
    box.
    """
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(10)
    line.connect(path)
    line.sendall(b"\0AUTH EXTERNAL\r\n")
    expect(line, b"DATA")
    line.sendall(b"DATA\r\n")
    expect(line, b"OK ")
    line.sendall(b"BEGIN\r\n")
    line.settimeout(None)
    bus = DBusConnection(line)
    bus.unique_name = bus.send_and_get_reply(message_bus.Hello(), timeout=10).body[0]
    return bus


def expect(line: Any, beginning: Any) -> None:
    said = b""
    while not said.endswith(b"\r\n"):
        piece = line.recv(1)
        said += piece
        if not piece or len(said) > 500:
            raise TreeError("the bus ended the connection")
    if not said.startswith(beginning):
        raise TreeError(f"the bus refused the connection: {said[:100]!r}")


class Tree:
    """A connection to the accessibility bus of a session."""

    def __init__(self, path: Any) -> None:
        session = connect(path)
        try:
            bus = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
            reply = session.send_and_get_reply(new_method_call(bus, "GetAddress"), timeout=10)
        finally:
            session.close()
        if reply.header.message_type is not MessageType.method_return:
            raise TreeError(f"there is no accessibility bus: {str(reply.body)[:200]}")
        self.address = str(reply.body[0])
        self.bus: Any = None
        self.nodes: dict[int, Any] = {}

    def serve(self, request: Any) -> Any:
        """Answer a request: `address`, `tree`, or an action on a node."""
        if request["op"] == "address":
            found = re.search(r"unix:path=([^,;]+)", self.address)
            return {"path": found[1] if found else ""}
        if self.bus is None:
            self.bus = connect(request["bus"])
        return self.read(request["nodes"], request["seconds"]) if request["op"] == "tree" else self.act(request)

    def ask(self, calls: Any, seconds: Any = CALL) -> Any:
        """Send all calls at once, and return the values of each answer, or None for a call that failed. A call is a
        node (bus name and path), an interface, a method, a signature and its values.
        """
        serials: dict[int, int] = {}
        answers: list[Any] = [None] * len(calls)
        for number, ((name, path), interface, method, signature, body) in enumerate(calls):
            address = DBusAddress(path, bus_name=name, interface=interface)
            serial = next(self.bus.outgoing_serial)
            serials[serial] = number
            self.bus.send(new_method_call(address, method, signature, body), serial=serial)
        end = time.monotonic() + seconds
        while serials and (left := end - time.monotonic()) > 0:
            try:
                message = self.bus.receive(timeout=left)
            except TimeoutError:
                break
            answered = serials.pop(message.header.fields.get(5, 0), -1)  # 5: the serial number that is answered
            if answered >= 0 and message.header.message_type is MessageType.method_return:
                answers[answered] = message.body
        return answers

    def read(self, most: Any, seconds: Any) -> Any:
        """Return the shown nodes, each before its children, within limits of number and time."""
        end, self.nodes = time.monotonic() + seconds, {}
        rows: dict[Any, Any] = {}
        below: dict[Any, Any] = {}
        root = ("org.a11y.atspi.Registry", ROOT)
        below[root] = self.children(self.ask([(root, ACCESSIBLE, "GetChildren", None, ())])[0])
        level, cut = list(below[root]), False
        while level and not cut:
            level = [one for one in dict.fromkeys(level) if one not in rows]
            cut = len(rows) + len(level) > 4 * most or time.monotonic() > end
            level = level[: max(0, 4 * most - len(rows))]
            following = []
            for start in range(0, len(level), AT_ONCE):
                for node, row, children in self.describe(level[start : start + AT_ONCE]):
                    rows[node], below[node] = row, children
                    following += children
                if time.monotonic() > end:
                    cut = True
                    break
            level = following
        return self.listing(root, rows, below, most, cut)

    def listing(self, root: Any, rows: Any, below: Any, most: Any, cut: Any) -> Any:
        out: list[dict[str, Any]] = []
        seen, stack = set(), [(one, 0) for one in reversed(below[root])]
        while stack and len(out) < most:
            node, depth = stack.pop()
            row = rows.get(node)
            if row is None or node in seen:
                continue
            seen.add(node)
            told = row["told"]
            if told:
                self.nodes[len(out) + 1] = node
                out.append({"node": len(out) + 1, "depth": depth, **{key: row[key] for key in row if key != "told"}})
            stack += [(one, depth + told) for one in reversed(below[node])]
        return {"nodes": out, "cut": cut or bool(stack)}

    @staticmethod
    def children(body: Any) -> Any:
        found = body[0] if body and isinstance(body[0], list) else []
        return [tuple(one) for one in found[:500] if isinstance(one, (tuple, list)) and len(one) == 2]

    def describe(self, level: Any) -> Any:
        """Return each node of a level that is shown, with its row and its children."""
        calls = []
        for node in level:
            calls += [
                (node, ACCESSIBLE, "GetRoleName", None, ()),
                (node, ACCESSIBLE, "GetState", None, ()),
                (node, PROPERTIES, "Get", "ss", (ACCESSIBLE, "Name")),
                (node, COMPONENT, "GetExtents", "u", (0,)),
                (node, TEXT, "GetText", "ii", (0, LONGEST)),
            ]
        answers = self.ask(calls)
        found = {}
        for number, node in enumerate(level):
            row = self.row(*answers[5 * number : 5 * number + 5])
            if row is not None:
                found[node] = row
        # A spreadsheet would list a million cells.
        open_nodes = [node for node, row in found.items() if not row.pop("manages")]
        children = self.ask([(node, ACCESSIBLE, "GetChildren", None, ()) for node in open_nodes])
        below = {node: self.children(body) for node, body in zip(open_nodes, children, strict=True)}
        return [(node, row, below.get(node, [])) for node, row in found.items()]

    @staticmethod
    def row(role: Any, state: Any, name: Any, box: Any, text: Any) -> Any:
        role = str(role[0])[:40] if role else ""
        bits = state[0] if state and isinstance(state[0], list) and len(state[0]) == 2 else [0, 0]
        flags = bits[0] | bits[1] << 32
        if role != "application" and not (flags >> SHOWING & 1 and flags >> VISIBLE & 1):
            return None
        named = name[0][1] if name and isinstance(name[0], tuple) and len(name[0]) == 2 else ""
        row = {"role": role, "name": str(named)[:LONGEST], "manages": bool(flags >> MANAGES & 1)}
        row["states"] = [word for bit, word in STATES.items() if flags >> bit & 1]
        if box and isinstance(box[0], (tuple, list)) and len(box[0]) == 4:
            row["box"] = [int(one) for one in box[0]]
        if text and str(text[0]) not in ("", row["name"]):
            row["text"] = str(text[0])[:LONGEST]
        row["told"] = bool(row["name"] or row.get("text")) or role not in PLAIN
        return row

    def act(self, request: Any) -> Any:
        node = self.nodes.get(request["node"])
        if node is None:
            raise TreeError("there is no such node; read the tree again")
        if request["op"] == "press":
            call: Any = (node, ACTION, "DoAction", "i", (0,))
        elif request["op"] == "focus":
            call = (node, COMPONENT, "GrabFocus", None, ())
        else:
            call = (node, EDITABLE, "SetTextContents", "s", (request["text"],))
        found = self.ask([call], 5.0)[0]
        return {"done": bool(found and found[0])}
