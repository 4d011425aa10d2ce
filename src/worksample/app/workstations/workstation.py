"""A workstation while it is open: its box, terminal, uploads, and the recording of its output."""

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
from worksample.results.assignments.assignment import SlotAssignment, commit_event, event_after
from worksample.sandboxes.capture.box_capture import USUAL, snapshot_output
from worksample.store import Store

from .terminal import Terminal
from .uploads import Uploads
from .workstation_box import WorkstationTask


@dataclass
class Workstation:
    """`heard`: monotonic time of the last heartbeat. `busy`: lock that admits one action at a time."""

    store: Store
    task: WorkstationTask
    box: Box
    person: str
    terminal: Terminal | None = None
    frozen: bool = False
    unkept: bool = False
    """Whether files were uploaded since the last event."""
    heard: float = field(default_factory=time.monotonic)
    uploads: Uploads = field(default_factory=Uploads)
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def note(self, assignment: SlotAssignment, act: AssignmentAct, at: datetime, **rest: Any) -> SlotAssignment:
        """Record an event with the current output and the terminal's output since the last event."""
        digest = rest.pop("output", None)
        if digest is None and not self.frozen:
            found = await snapshot_output(self.box, self.store.blobs, USUAL, time.monotonic() + USUAL.seconds)
            digest = found.manifest_digest
        log = self.terminal.log() if self.terminal else b""

        def write() -> SlotAssignment:
            kept = None if digest == assignment.output else digest
            event = event_after(
                assignment,
                self.person,
                act,
                at,
                output=kept,
                terminal=self.store.blobs.put(log) if log else None,
                **rest,
            )
            return commit_event(self.store, event)

        assignment = await asyncio.to_thread(write)
        self.unkept = self.unkept and digest is None
        return assignment

    async def freeze(self) -> None:
        """Freeze the box's processes while the timer does not run."""
        if not self.frozen:
            await self.box.freeze()
            self.frozen = True

    async def thaw(self) -> None:
        """Resume the box's processes."""
        if self.frozen:
            await self.box.thaw()
            self.frozen = False

    async def shell(self) -> Terminal:
        """Return the terminal; start a new one if it has ended."""
        if self.terminal is not None and self.terminal.ended:
            await self.terminal.close()
            self.terminal = None
        if self.terminal is None:
            self.terminal = await Terminal.open(self.box, self.box.config.output)
        return self.terminal

    async def files(self) -> Manifest:
        """List the current output."""
        if self.frozen:
            found = await asyncio.to_thread(scan, self.box.output_path, HashSink())
        else:
            found = await snapshot_output(self.box, HashSink(), USUAL, time.monotonic() + USUAL.seconds)
        return found.manifest

    async def close(self) -> None:
        """Close the box. Only recorded output survives."""
        self.uploads.close()
        if self.terminal is not None:
            await self.terminal.close()
        with contextlib.suppress(SandboxError):
            await self.box.close()


def is_empty(manifest: Manifest) -> bool:
    """Tell whether a manifest holds nothing to hand in."""
    return not any(entry.kind in (EntryKind.FILE, EntryKind.LINK) for entry in manifest.entries)
