"""A program in the window manager's box. It lists the windows on the screen, and reads the accessibility tree of the
programs in the agent's box over a connection that the platform relays.

Requests and answers are lines of JSON on standard input and output. The windows are also told without a request, when
they change. Whatever programs draw and say is hostile, so the platform runs this program in a box and limits its
answers.
"""

from __future__ import annotations

import json
import os
import queue
import select
import sys
import threading
import time
from typing import Any

from Xlib import X, display, error
from Xlib.protocol import event as xevent

from .accessibility import Tree

MOST_WINDOWS, LONGEST_TITLE, LEAST_PAUSE = 200, 300, 0.2


class Windows:
    """The windows that the window manager manages."""

    def __init__(self) -> None:
        self.display = display.Display()
        self.root = self.display.screen().root
        self.root.change_attributes(event_mask=X.PropertyChangeMask)
        names = ("_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW", "_NET_WM_NAME", "UTF8_STRING", "_NET_WM_PID")
        self.atoms = {name: self.display.intern_atom(name) for name in names}
        self.followed: set[int] = set()

    def list(self) -> Any:
        """Return the windows, the topmost last, each with title, class, claimed process number and position."""
        found = self.root.get_full_property(self.atoms["_NET_CLIENT_LIST_STACKING"], X.AnyPropertyType)
        active = self.root.get_full_property(self.atoms["_NET_ACTIVE_WINDOW"], X.AnyPropertyType)
        focused = active.value[0] if active is not None and len(active.value) else 0
        out = []
        for number in list(found.value if found is not None else ())[-MOST_WINDOWS:]:
            window = self.display.create_resource_object("window", int(number))
            try:
                out.append(self.describe(window, int(number) == focused))
            except (error.BadWindow, error.BadDrawable, error.BadMatch):
                continue
        return out

    def describe(self, window: Any, is_focused: Any) -> Any:
        if window.id not in self.followed:
            self.followed.add(window.id)
            window.change_attributes(event_mask=X.PropertyChangeMask)
        place, size = window.translate_coords(self.root, 0, 0), window.get_geometry()
        hints = window.get_wm_class() or ("", "")
        return {
            "id": window.id,
            "title": self.title(window),
            "class": str(hints[-1])[:LONGEST_TITLE],
            "focused": is_focused,
            "x": -place.x,
            "y": -place.y,
            "width": size.width,
            "height": size.height,
            "pid": self.number(window),
        }

    def title(self, window: Any) -> Any:
        found = window.get_property(self.atoms["_NET_WM_NAME"], self.atoms["UTF8_STRING"], 0, LONGEST_TITLE)
        if found is not None and isinstance(found.value, bytes):
            return found.value.decode("utf-8", "replace")[:LONGEST_TITLE]
        plain = window.get_property(
            X.XA_WM_NAME if hasattr(X, "XA_WM_NAME") else 39, X.AnyPropertyType, 0, LONGEST_TITLE
        )
        value = plain.value if plain is not None else b""
        return value.decode("latin-1")[:LONGEST_TITLE] if isinstance(value, bytes) else ""

    def number(self, window: Any) -> Any:
        found = window.get_property(self.atoms["_NET_WM_PID"], X.AnyPropertyType, 0, 1)
        return int(found.value[0]) if found is not None and len(found.value) else 0


def answer(what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def read_requests(asked: Any, wake: Any) -> None:
    for line in sys.stdin:
        asked.put(json.loads(line))
        wake()
    asked.put(None)
    wake()


def main() -> None:
    windows = Windows()
    asked: queue.Queue[Any] = queue.Queue()
    near, far = os.pipe()
    threading.Thread(target=read_requests, args=(asked, lambda: os.write(far, b".")), daemon=True).start()
    tree = None
    shown, last, due = None, 0.0, True
    while True:
        wait = 0.0 if windows.display.pending_events() else None
        if due and wait is None:
            wait = max(0.0, last + LEAST_PAUSE - time.monotonic())
        ready, _, _ = select.select([near, windows.display.fileno()], [], [], wait)
        while windows.display.pending_events():
            happened = windows.display.next_event()
            due = due or isinstance(happened, (xevent.PropertyNotify, xevent.DestroyNotify))
        if near in ready:
            os.read(near, 100)
        while not asked.empty():
            request = asked.get()
            if request is None:
                return
            if request["op"] == "windows":
                answer({"id": request["id"], "windows": windows.list()})
                continue
            for again in (True, False):
                try:
                    tree = tree or Tree(request["socket"])
                    answer({"id": request["id"], **tree.serve(request)})
                    break
                except OSError as failure:
                    tree = None  # the bus was started anew since the last request
                    if not again:
                        answer({"id": request["id"], "error": f"{type(failure).__name__}: {failure}"[:500]})
                except Exception as failure:  # noqa: BLE001 - whatever hostile programs make of the protocol
                    tree = None
                    answer({"id": request["id"], "error": f"{type(failure).__name__}: {failure}"[:500]})
                    break
        if due and time.monotonic() >= last + LEAST_PAUSE:
            due, last = False, time.monotonic()
            now = windows.list()
            if now != shown:
                shown = now
                answer({"changed": now})


if __name__ == "__main__":
    main()
