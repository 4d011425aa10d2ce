"""What went through a box's endpoints: a line per connection, kept where nothing in the box can reach it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from worksample.files.sink import Sink
from worksample.records import CaptureStatus, Entry, Manifest, SubmissionPart, canonical, now

NAME = "connections.jsonl"
MOST = 10_000
"""Connections that got through, of one box, that are kept line by line; of more only numbers and bytes by name."""
MOST_REFUSED = 1_000
"""The same of those that were refused or failed: they have a room of their own."""
MOST_NAMES = 10_000
"""Names, of either sort, that have a first line whatever came before, and sums of their own."""
OTHERS = "*"
"""Where sums stand of names that are too many to have their own."""


@dataclass(slots=True, eq=False)
class ConnectionRecord:
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

    @property
    def through(self) -> bool:
        """Whether anything was let through."""
        return not self.refused and bool(self.peer or (self.received and not self.failed))


class ConnectionLedger:
    """Every connection of one box. Those that were refused or failed take no room from those that got through."""

    def __init__(self, most: int = MOST, names: int = MOST_NAMES) -> None:
        self._open: dict[ConnectionRecord, None] = {}
        self._through, self._refused = _RetainedRecords(most, names), _RetainedRecords(min(most, MOST_REFUSED), names)

    @property
    def contacts(self) -> list[ConnectionRecord]:
        """Those that are kept line by line, in the order in which they began."""
        kept = (*self._through.kept, *self._refused.kept, *self._open)
        return sorted(kept, key=lambda contact: contact.at)

    def begin(self, endpoint: str, rule: str) -> ConnectionRecord:
        """A connection that begins now."""
        contact = ConnectionRecord(endpoint, rule)
        self._open[contact] = None
        return contact

    def over(self, contact: ConnectionRecord) -> None:
        """A connection has ended; of those that are too many only sums stay."""
        contact.end()
        if contact in self._open:
            del self._open[contact]
            (self._through if contact.through else self._refused).add(contact)

    def part(self, sink: Sink) -> SubmissionPart:
        """As a part of a submission: `connections.jsonl`, put into the sink."""
        data = b"".join(canonical(line) + b"\n" for line in self.plain())
        manifest = Manifest(entries=(Entry(path=NAME, size=len(data), blob=sink.put(data)),))
        digest = sink.put(canonical(manifest.plain()))
        return SubmissionPart(manifest=digest, status=CaptureStatus.COMPLETE, files=1, size=len(data))

    def plain(self) -> list[dict[str, Any]]:
        """A line per connection; for those that were too many to keep sums by name, and last the sums of all."""
        sums: dict[_Key, Counter[str]] = {}
        for room in (self._through, self._refused):
            for key, one in room.over.items():
                sums.setdefault(key, Counter()).update(one)
        lines = [contact.plain() for contact in self.contacts]
        if not sums:
            return lines
        if len(self._through.known | self._refused.known) > 1:
            lines += [{"more": {**_name_fields(key), **one}} for key, one in sums.items()]
        whole: Counter[str] = Counter()
        for one in sums.values():
            whole.update(one)
        return [*lines, {"more": dict(whole)}]


_Key = tuple[str, str]
"""An endpoint, and the name that a proxy was asked for."""


def _name_fields(key: _Key) -> dict[str, str]:
    endpoint, name = key
    return {"endpoint": endpoint, "name": name} if name else {"endpoint": endpoint}


class _RetainedRecords:
    """What is kept of one sort of connections."""

    def __init__(self, most: int, names: int) -> None:
        self.kept: list[ConnectionRecord] = []
        self.known: set[_Key] = set()
        self.over: dict[_Key, Counter[str]] = {}
        """Sums of those that were not kept."""
        self._left, self._names = most, names

    def add(self, contact: ConnectionRecord) -> None:
        """Keep it, or count it: each name has its first line, and all names share the room for more."""
        key = (contact.endpoint, contact.name)
        first = key not in self.known and len(self.known) < self._names
        if first:
            self.known.add(key)
        if first or self._left > 0:
            self._left -= 1
            self.kept.append(contact)
            return
        sums = self.over.setdefault(key if key in self.known else (contact.endpoint, OTHERS), Counter())
        more = {"connections": 1, "sent": contact.sent, "received": contact.received, "refused": bool(contact.refused)}
        sums.update({name: int(value) for name, value in more.items()})
