"""One place while somebody sits there: its box, its terminal, what is coming in, and what of it is kept."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from worksample.box import Box
from worksample.errors import SandboxError
from worksample.files import HashSink, scan
from worksample.records import AssignmentAct, EntryKind, Manifest
from worksample.results.assignments.assignment import Seat, commit, event_after
from worksample.sandboxes.capture.box_capture import USUAL, snapshot_output
from worksample.store import Store

from .task_box import WorkstationTask
from .terminal import Terminal
from .uploads import Uploads


@dataclass
class Workstation:
    """`heard`: when its browser was last heard of, by the monotonic clock. `busy`: one act at a time."""

    store: Store
    task: WorkstationTask
    box: Box
    person: str
    terminal: Terminal | None = None
    frozen: bool = False
    unkept: bool = False
    """Whether files were brought that no event has yet."""
    heard: float = field(default_factory=time.monotonic)
    uploads: Uploads = field(default_factory=Uploads)
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def note(self, seat: Seat, act: AssignmentAct, at: datetime, **rest: Any) -> Seat:
        """Write what happens, with what lies in the output by now and what the terminal showed since."""
        digest = rest.pop("output", None)
        if digest is None and not self.frozen:
            found = await snapshot_output(self.box, self.store.blobs, USUAL, time.monotonic() + USUAL.seconds)
            digest = found.manifest_digest
        log = self.terminal.log() if self.terminal else b""

        def write() -> Seat:
            kept = None if digest == seat.output else digest
            event = event_after(
                seat, self.person, act, at, output=kept, terminal=self.store.blobs.put(log) if log else None, **rest
            )
            return commit(self.store, event)

        seat = await asyncio.to_thread(write)
        self.unkept = self.unkept and digest is None
        return seat

    async def freeze(self) -> None:
        """Nothing goes on in the box while the time does not run."""
        if not self.frozen:
            await self.box.freeze()
            self.frozen = True

    async def thaw(self) -> None:
        """It goes on."""
        if self.frozen:
            await self.box.thaw()
            self.frozen = False

    async def shell(self) -> Terminal:
        """The terminal; a new one where it has ended."""
        if self.terminal is not None and self.terminal.ended:
            await self.terminal.close()
            self.terminal = None
        if self.terminal is None:
            self.terminal = await Terminal.open(self.box, self.box.config.output)
        return self.terminal

    async def files(self) -> Manifest:
        """What lies in the output now."""
        if self.frozen:
            found = await asyncio.to_thread(scan, self.box.output_path, HashSink())
        else:
            found = await snapshot_output(self.box, HashSink(), USUAL, time.monotonic() + USUAL.seconds)
        return found.manifest

    async def close(self) -> None:
        """End the box. What was noted is kept; nothing else is."""
        self.uploads.close()
        if self.terminal is not None:
            await self.terminal.close()
        with contextlib.suppress(SandboxError):
            await self.box.close()


def is_empty(manifest: Manifest) -> bool:
    """Whether nothing would be handed in."""
    return not any(entry.kind in (EntryKind.FILE, EntryKind.LINK) for entry in manifest.entries)
