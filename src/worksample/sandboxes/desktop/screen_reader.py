"""Windows and accessibility tree of a screen, as a program in the window manager's box reads them.

The program's answers come from a box in which hostile bytes are parsed, so they are read by a parser with limits, and
only known fields are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.box import Box, Connection, Mount, Process
from worksample.errors import ForeignInputError, SandboxError
from worksample.files.untrusted import parse_json

from .display_config import BUS, DISPLAY

LIBRARY, OWN = "/opt/worksample/desktop/python", "/opt/worksample/desktop/reader"
SESSION_SOCKET, TREE_SOCKET = "/task/scratch/session", "/task/scratch/tree"
LONGEST_LINE = 4 << 20
MOST_NODES, MOST_SECONDS, ANSWER = 300, 5.0, 30.0
"""Maximum nodes of a tree, maximum seconds of reading one, and maximum seconds of any answer."""
MOST_RELAYS = 8
_WINDOW = {"id": int, "title": str, "class": str, "focused": bool, "x": int, "y": int, "width": int, "height": int,
           "pid": int}  # fmt: skip
_NODE = {"node": int, "depth": int, "role": str, "name": str, "text": str, "states": list, "box": list}


class ReaderError(Exception):
    """Error of reading windows or nodes. Its text is shown to the agent."""


def reader_mounts() -> tuple[Mount, ...]:
    """Return the mounts of the window manager's box that the reader needs. May block."""
    from worksample.sandboxes.python_toolbox import library_folder

    library = library_folder(("python-xlib", "jeepney"), LIBRARY)
    return Mount(str(library), LIBRARY), Mount(str(Path(__file__).parent / "in_box"), f"{OWN}/in_box")


@dataclass
class ScreenReader:
    """A connection to the reader. `on_windows` is called with the windows whenever they change."""

    manager: Box
    agent: Box
    on_windows: Callable[[Sequence[Mapping[str, Any]]], None] = lambda windows: None
    _process: Process | None = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _count: int = 0
    _answers: dict[int, asyncio.Future[Mapping[str, Any]]] = field(default_factory=dict)
    _bus: str = ""
    """Path of the accessibility bus in the agent's box; "" until it is known."""
    _relays: int = 0

    async def open(self) -> None:
        """Start the reader. Raises SandboxError."""
        env = {"PYTHONPATH": f"{OWN}:{LIBRARY}", "DISPLAY": DISPLAY}
        for socket, path in ((SESSION_SOCKET, lambda: BUS), (TREE_SOCKET, lambda: self._bus)):
            self._tasks.append(asyncio.create_task(self._accept(await self.manager.listen(socket), path)))
        self._process = await self.manager.start(["python3", "-m", "in_box.screen_reader"], env=env)
        self._tasks.append(asyncio.create_task(self._read(self._process)))

    async def close(self) -> None:
        """Stop reading. Idempotent."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def windows(self) -> list[dict[str, Any]]:
        """Return the windows, the topmost last. Raises ReaderError."""
        return [_known_fields(one, _WINDOW) for one in _rows(await self._ask("windows"), "windows")]

    async def tree(self, nodes: int = MOST_NODES) -> tuple[list[dict[str, Any]], bool]:
        """Return the shown nodes of the accessibility tree, each before its children, and whether more were left out.
        Raises ReaderError.
        """
        await self._find_bus()
        limits = {"nodes": min(nodes, MOST_NODES), "seconds": MOST_SECONDS}
        answer = await self._ask("tree", bus=TREE_SOCKET, socket=SESSION_SOCKET, **limits)
        return [_known_fields(one, _NODE) for one in _rows(answer, "nodes")], bool(answer.get("cut"))

    async def act(self, node: int, action: str, text: str = "") -> bool:
        """Press, focus, or set the text of a node of the last tree. Return whether its program did so. Raises
        ReaderError.
        """
        answer = await self._ask(action, bus=TREE_SOCKET, socket=SESSION_SOCKET, node=node, text=text)
        return bool(answer.get("done"))

    async def _find_bus(self) -> None:
        if not self._bus:
            path = (await self._ask("address", socket=SESSION_SOCKET)).get("path")
            if not isinstance(path, str) or not path.startswith("/"):
                raise ReaderError("the programs on this screen have no accessibility bus")
            self._bus = path

    async def _ask(self, op: str, **given: Any) -> Mapping[str, Any]:
        async with self._turn:
            if self._process is None:
                raise ReaderError("the reader of the screen has ended")
            self._count += 1
            number, answer = self._count, asyncio.get_running_loop().create_future()
            self._answers[number] = answer
            try:
                await self._process.stdin.write(json.dumps({"id": number, "op": op, **given}).encode() + b"\n")
                async with asyncio.timeout(ANSWER):
                    found: Mapping[str, Any] = await answer
            except (TimeoutError, BrokenPipeError):
                raise ReaderError("the screen could not be read in time") from None
            finally:
                self._answers.pop(number, None)
            if error := found.get("error"):
                raise ReaderError(str(error)[:500])
            return found

    async def _read(self, process: Process) -> None:
        """Read the reader's lines until it ends or sends something that is no answer."""
        held = bytearray()
        with contextlib.suppress(SandboxError, ForeignInputError):
            while piece := await process.stdout.read():
                held += piece
                while (end := held.find(b"\n")) >= 0:
                    line = bytes(held[:end])
                    del held[: end + 1]
                    self._take(await parse_json(line, what="its answer"))
                if len(held) > LONGEST_LINE:
                    break
        self._process = None
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result({"error": "the reader of the screen has ended"})

    def _take(self, answer: Any) -> None:
        if not isinstance(answer, dict):
            return
        waiting = self._answers.get(answer["id"]) if isinstance(answer.get("id"), int) else None
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)
        elif isinstance(answer.get("changed"), list):
            self.on_windows([_known_fields(one, _WINDOW) for one in answer["changed"][:200] if isinstance(one, dict)])

    # relays between the reader and the buses in the agent's box

    async def _accept(self, listener: Any, path: Callable[[], str]) -> None:
        with contextlib.suppress(SandboxError):
            while True:
                near = await listener.accept()
                self._tasks = [one for one in self._tasks if not one.done()]
                self._tasks.append(asyncio.create_task(self._relay(near, path())))

    async def _relay(self, near: Connection, path: str) -> None:
        try:
            if self._relays >= MOST_RELAYS or not path:
                return
            self._relays += 1
            try:
                far = await self.agent.connect(path)
            except OSError:
                return
            finally:
                self._relays -= 1
            ways = [asyncio.create_task(_copy(near, far)), asyncio.create_task(_copy(far, near))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
                await far.close()
        finally:
            with contextlib.suppress(SandboxError):
                await near.close()


async def _copy(source: Connection, target: Connection) -> None:
    with contextlib.suppress(BrokenPipeError, SandboxError):
        while data := await source.reader.read():
            await target.writer.write(data)


def _rows(answer: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = answer.get(key)
    return [one for one in found[:MOST_NODES] if isinstance(one, dict)] if isinstance(found, list) else []


def _known_fields(row: Mapping[str, Any], fields: Mapping[str, type]) -> dict[str, Any]:
    """Return the known fields of a row that have their type. Texts and numbers are cut."""
    out: dict[str, Any] = {}
    for key, kind in fields.items():
        value = row.get(key)
        if kind is int and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53:
            out[key] = value
        elif kind is str and isinstance(value, str):
            out[key] = value[:300]
        elif kind is bool and isinstance(value, bool):
            out[key] = value
        elif kind is list and isinstance(value, list):
            out[key] = [one for one in value[:20] if isinstance(one, (int, str)) and len(str(one)) < 40]
    return out


def tree_text(
    nodes: Sequence[Mapping[str, Any]], cut: bool, to_picture: Callable[[tuple[int, int]], tuple[int, int]]
) -> str:
    """Return a tree as text for an agent, a line for each node, such as `[12] push button 'OK', focused (310, 200)`."""
    lines = []
    for one in nodes:
        box = one.get("box") or []
        at = ""
        if len(box) == 4 and all(isinstance(part, int) for part in box) and box[2] > 0 and box[3] > 0:
            at = " ({}, {})".format(*to_picture((box[0] + box[2] // 2, box[1] + box[3] // 2)))
        text = f" = {one['text']!r}" if one.get("text") else ""
        states = "".join(f", {state}" for state in one.get("states", ()))
        indent = "  " * min(one.get("depth", 0), 20)
        lines.append(f"{indent}[{one.get('node')}] {one.get('role', '')} {one.get('name', '')!r}{text}{states}{at}")
    return "\n".join([*lines, *(["[... more nodes are left out]"] if cut else [])]) or "no program shows its elements"
