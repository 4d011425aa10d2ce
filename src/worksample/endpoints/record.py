"""What went through a box's endpoints: a line per connection, kept where nothing in the box can reach it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from worksample.files.sink import Sink
from worksample.records import CaptureStatus, Entry, Manifest, Part, canonical, now

NAME = "connections.jsonl"
MOST = 10_000
"""Connections of one box that are kept line by line; of more only their number and bytes."""


@dataclass(slots=True, eq=False)
class Contact:
    """One connection. Bytes and seconds grow while it lasts."""

    endpoint: str
    rule: str
    at: datetime = field(default_factory=now)
    name: str = ""
    """The host that a proxy was asked for."""
    peer: str = ""
    """The address that was dialled."""
    sent: int = 0
    """Bytes that came out of the box."""
    received: int = 0
    """Bytes that went into it."""
    seconds: float | None = None
    """None while it lasts."""
    refused: str = ""
    """Why nothing was let through."""
    failed: str = ""
    """What broke it."""
    _began: float = field(default_factory=time.monotonic)

    def end(self) -> None:
        """It is over."""
        self.seconds = round(time.monotonic() - self._began, 6)

    def plain(self) -> dict[str, Any]:
        """As it is kept."""
        out: dict[str, Any] = {"at": self.at.isoformat(), "endpoint": self.endpoint, "rule": self.rule}
        out |= {"sent": self.sent, "received": self.received, "seconds": self.seconds}
        for name in ("name", "peer", "refused", "failed"):
            if getattr(self, name):
                out[name] = getattr(self, name)
        return out


class Ledger:
    """Every connection of one box."""

    def __init__(self, most: int = MOST) -> None:
        self.contacts: list[Contact] = []
        self._most = most
        self._over: Counter[str] = Counter()
        self._spilled: list[Contact] = []

    def begin(self, endpoint: str, rule: str) -> Contact:
        """A connection that begins now."""
        contact = Contact(endpoint, rule)
        (self.contacts if len(self.contacts) < self._most else self._spilled).append(contact)
        return contact

    def over(self, contact: Contact) -> None:
        """A connection has ended; of those that are too many only sums stay."""
        contact.end()
        if contact in self._spilled:
            self._spilled.remove(contact)
            self._count(contact)

    def _count(self, contact: Contact) -> None:
        more = {"connections": 1, "sent": contact.sent, "received": contact.received, "refused": bool(contact.refused)}
        self._over.update({name: int(value) for name, value in more.items()})

    def part(self, sink: Sink) -> Part:
        """As a part of a submission: `connections.jsonl`, put into the sink."""
        data = b"".join(canonical(line) + b"\n" for line in self.plain())
        manifest = Manifest(entries=(Entry(path=NAME, size=len(data), blob=sink.put(data)),))
        digest = sink.put(canonical(manifest.plain()))
        return Part(manifest=digest, status=CaptureStatus.COMPLETE, files=1, size=len(data))

    def plain(self) -> list[dict[str, Any]]:
        """A line per connection, and one with the sums of those that were too many to keep."""
        lines = [contact.plain() for contact in self.contacts]
        sums = Counter(self._over)
        for contact in self._spilled:
            sums.update(connections=1, sent=contact.sent, received=contact.received)
        return [*lines, {"more": dict(sums)}] if sums else lines
